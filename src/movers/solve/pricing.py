"""The energy of given plans: what two structures charge for moving words as a plan does."""

from __future__ import annotations

import numpy as np

from movers.arrays import Floats, Ints, Singles, offsets
from movers.runtime.compiling import announced
from movers.runtime.threads import share_out


def price_batch(
    shapes: Ints,
    plans: Floats,
    structure: Singles,
    *,
    a_start: Ints,
    b_start: Ints,
    heads: int,
    threads: int | None = None,
) -> Floats:
    """Evaluate ``E(Q) = sum (A[i, k] - B[j, l])**2 Q[i, j] Q[k, l]`` for every pair and head.

    Parameters
    ----------
    shapes : (pairs, 2)
        Sizes n, m of every pair.
    plans : flat
        Row-major n x m blocks of mass, one after another; they need not sum to one.
    structure : flat
        Blocks (heads, n, n) of every sentence; pair p compares those at ``a_start[p]`` and
        ``b_start[p]``.
    threads
        Number of threads, by default one per available processor.

    Returns
    -------
    Array of shape (pairs, heads).
    """
    from movers.solve.kernels.pricing import price_range  # loads numba, so not before the call

    sizes = shapes.prod(axis=1)
    starts = offsets(sizes)
    out = np.zeros((len(shapes), heads))

    def solve(lo: int, hi: int) -> None:
        most = int(sizes[lo:hi].max(initial=1))
        room = np.zeros((2, most), np.int64), np.zeros(most)
        price_range(lo, hi, shapes, plans, starts, structure, a_start, b_start, *room, out)

    with announced("price"):
        share_out(solve, heads * shapes.sum(axis=1) ** 2, threads)
    return out
