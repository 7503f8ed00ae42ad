"""The energy of given plans: what two structures charge for moving words as a plan does."""

from __future__ import annotations

import numpy as np

from movers.arrays import Floats
from movers.runtime.threads import share_out
from movers.solve.problems import Problems


def price_batch(problems: Problems, plans: Floats, *, threads: int | None = None) -> Floats:
    """Evaluate ``E(Q) = sum (A[i, k] - B[j, l])**2 Q[i, j] Q[k, l]`` for every pair and head.

    Parameters
    ----------
    problems
        Their structure is taken in single precision.
    plans : flat
        Row-major n x m blocks of mass, one after another; they need not sum to one.
    threads
        Number of threads, by default one per available processor.

    Returns
    -------
    Array of shape (pairs, heads).
    """
    from movers.solve.kernels.pricing import price_range  # loads numba, so not before the call

    shapes, batch = problems.shapes, problems.batch
    single = np.asarray(problems.structure, np.float32)
    structures = problems.structures._replace(single=single)
    out = np.zeros(problems.scale.shape)

    def solve(low: int, high: int) -> None:
        most = int(shapes[low:high].prod(axis=1).max(initial=1))
        room = np.zeros((2, most), np.int64), np.zeros(most)
        price_range(low, high, batch, plans, structures, *room, out)

    share_out(solve, problems.heads * shapes.sum(axis=1) ** 2, threads)
    return out
