"""Turn plain functions into compiled kernels, and say so when the user has to wait for it."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any, TypeVar

logger = logging.getLogger("movers")

Kernel = TypeVar("Kernel", bound=Callable[..., Any])

PATIENCE = 1.0
COMPILE_SECONDS = 25

# Kernels run without the interpreter lock. They cannot allocate, and in return do not count
# references to arrays, which would take half of the time. Multiplications and additions may
# fuse; floating point is not relaxed any further.
_OPTIONS = {"nogil": True, "_nrt": False, "error_model": "numpy", "fastmath": {"contract"}}
_INNER = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}

_ready: set[str] = set()
_told = threading.Event()


def entry(function: Kernel) -> Kernel:
    """Compile `function` on its first call from Python, and cache it on disk.

    The cache notices changes of the file the function is in, not of the kernels it calls;
    ``make`` clears it when those change.
    """
    return _decorate(function, cache=True)


def summing(function: Kernel) -> Kernel:
    """Like `entry`, and sums may be taken in another order: for long dot products."""
    return _decorate(function, cache=True, fastmath={"contract", "reassoc"})


def exact(function: Kernel) -> Kernel:
    """Like `entry`, and every operation is rounded by itself: the same bits on any processor."""
    return _decorate(function, cache=True, fastmath=False)


def kernel(function: Kernel) -> Kernel:
    """Compile `function` for use by other kernels."""
    return _decorate(function, **_INNER)


def inlined(function: Kernel) -> Kernel:
    """Like `kernel`, and always merged into its caller: for steps shorter than a call."""
    return _decorate(function, forceinline=True, **_INNER)


@contextmanager
def announced(name: str) -> Iterator[None]:
    """Tell the user, once, if the first use of `name` is still compiling after a second."""
    if name in _ready:
        yield
        return
    timer = threading.Timer(PATIENCE, _tell)
    timer.daemon = True
    timer.start()
    try:
        yield
        _ready.add(name)
    finally:
        timer.cancel()


def _tell() -> None:
    if not _told.is_set():
        _told.set()
        logger.warning(
            "compiling the solver kernels (once per installation, about %d s)", COMPILE_SECONDS
        )


def _decorate(function: Kernel, **options: Any) -> Kernel:
    # numba is imported here, by the modules that hold kernels, so that nothing else waits for it
    njit = import_module("numba").njit
    compiled: Kernel = njit(**{**_OPTIONS, **options})(function)
    return compiled
