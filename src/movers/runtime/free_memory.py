"""Memory that was freed, which the C library keeps for later."""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any


@cache
def _trim() -> Any:
    """Return the function of glibc that gives freed memory back; None where there is no glibc."""
    try:
        return ctypes.CDLL(None).malloc_trim
    except (AttributeError, OSError, TypeError):
        return None


def give_back_memory() -> None:
    """Give the system back what was freed: some ten milliseconds, in which other threads go on."""
    if (trim := _trim()) is not None:
        trim(0)
