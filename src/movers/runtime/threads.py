"""Work shared out over threads, and ended where nobody waits for it any more.

Kernels release the interpreter lock while they run.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import pairwise
from typing import TypeVar

import numpy as np

from movers.arrays import Ints
from movers.errors import InputError

Item = TypeVar("Item")
Made = TypeVar("Made")

RANGES_PER_THREAD = 8
WORTH_A_THREAD = 2e6
"""Work that takes far longer than handing it out, which holds the interpreter lock."""
LOOK_SECONDS = 0.1
"""How often whoever waits for threads looks whether the work is still wanted."""
LONGEST_RANGE = 5e7
"""Work between two looks at whether to go on, some tenths of a second."""


class UnwantedError(Exception):
    """Nobody waits for the work any more."""


_wanted: ContextVar[Callable[[], bool]] = ContextVar("wanted", default=lambda: True)


@contextmanager
def only_while(wanted: Callable[[], bool]) -> Iterator[None]:
    """Raise `UnwantedError` in a block of this thread soon after its work is not wanted any more.

    Examples
    --------
    >>> with only_while(lambda: True):
    ...     end_if_unwanted()
    """
    token = _wanted.set(wanted)
    try:
        yield
    finally:
        _wanted.reset(token)


def end_if_unwanted() -> None:
    """Raise `UnwantedError` if that holds of what this thread does."""
    if not _wanted.get()():
        raise UnwantedError


def share_out(
    solve: Callable[[int, int], None], work: Ints, threads: int | None, stop: Ints | None = None
) -> None:
    """Run ``solve(low, high)`` over ranges of about equal work.

    An interrupt (Ctrl-C) ends it after the ranges under way, and so does work that is not wanted
    any more (`only_while`), which is not even begun. For that the calling thread only waits where
    there is enough work to be worth interrupting: inside a kernel it would not hear.

    Parameters
    ----------
    solve
        Handles the items ``low .. high - 1``, from several threads at once.
    work
        Rough cost of every item.
    threads
        Most threads to use; None is one per processor.
    stop
        Is set to 1 when ranges under way shall end early too.
    """
    if threads is not None and (not isinstance(threads, int | np.integer) or threads < 1):
        raise InputError(f"threads == {threads!r}; pass at least 1, or None for all processors")
    end_if_unwanted()
    total = int(work.sum())
    workers = 1 + int(total // WORTH_A_THREAD)
    if workers > 1:
        workers = min(workers, int(threads or available_threads()))
    if workers <= 1 and total <= LONGEST_RANGE:
        solve(0, len(work))
        return
    ranges = min(workers * RANGES_PER_THREAD, max(workers, int(total // WORTH_A_THREAD)))
    ranges = max(ranges if workers > 1 else 1, int(total // LONGEST_RANGE))
    shares = np.linspace(0, total, ranges + 1)[1:-1]
    cuts = np.unique([0, *np.searchsorted(np.cumsum(work), shares), len(work)]).tolist()
    pool = ThreadPoolExecutor(workers)
    try:
        for done in [pool.submit(solve, *span) for span in pairwise(cuts)]:
            while not wait([done], LOOK_SECONDS).done:
                end_if_unwanted()
            done.result()
    except BaseException:
        if stop is not None:
            stop[0] = 1
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def read_ahead(make: Callable[[Item], Made], items: Iterable[Item]) -> Iterator[Made]:
    """Yield what is made of each item, the next one under way in a thread meanwhile.

    Examples
    --------
    >>> list(read_ahead(len, ["a", "bc"]))
    [1, 2]
    """
    with ThreadPoolExecutor(1, "ahead") as maker:
        ahead = None
        for item in items:
            made, ahead = ahead, maker.submit(make, item)
            if made is not None:
                yield made.result()
        if ahead is not None:
            yield ahead.result()


def available_threads() -> int:
    """Processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
