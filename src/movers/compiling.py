"""Compile kernels once per installation, and say so when the user has to wait."""

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

logger = logging.getLogger("movers")

Kernel = TypeVar("Kernel", bound=Callable[..., Any])
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

PATIENCE = 1.0
COMPILE_SECONDS = 25

_ready: set[str] = set()


def kernel(function: Kernel) -> Kernel:
    """Compile `function` on first call: no interpreter lock, cached on disk.

    Multiplications and additions may fuse; nothing else about floating point is relaxed.
    """
    return _decorate(function)


def inlined(function: Kernel) -> Kernel:
    """Like `kernel`, and always merged into its caller: for steps shorter than a call."""
    return _decorate(function, forceinline=True)


def summing(function: Kernel) -> Kernel:
    """Like `kernel`, and sums may be taken in another order: for long dot products."""
    return _decorate(function, fastmath={"contract", "reassoc"})


@contextmanager
def announced(name: str) -> Iterator[None]:
    """Warn once if the first use of the kernel `name` is still compiling after a second."""
    if name in _ready:
        yield
        return
    timer = threading.Timer(PATIENCE, _warn)
    timer.daemon = True
    timer.start()
    try:
        yield
        _ready.add(name)
    finally:
        timer.cancel()


def _warn() -> None:
    logger.warning(
        "compiling the solver kernels (once per installation, about %d s)", COMPILE_SECONDS
    )


def _decorate(function: Kernel, **options: Any) -> Kernel:
    # numba is imported here so that importing movers.solve stays cheap
    njit = import_module("numba").njit
    settings = {"nogil": True, "cache": True, "error_model": "numpy", "fastmath": {"contract"}}
    compiled: Kernel = njit(**{**settings, **options})(function)
    return compiled
