"""What a kernel is made of, before anything is compiled."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

# Kernels cannot allocate, and in return do not count references to arrays, which would take half
# of the time. Multiplications and additions may fuse; floating point is not relaxed any further.
_OPTIONS: dict[str, Any] = {"_nrt": False, "error_model": "numpy", "fastmath": {"contract"}}


class Kernel:
    """A plain function of arrays and numbers, and how to compile it."""

    def __init__(self, function: Callable[..., Any], **options: Any) -> None:
        self.function = function
        self.name = f"{function.__module__}.{function.__qualname__}"
        self.__doc__ = function.__doc__
        self.options = {**_OPTIONS, **options}


class Operation:
    """An instruction for kernels, named by what builds it: a module that needs the compiler."""

    def __init__(self, module: str, name: str) -> None:
        self.module, self.name = module, name

    def build(self) -> Any:
        """Import what builds it."""
        return getattr(import_module(self.module), self.name)
