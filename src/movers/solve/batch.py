"""Ragged batches of exact transport problems, as flat arrays: the hot path of the library.

Nothing here runs Python per problem. A batch is cut into ranges of similar work, which threads
take one by one; a result never depends on the cut.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from movers.runtime.compiling import Floats, Ints, announced
from movers.runtime.notices import ConvergenceWarning, notify
from movers.runtime.threads import share_out
from movers.solve.kernels.partial_arrays import Heads, Pairs
from movers.solve.partial import make_heads, solve_partial


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
    home
        Mass that stayed at home, mean of both sides; None where it may not. The value has its
        price, too.
    """

    value: Floats
    linear: Floats
    structural: Floats
    iterations: NDArray[np.int32]
    gap: Floats
    converged: NDArray[np.bool]
    plans: Floats | None
    home: Floats | None = None


def emd_batch(
    shapes: Ints,
    cost: Floats,
    u: Floats,
    v: Floats,
    *,
    u_start: Ints,
    v_start: Ints,
    null: float | Floats | None = None,
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
    null
        Price of a unit of mass that stays at home, one or of shape (pairs, 1); weights are then
        masses, which are not scaled. See `movers.solve.partial`. None: all mass moves.
    threads
        Number of threads, by default one per available processor.
    plans
        Also return the plans.
    """
    if null is not None:
        prices = _prices(null, (len(shapes), 1))
        pairs = Pairs(shapes, cost, _starts(shapes), u, u_start, v, v_start, prices)
        return _partial_values(pairs, None, threads, plans)
    from movers.solve.kernels.ranges import emd_range  # loads numba, so not before the call
    from movers.solve.kernels.workspace import allocate

    cost_start = _starts(shapes)
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
    structure: NDArray[np.float32] | Floats,
    scale: Floats,
    *,
    u_start: Ints,
    v_start: Ints,
    a_start: Ints,
    b_start: Ints,
    mix: float,
    null: float | Floats | None = None,
    thorough: bool = True,
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
    null
        As in `emd_batch`, one or of shape (pairs, heads).
    thorough
        Where mass may stay at home, whether to look for the best of several local minima, or to
        be content with the one near the plan of the words, in a quarter of the time.
    """
    if null is not None:
        prices = _prices(null, scale.shape)
        pairs = Pairs(shapes, cost, _starts(shapes), u, u_start, v, v_start, prices)
        heads = make_heads(structure, a_start, b_start, scale, mix, thorough)
        return _partial_values(pairs, heads, threads, plans)
    from movers.solve.kernels.ranges import fgw_range  # loads numba, so not before the call
    from movers.solve.kernels.workspace import SLOTS, allocate

    cost_start = _starts(shapes)
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


def _prices(null: float | Floats, shape: tuple[int, ...]) -> Floats:
    return np.array(np.broadcast_to(null, shape), np.float64)  # a copy: kernels want to own it


def _partial_values(pairs: Pairs, heads: Heads | None, threads: int | None, plans: bool) -> Values:
    found = solve_partial(pairs, heads, threads=threads, plans=plans)
    _warn_of_bounds(found.converged)
    mix = 0.0 if heads is None else heads.mix
    moved = (1.0 - mix) * found.linear + mix * found.structural
    return Values(
        value=moved + pairs.null * found.home,
        linear=found.linear,
        structural=found.structural,
        iterations=found.iterations,
        gap=found.gap,
        converged=found.converged,
        plans=found.plans if plans else None,
        home=found.home,
    )


def _warn_of_bounds(converged: NDArray[np.bool]) -> None:
    if not converged.all():
        notify(
            f"{converged.size - int(converged.sum())} of {converged.size} transport problems "
            f"reached the bound on their effort; their plans are feasible and may not be optimal "
            f"(`converged` is False there). Scale costs and structures, or drop entries that no "
            f"plan can use",
            ConvergenceWarning,
        )


def _starts(shapes: Ints) -> Ints:
    """Offset of every pair's n x m block."""
    sizes: Ints = shapes.prod(axis=1)
    starts: Ints = np.cumsum(sizes) - sizes
    return starts


def _largest(shapes: Ints) -> tuple[int, int]:
    n, m = shapes.max(axis=0, initial=1)
    return int(n), int(m)
