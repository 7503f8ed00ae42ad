"""Work shared out over threads; kernels release the interpreter lock while they run."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

RANGES_PER_THREAD = 8
WORTH_A_THREAD = 2e6


def share_out(
    solve: Callable[[int, int], None], work: NDArray[np.int64], threads: int | None
) -> None:
    """Run ``solve(low, high)`` over ranges of about equal work.

    Parameters
    ----------
    solve
        Handles the items ``low .. high - 1``; called from several threads at once.
    work
        Rough cost of every item; a small total is not worth a second thread.
    threads
        Most threads to use; None takes one per available processor.
    """
    total = int(work.sum())
    workers = min(threads or available_threads(), 1 + int(total // WORTH_A_THREAD))
    if workers <= 1:
        solve(0, len(work))
        return
    shares = np.linspace(0, total, workers * RANGES_PER_THREAD + 1)[1:-1]
    cuts = np.unique([0, *np.searchsorted(np.cumsum(work), shares), len(work)]).tolist()
    with ThreadPoolExecutor(workers) as pool:
        for done in [pool.submit(solve, *span) for span in pairwise(cuts)]:
            done.result()


def available_threads() -> int:
    """Processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
