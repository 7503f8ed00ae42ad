"""Ragged batches of exact transport problems: the hot path of the library.

Nothing here runs Python per problem. A batch is cut into ranges of similar work, which threads
take one by one; a result never depends on the cut.
"""

from __future__ import annotations

import numpy as np

from movers.arrays import Bools
from movers.runtime.notices import ConvergenceWarning, notify
from movers.runtime.threads import share_out
from movers.solve.kernels.batches import Found
from movers.solve.problems import Problems
from movers.solve.solution import Many, of_batch


def emd_batch(problems: Problems, *, threads: int | None = None, plans: bool = False) -> Many:
    """Solve ``min <C, P>`` over the plans of every pair; structure plays no part.

    Parameters
    ----------
    threads
        Number of threads, by default one per available processor.
    plans
        Also return the plans.
    """
    from movers.solve.kernels.ranges import emd_range  # loads numba, so not before the call
    from movers.solve.kernels.workspace import allocate

    shapes, batch = problems.shapes, problems.batch
    out = _room(problems, 1, plans)
    stop = np.zeros(1, np.int64)

    def solve(low: int, high: int) -> None:
        space = allocate(shapes[low:high], slots=1, stop=stop)
        emd_range(space, low, high, batch, out)

    share_out(solve, shapes.sum(axis=1) * shapes.prod(axis=1), threads, stop)
    _warn_of_bounds(out.converged)
    return of_batch(out, out.linear.copy())


def fgw_batch(
    problems: Problems, *, mix: float, threads: int | None = None, plans: bool = False
) -> Many:
    """Solve ``min (1 - mix) <C, P> + mix * scale * E(P)`` for every pair and head.

    ``E(P) = sum (A[i, k] - B[j, l])**2 P[i, j] P[k, l]``; the objective is not convex, and the
    result is the local minimum that Frank-Wolfe reaches from ``u vᵀ``.

    Parameters
    ----------
    mix
        Share of the structural part. With 0 the plan is the one of `emd_batch`; with 1 the
        cost only shows in ``linear``.
    threads, plans
        As in `emd_batch`.
    """
    from movers.solve.kernels.ranges import fgw_range  # loads numba, so not before the call
    from movers.solve.kernels.workspace import SLOTS, allocate

    shapes, batch, structures = problems.shapes, problems.batch, problems.structures
    out = _room(problems, problems.heads, plans)
    stop = np.zeros(1, np.int64)

    def solve(low: int, high: int) -> None:
        space = allocate(shapes[low:high], slots=SLOTS, stop=stop)
        fgw_range(space, low, high, batch, structures, float(mix), out)

    work = shapes.sum(axis=1) * shapes.prod(axis=1) * 4 * problems.heads
    share_out(solve, work, threads, stop)
    _warn_of_bounds(out.converged)
    return of_batch(out, (1.0 - mix) * out.linear + mix * out.structural)


def _room(problems: Problems, heads: int, plans: bool) -> Found:
    """Room for the results; an optimum of a cost alone takes one linear problem."""
    shape = len(problems), heads
    linear, structural, gap = np.zeros((3, *shape))
    return Found(
        linear,
        structural,
        np.ones(shape, np.int32),
        gap,
        np.zeros(shape, np.bool_),
        np.zeros(problems.cost.size * heads if plans else 0),
    )


def _warn_of_bounds(converged: Bools) -> None:
    if not converged.all():
        notify(
            f"{converged.size - int(converged.sum())} of {converged.size} transport problems "
            f"reached the bound on their effort; their plans are feasible and may not be optimal "
            f"(`converged` is False there). Scale costs and structures, or drop entries that no "
            f"plan can use",
            ConvergenceWarning,
        )
