"""Turn plain functions into compiled kernels, and say so when the user has to wait for it."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Any, TypeVar

from numba import njit
from numba.core import event

from movers.runtime.drafts import Drafting, without_literals
from movers.runtime.kernel_cache import keep

logger = logging.getLogger("movers")

Kernel = TypeVar("Kernel", bound=Callable[..., Any])

PATIENCE = 1.0
MESSAGE = (
    "compiling kernels, up to half a minute: once for this version of movers "
    "(`movers warm-up` does it ahead)"
)

# Kernels run without the interpreter lock. They cannot allocate, and in return do not count
# references to arrays, which would take half of the time. Multiplications and additions may
# fuse; floating point is not relaxed any further.
_OPTIONS: dict[str, Any] = {
    "nogil": True,
    "_nrt": False,
    "error_model": "numpy",
    "fastmath": {"contract"},
}
_INNER: dict[str, Any] = {
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
    "pipeline_class": Drafting,
}

entries: list[Any] = []
"""Every kernel that Python calls, of the modules imported so far."""


def entry(function: Kernel) -> Kernel:
    """Compile `function` on its first call from Python, and keep it for other processes."""
    return _entry(function)


def summing(function: Kernel) -> Kernel:
    """Like `entry`, and sums may be taken in another order: for long dot products."""
    return _entry(function, fastmath={"contract", "reassoc"})


def exact(function: Kernel) -> Kernel:
    """Like `entry`, and every operation is rounded by itself: the same bits on any processor."""
    return _entry(function, fastmath=False)


def kernel(function: Kernel) -> Kernel:
    """Compile `function` for use by other kernels."""
    return _inner(function)


def inlined(function: Kernel) -> Kernel:
    """Like `kernel`, and always merged into its caller: for steps shorter than a call."""
    return _inner(function, forceinline=True)


def _entry(function: Kernel, **options: Any) -> Kernel:
    compiled: Any = njit(**{**_OPTIONS, **options})(function)
    keep(compiled)
    entries.append(compiled)
    made: Kernel = compiled
    return made


def _inner(function: Kernel, **options: Any) -> Kernel:
    compiled: Any = njit(**_OPTIONS, **_INNER, **options)(function)
    without_literals(compiled)
    made: Kernel = compiled
    return made


class Patience(event.Listener):
    """Tells the user, once, that a kernel is being compiled if it takes longer than a moment.

    Numba reports what it compiles and not what it finds in a cache.
    """

    def __init__(self) -> None:
        self.timer: threading.Timer | None = None
        self.told = False

    def on_start(self, event: Any) -> None:
        """Give a kernel of ours a moment."""
        if self.timer is None and not self.told and event.data["dispatcher"] in entries:
            self.timer = threading.Timer(PATIENCE, self.tell)
            self.timer.daemon = True
            self.timer.start()

    def on_end(self, event: Any) -> None:
        """Fall silent when it is ready."""
        if self.timer is not None and event.data["dispatcher"] in entries:
            self.timer.cancel()
            self.timer = None

    def tell(self) -> None:
        """Say it."""
        self.told = True
        logger.warning(MESSAGE)


event.register("numba:compile", Patience())
