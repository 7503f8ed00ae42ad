"""Kernels: plain functions of arrays that run as machine code when Python calls them.

A decorator only declares one. Its first call finds the code in the library of all kernels
(`movers.runtime.kernel_library`). What is not there, as for arguments of other types, numba
compiles in this process. Arguments become machine words: a number is one; an array is that of its
data, and those of its shape and strides.
"""

from __future__ import annotations

import ctypes
import hashlib
import logging
import os
import struct
import threading
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numpy as np
from numpy import ndarray

from movers.errors import DependencyError
from movers.runtime import kernel_library
from movers.runtime.kernel import Kernel

logger = logging.getLogger("movers")

Function = TypeVar("Function", bound=Callable[..., Any])
Kinds = tuple[Any, ...]
"""What the code depends on: the type of every argument, with arrays' dimensions and layout."""
Code = Callable[[bytes], int]
"""Takes words, and returns 0 if all went well."""

# Flags of an array that code depends on: contiguous by rows, else by columns; aligned, writeable.
_BY_ROWS, _BY_COLUMNS = 0x1 | 0x100 | 0x400, 0x2 | 0x100 | 0x400
_FUNCTION = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_char_p)  # lets go of the interpreter lock


def _bits(real: str, whole: str) -> Callable[[Any], int]:
    """Return what reads the bits of a number as an integer, by their formats."""
    return lambda number: struct.unpack(whole, struct.pack(real, number))[0]


_NUMBERS: dict[type, tuple[str, Callable[[Any], int]]] = {
    **dict.fromkeys((int, np.int64), ("int", int)),
    **dict.fromkeys((float, np.float64), ("double", _bits("d", "q"))),
    **dict.fromkeys((bool, np.bool_), ("bool", int)),
    np.float32: ("single", _bits("f", "i")),
}


def flatten(arguments: tuple[Any, ...]) -> tuple[Kinds, list[int]]:
    """Return the kinds of arguments, and the words to call code for them with."""
    kinds: list[Any] = [len(arguments)]
    words: list[int] = []
    for one in arguments:
        if isinstance(one, ndarray):
            flags = one.flags.num
            kinds += one.dtype.str, one.ndim, flags & (_BY_ROWS if flags & 1 else _BY_COLUMNS)
            words += (one.__array_interface__["data"][0], *one.shape, *one.strides)
        elif isinstance(one, tuple):
            inner = flatten(one)
            kinds += inner[0]
            words += inner[1]
        elif (number := _NUMBERS.get(type(one))) is not None:
            kinds.append(number[0])
            words.append(number[1](one))
        else:
            raise TypeError(f"kernels take arrays, tuples and numbers, not {type(one).__name__!r}")
    return tuple(kinds), words


def symbol(name: str, kinds: Kinds) -> str:
    """Return what the code of a kernel for such arguments is called."""
    return f"movers_{hashlib.sha256(repr((name, kinds)).encode()).hexdigest()[:16]}"


class Entry(Kernel):
    """A kernel that Python calls; its code is found once for every combination of types."""

    def __init__(self, function: Callable[..., Any], **options: Any) -> None:
        super().__init__(function, **options)
        self.calls: dict[Kinds, Code] = {}
        self.compiled = 0

    def __call__(self, *arguments: Any) -> None:
        """Run it, without the interpreter lock."""
        kinds, words = flatten(arguments)
        code = self.calls.get(kinds)
        if code is None:
            code = self.find(kinds, arguments)
        status = code(struct.pack(f"{len(words)}q", *words))
        if status:
            raise RuntimeError(f"kernel {self.name} failed with status {status}")

    def find(self, kinds: Kinds, arguments: tuple[Any, ...]) -> Code:
        """Return the code for such arguments: that of the library, or compiled now."""
        with _preparing:
            if kinds in self.calls:
                return self.calls[kinds]
            name = symbol(self.name, kinds)
            built = kernel_library.library()
            if built is not None and hasattr(built, name):
                code = _FUNCTION((name, built))
            else:
                code = _FUNCTION(self._compile(arguments, name))
            self.calls[kinds] = code
        return code

    def _compile(self, arguments: tuple[Any, ...], function: str) -> int:
        """Compile it in this process, and return where the code lies."""
        try:
            from movers.runtime.machine_code import compile_here  # loads numba
        except ImportError as error:
            raise DependencyError(
                "a kernel has to be compiled, for none was built for this processor and these "
                "sources, and numba, which compiles, is not installed: pip install movers[compile]"
            ) from error
        if self.name.startswith("movers."):  # and not of a package that adds to it
            kernel_library.announce()
        self.compiled += 1
        address: int = compile_here(self, arguments, function)
        return address


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
    """Have Python's calls of `function` run as machine code."""
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
