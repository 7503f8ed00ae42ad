"""Bars that move on a terminal or in a notebook, and lines now and then anywhere else."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

SECONDS = 0.5
"""How often a bar moves."""
LINE_SECONDS = 30.0
"""How often a line is written where no bar can move, as in the log of a job."""
DELAY = 1.0
"""A step within other work gets a bar when it takes longer than this."""


class Bar:
    """A bar that nobody sees."""

    def update(self, n: float = 1) -> Any:
        """Move on by so many."""


_open: list[str] = []


@contextmanager
def progress_bar(
    what: str, unit: str, total: int | None = None, *, progress: bool, initial: int = 0
) -> Iterator[Bar]:
    """Show a bar for the length of a block; ``update`` moves it.

    Within the block of another bar this one shows a step: it comes late and goes away.

    Parameters
    ----------
    what, unit
        What is being done, "scoring", and what is counted, "rows".
    total
        How many there are; None if nobody knows.
    progress
        Whether to show anything.
    initial
        How many an earlier run has done.
    """
    if not progress:
        yield Bar()
        return
    from tqdm.auto import tqdm  # brings asyncio along

    step = bool(_open)
    _open.append(what)
    try:
        notebook = any(kind.__name__ == "tqdm_notebook" for kind in tqdm.__mro__)
        if not notebook and not sys.stderr.isatty():  # no line can be drawn over
            yield ProgressLines(what, unit, total, initial)
            return
        with tqdm(
            desc=what,
            unit=f" {unit}",
            total=total,
            initial=initial,
            mininterval=SECONDS,
            miniters=1,
            delay=DELAY if step else 0,
            leave=not step,
            **_width(),
        ) as bar:
            yield bar
    finally:
        _open.pop()


def _width() -> dict[str, Any]:
    """As wide as the terminal is, or 80 columns where it does not know, as under some tools."""
    try:
        known = os.get_terminal_size(sys.stderr.fileno()).columns > 0
    except (OSError, ValueError):
        known = False
    return {"dynamic_ncols": True} if known else {"ncols": 80, "nrows": 24}


class ProgressLines(Bar):
    """Progress as whole lines on standard error, one every half minute."""

    def __init__(self, what: str, unit: str, total: int | None, initial: int = 0) -> None:
        self.what, self.unit, self.total = what, unit, total
        self.done: float = initial
        self.initial = initial
        self.started = self.last = time.monotonic()

    def update(self, n: float = 1) -> None:
        """Count, and write a line if it is time."""
        self.done += n
        now = time.monotonic()
        if now - self.last >= LINE_SECONDS:
            self.last = now
            print(f"movers: {self}", file=sys.stderr, flush=True)

    def __str__(self) -> str:
        seconds = time.monotonic() - self.started
        count = f"{self.done:,.0f}" + (f" of {self.total:,}" if self.total else "")
        text = f"{self.what}: {count} {self.unit} after {_clock(seconds)}"
        if self.total and self.done > self.initial:
            left = seconds * (self.total - self.done) / (self.done - self.initial)
            text += f", about {_clock(max(0.0, left))} left"
        return text


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
