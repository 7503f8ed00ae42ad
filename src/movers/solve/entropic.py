"""Entropic transport: Sinkhorn's scaling of a kernel, for ragged batches.

Finds the plan ``P = diag(a) K diag(b)`` with the wanted marginals, which minimises
``<C, P> - reg * H(P)`` for ``K = exp(-C / reg)`` (Cuturi, 2013). All in logarithms: kernels may
be as small as they like.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from movers.arrays import Bools, Floats, Ints, offsets
from movers.runtime.compiling import announced
from movers.runtime.threads import share_out

ITERATIONS = 1000
TOLERANCE = 1e-9
EXPONENTIALS = 50
"""Rough cost of an exponential in the unit of work that threads are shared out by."""


@dataclass(frozen=True, slots=True)
class Scaled:
    """Plans of a batch, row-major n x m blocks one after another, and the iterations of each.

    ``converged`` is False where these were all that were allowed: the columns then have their
    marginals and the rows come as near as they got.
    """

    plans: Floats
    iterations: Ints
    converged: Bools


def sinkhorn_batch(
    shapes: Ints,
    log_kernel: Floats,
    u: Floats,
    v: Floats,
    *,
    u_start: Ints,
    v_start: Ints,
    iterations: int = ITERATIONS,
    tolerance: float = TOLERANCE,
    threads: int | None = None,
) -> Scaled:
    """Scale every kernel to its marginals, rows first.

    Parameters
    ----------
    shapes : (pairs, 2)
        Sizes n, m of every pair.
    log_kernel : flat
        Logarithms of the kernels, row-major n x m blocks one after another.
    u, v : flat
        Weights; pair p uses ``u[u_start[p]:][:n]`` and ``v[v_start[p]:][:m]``, each summing to
        one.
    iterations
        Most rounds over rows and columns.
    tolerance
        Stop when the rows are off by less than this in total; 0 goes on to the end.
    """
    from movers.solve.kernels.sinkhorn import sinkhorn_range  # loads numba, so not before the call

    sizes = shapes.prod(axis=1)
    start = offsets(sizes)
    f_start, g_start = (offsets(side) for side in shapes.T)
    f, g = (np.zeros(int(side.sum())) for side in shapes.T)
    plans = np.zeros(log_kernel.size)
    done = np.zeros(len(shapes), np.int64)

    def solve(lo: int, hi: int) -> None:
        sinkhorn_range(
            lo,
            hi,
            shapes,
            log_kernel,
            start,
            u,
            u_start,
            v,
            v_start,
            iterations,
            float(tolerance),
            f,
            f_start,
            g,
            g_start,
            plans,
            done,
        )

    with announced("sinkhorn"):
        share_out(solve, sizes * EXPONENTIALS, threads)
    return Scaled(plans, done, done < iterations)
