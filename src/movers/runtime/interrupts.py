"""Signals end the work instead of the process, so that what is finished can be kept."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

NAMES = {"SIGINT": "interrupted", "SIGTERM": "terminated", "SIGHUP": "hung up"}
"""Signals that end the work, and what is said then; Windows lacks the last."""
PATIENCE = 3
"""So many signals end the process at once, whatever it is still keeping."""


class Ended(KeyboardInterrupt):
    """A signal asked for the end of the work."""


class Interrupts:
    """The signals that arrived while a block ran."""

    def __init__(self) -> None:
        self.seen: list[int] = []
        self.held = False

    @property
    def description(self) -> str:
        """What happened, in a word or two."""
        return NAMES[signal.Signals(self.seen[0]).name]

    @property
    def code(self) -> int:
        """The exit status that shells expect of a process that a signal ended."""
        return 128 + self.seen[0]

    def receive(self, number: int, frame: FrameType | None = None) -> None:
        """End the work at the first signal; leave its cleaning up alone at the second."""
        self.seen.append(number)
        if len(self.seen) == 1 and not self.held:
            raise Ended
        if len(self.seen) >= PATIENCE:
            os._exit(128 + number)


@contextmanager
def ending_work() -> Iterator[Interrupts]:
    """Raise `Ended` in a block when a signal asks for the end of the process.

    A signal that the parent process chose to ignore, as ``nohup`` does, stays ignored. Only the
    main thread can do this; elsewhere nothing changes.
    """
    interrupts = Interrupts()
    if threading.current_thread() is not threading.main_thread():
        yield interrupts
        return
    numbers = [getattr(signal, name) for name in NAMES if hasattr(signal, name)]
    before = {number: signal.getsignal(number) for number in numbers}
    heard = [number for number in numbers if before[number] != signal.SIG_IGN]
    unraisable = sys.unraisablehook
    _current.append(interrupts)
    sys.unraisablehook = _quiet
    try:
        for number in heard:
            signal.signal(number, interrupts.receive)
        yield interrupts
    finally:
        for number in heard:
            signal.signal(number, before[number])
        sys.unraisablehook = unraisable
        _current.remove(interrupts)


_current: list[Interrupts] = []


def end_if_asked() -> None:
    """Raise `Ended` once more if a signal's was lost, as in a callback of the garbage collector."""
    if _current and _current[-1].seen:
        raise Ended


@contextmanager
def undisturbed() -> Iterator[None]:
    """Put off the end until a block that must be whole is done."""
    if not _current:
        yield
        return
    _current[-1].held = True
    try:
        yield
    finally:
        _current[-1].held = False
    end_if_asked()


def _quiet(unraisable: Any) -> None:
    """Say nothing of an end that came where nothing can be raised; `end_if_asked` sees to it."""
    if not isinstance(unraisable.exc_value, Ended):
        sys.__unraisablehook__(unraisable)
