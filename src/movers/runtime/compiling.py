"""Kernels: plain functions of arrays, found as machine code when Python first calls them.

A decorator only declares one. The code comes with the package, which was built with it. Where it
does not, for another processor or other sources, it is found in the user's cache, where an earlier
process has left it, or is compiled, which takes numba.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable
from typing import Any, TypeVar, cast

from movers.runtime import kernel_cache
from movers.runtime.kernel import Kernel
from movers.runtime.native import Call, Kinds, find_shipped, flatten, load, no_compiler, symbol

logger = logging.getLogger("movers")

Function = TypeVar("Function", bound=Callable[..., Any])

PATIENCE = 1.0
MESSAGE = (
    "compiling kernels, up to half a minute: once for this version of movers "
    "(`movers warm-up` does it ahead)"
)


class Entry(Kernel):
    """A kernel that Python calls, compiled once for every combination of types."""

    def __init__(self, function: Callable[..., Any], **options: Any) -> None:
        super().__init__(function, **options)
        self.calls: dict[Kinds, Call] = {}
        self.compiled = 0

    def __call__(self, *arguments: Any) -> None:
        """Run it, without the interpreter lock."""
        kinds, words = flatten(arguments)
        call = self.calls.get(kinds)
        if call is None:
            call = self._prepare(kinds, arguments)
        call(words)

    def _prepare(self, kinds: Kinds, arguments: tuple[Any, ...]) -> Call:
        with _preparing:
            if kinds not in self.calls:
                self.calls[kinds] = self.find(kinds, arguments)
        return self.calls[kinds]

    def find(self, kinds: Kinds, arguments: tuple[Any, ...]) -> Call:
        """The machine code for such arguments: built with the package, kept, or made and kept."""
        built = find_shipped(self.name, kinds)
        if built is not None:
            return built
        code, function = kernel_cache.find(self.name, kinds), symbol(self.name, kinds)
        if code is None:
            code = self._compile(arguments, function)
            kernel_cache.keep(self.name, kinds, code)
        return load(code, function, self.name)

    def _compile(self, arguments: tuple[Any, ...], function: str) -> bytes:
        """Make machine code; tell the user, once, if that takes longer than a moment."""
        timer = threading.Timer(PATIENCE, _tell)
        timer.daemon = True
        timer.start()
        try:
            try:
                from movers.runtime.machine_code import compile_kernel  # loads numba
            except ImportError as error:
                raise no_compiler() from error

            self.compiled += 1
            code: bytes = compile_kernel(self, arguments, function)
        finally:
            timer.cancel()
        return code


entries: list[Entry] = []
"""Every kernel that Python calls, of the modules imported so far."""
_preparing = threading.RLock()
if hasattr(os, "register_at_fork"):
    # A child has none of the threads that may hold this lock, or others of the compiler and of
    # imports within it: a fork waits until the code under way is ready.
    os.register_at_fork(
        before=_preparing.acquire,
        after_in_parent=_preparing.release,
        after_in_child=_preparing.release,
    )


def entry(function: Function) -> Function:
    """Compile `function` on its first call from Python, and keep it for other processes."""
    return _entry(function)


def summing(function: Function) -> Function:
    """Like `entry`, and sums may be taken in another order: for long dot products."""
    return _entry(function, fastmath={"contract", "reassoc"})


def exact(function: Function) -> Function:
    """Like `entry`, and every operation is rounded by itself: the same bits on any processor."""
    return _entry(function, fastmath=False)


def kernel(function: Function) -> Function:
    """Compile `function` for use by other kernels."""
    return cast(Function, Kernel(function))


def inlined(function: Function) -> Function:
    """Like `kernel`, and always merged into its caller: for steps shorter than a call."""
    return cast(Function, Kernel(function, forceinline=True))


def _entry(function: Function, **options: Any) -> Function:
    entries.append(Entry(function, **options))
    return cast(Function, entries[-1])


_told = threading.Event()


def _tell() -> None:
    if not _told.is_set():
        _told.set()
        logger.warning(MESSAGE)
