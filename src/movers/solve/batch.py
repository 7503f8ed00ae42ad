"""Ragged batches of exact transport problems, as flat arrays: the hot path of the library.

Nothing here runs Python per problem. A batch is cut into ranges of similar work, which threads
take one by one; a result never depends on the cut.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from movers.arrays import Bools, Floats, Ints, Singles, offsets
from movers.runtime.compiling import announced
from movers.runtime.notices import ConvergenceWarning, notify
from movers.runtime.threads import share_out


@dataclass(frozen=True, slots=True)
class Values:
    """Results of a batch, arrays of shape (pairs, heads).

    Attributes
    ----------
    value
        Objective, ``(1 - mix) * linear + mix * structural``.
    linear
        Its part of moving, ``<C, P>``.
    structural
        Its part of bending, ``scale * E(P)``.
    iterations
        Number of linear problems solved.
    gap
        Frank-Wolfe duality gap, an upper bound on what one more step could gain.
    converged
        False where a bound on the effort ended the search: the plan is feasible, and may not be
        optimal.
    plans
        Optimal plans on request: for every pair a block (heads, n, m), all blocks in one
        flat array.
    """

    value: Floats
    linear: Floats
    structural: Floats
    iterations: NDArray[np.int32]
    gap: Floats
    converged: Bools
    plans: Floats | None


def emd_batch(
    shapes: Ints,
    cost: Floats,
    u: Floats,
    v: Floats,
    *,
    u_start: Ints,
    v_start: Ints,
    threads: int | None = None,
    plans: bool = False,
) -> Values:
    """Solve ``min <C, P>`` over the plans of every pair.

    Parameters
    ----------
    shapes : (pairs, 2)
        Sizes n, m of every pair.
    cost : flat
        Row-major n x m blocks, one after another.
    u, v : flat
        Weights; pair p uses ``u[u_start[p]:][:n]`` and ``v[v_start[p]:][:m]``. Both may be the
        same array. Only proportions matter: each side is taken to sum to one.
    threads
        Number of threads, by default one per available processor.
    plans
        Also return the plans.
    """
    from movers.solve.kernels.ranges import emd_range  # loads numba, so not before the call
    from movers.solve.kernels.workspace import allocate

    cost_start = offsets(shapes.prod(axis=1))
    value, converged = np.zeros(len(shapes)), np.zeros(len(shapes), np.bool_)
    out = np.zeros(cost.size if plans else 0)
    stop = np.zeros(1, np.int64)

    def solve(lo: int, hi: int) -> None:
        emd_range(
            allocate(*_largest(shapes[lo:hi]), slots=1, stop=stop),
            lo,
            hi,
            shapes,
            cost,
            cost_start,
            u,
            u_start,
            v,
            v_start,
            value,
            converged,
            out,
        )

    work = shapes.sum(axis=1) * shapes.prod(axis=1)
    with announced("emd"):
        share_out(solve, work, threads, stop)
    _warn_of_bounds(converged)
    column = value[:, None]
    return Values(
        value=column,
        linear=column.copy(),
        structural=np.zeros_like(column),
        iterations=np.ones(column.shape, np.int32),
        gap=np.zeros_like(column),
        converged=converged[:, None],
        plans=out if plans else None,
    )


def fgw_batch(
    shapes: Ints,
    cost: Floats,
    u: Floats,
    v: Floats,
    structure: Singles | Floats,
    scale: Floats,
    *,
    u_start: Ints,
    v_start: Ints,
    a_start: Ints,
    b_start: Ints,
    mix: float,
    threads: int | None = None,
    plans: bool = False,
) -> Values:
    """Solve ``min (1 - mix) <C, P> + mix * scale * E(P)`` for every pair and head.

    ``E(P) = sum (A[i, k] - B[j, l])**2 P[i, j] P[k, l]``; the objective is not convex, and the
    result is the local minimum that Frank-Wolfe reaches from ``u vᵀ``.

    Parameters
    ----------
    shapes, cost, u, v, u_start, v_start, threads, plans
        As in `emd_batch`.
    structure : flat, float32 or float64
        Blocks (heads, n, n) of every sentence; pair p compares those at ``a_start[p]`` and
        ``b_start[p]``.
    scale : (pairs, heads)
        Factor of the structural part.
    mix
        Share of the structural part. With 0 the plan is the one of `emd_batch`; with 1 the
        cost only shows in ``linear``.
    """
    from movers.solve.kernels.ranges import fgw_range  # loads numba, so not before the call
    from movers.solve.kernels.workspace import SLOTS, allocate

    cost_start = offsets(shapes.prod(axis=1))
    linear, structural, gap = np.zeros((3, *scale.shape))
    iterations, converged = np.zeros(scale.shape, np.int32), np.zeros(scale.shape, np.bool_)
    stop = np.zeros(1, np.int64)
    # one kernel for both precisions: it need not be compiled twice
    wide = structure.dtype != np.float32
    single = np.asarray(structure[:0] if wide else structure, np.float32)
    double = np.asarray(structure if wide else structure[:0], np.float64)
    out = np.zeros(cost.size * scale.shape[1] if plans else 0)

    def solve(lo: int, hi: int) -> None:
        fgw_range(
            allocate(*_largest(shapes[lo:hi]), slots=SLOTS, stop=stop),
            lo,
            hi,
            shapes,
            cost,
            cost_start,
            u,
            u_start,
            v,
            v_start,
            single,
            double,
            a_start,
            b_start,
            scale,
            float(mix),
            linear,
            structural,
            iterations,
            gap,
            converged,
            out,
        )

    work = shapes.sum(axis=1) * shapes.prod(axis=1) * 4 * scale.shape[1]
    with announced("fgw"):
        share_out(solve, work, threads, stop)
    _warn_of_bounds(converged)
    return Values(
        value=(1.0 - mix) * linear + mix * structural,
        linear=linear,
        structural=structural,
        iterations=iterations,
        gap=gap,
        converged=converged,
        plans=out if plans else None,
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


def _largest(shapes: Ints) -> tuple[int, int]:
    n, m = shapes.max(axis=0, initial=1)
    return int(n), int(m)
