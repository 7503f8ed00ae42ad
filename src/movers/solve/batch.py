"""Ragged batches of exact transport problems: the hot path of the library.

Nothing here runs Python per problem. A batch is cut into ranges of similar work, which threads
take one by one; a result never depends on the cut.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from movers.arrays import Bools, Floats
from movers.errors import InputError
from movers.runtime.notices import ConvergenceWarning, notify
from movers.runtime.threads import share_out
from movers.solve import checks
from movers.solve.kernels.batch_arrays import LARGEST, Outputs, Structures
from movers.solve.kernels.partial import partial_emd_range, partial_fgw_range
from movers.solve.kernels.pricing import broken_range, price_range
from movers.solve.kernels.ranges import emd_range, fgw_range
from movers.solve.kernels.workspace import (
    SLOTS,
    allocate,
    allocate_partial,
    make_cells,
)
from movers.solve.problems import Problems
from movers.solve.solution import Many, Solution


def emd_batch(
    problems: Problems,
    *,
    null: float | Floats | None = None,
    threads: int | None = None,
    plans: bool = False,
) -> Many:
    """Solve ``min <C, P>`` over the plans of every pair; structure plays no part.

    Parameters
    ----------
    null
        Price of a unit of mass that stays at home, one or of shape (pairs, 1); weights are then
        masses, which are not scaled. See `movers.solve.kernels.partial`. None: all mass moves.
    threads
        Number of threads, by default one per available processor.
    plans
        Also return the plans.
    """
    return _solve(problems, None, 0.0, null, threads, plans)


def fgw_batch(
    problems: Problems,
    *,
    mix: float,
    null: float | Floats | None = None,
    threads: int | None = None,
    plans: bool = False,
) -> Many:
    """Solve ``min (1 - mix) <C, P> + mix * scale * E(P)`` for every pair and head.

    ``E(P) = sum (A[i, k] - B[j, l])**2 P[i, j] P[k, l]``; the objective is not convex, and the
    result is the local minimum that Frank-Wolfe reaches from ``u vᵀ``.

    Parameters
    ----------
    mix
        Share of the structural part. With 0 the plan is the one of `emd_batch`; with 1 the
        cost only shows in ``linear``.
    null
        As in `emd_batch`, one or of shape (pairs, heads).
    threads, plans
        As in `emd_batch`.
    """
    scale = problems.scale
    if scale.size and not 0.0 <= scale.min() <= scale.max() <= LARGEST:
        raise InputError(f"scale has entries that are not between 0 and {LARGEST:g}")
    if not isinstance(mix, int | float | np.integer | np.floating) or not 0.0 <= mix <= 1.0:
        raise InputError(f"mix == {mix!r}; it must lie between 0 and 1")
    return _solve(problems, problems.structures, float(mix), null, threads, plans)


def price_batch(problems: Problems, plans: Floats, *, threads: int | None = None) -> Floats:
    """Evaluate ``E(Q) = sum (A[i, k] - B[j, l])**2 Q[i, j] Q[k, l]`` for every pair and head.

    ``plans`` are row-major n x m blocks of mass, one after another, and need not sum to one.
    Structure is taken in single precision; what is no number in it, or too large to be squared and
    summed, is refused.
    """
    return _evaluate(price_range, problems, plans, threads)


def broken_batch(problems: Problems, plans: Floats, *, threads: int | None = None) -> Floats:
    """Evaluate what share of the relations between moved words every plan breaks, by head.

    With P the plan and p, q what it moves from and to every word, A and B are cut to words that
    move, their rows scaled to sum to one; then

        sum (A[i, k] - B[j, l])**2 P[i, j] P[k, l]  /  sum (A[i, k] - B[j, l])**2 p_i p_k q_j q_l

    both sums over masses that add up to one: 0 if all relations hold, about 1 if words go
    anywhere. 0 for fewer than two cells, and where the structures are one constant.

    Parameters
    ----------
    problems
        Pairs with structures, which are taken in single precision.
    plans
        Row-major n x m blocks of mass, one after another; they need not sum to one.
    threads
        As in `emd_batch`.
    """
    return _evaluate(broken_range, problems, plans, threads, sides=4)


def _evaluate(
    kernel: Callable[..., None],
    problems: Problems,
    plans: Floats,
    threads: int | None,
    *,
    sides: int = 0,
) -> Floats:
    """Run a kernel that takes plans as they are, and fills in a number for every head.

    It has room for the cells of a plan and, if it wants any, for ``sides`` numbers per word.
    """
    shapes, batch = problems.shapes, problems.batch
    if plans.shape != problems.cost.shape:
        raise InputError(f"plans.shape == {plans.shape} while cost.shape == {problems.cost.shape}")
    if not 0.0 <= plans.min(initial=0.0) <= plans.max(initial=0.0) < np.inf:
        raise InputError("plans have entries that are NaN, infinite or below 0; pass masses")
    with np.errstate(over="ignore"):  # to infinity, which is refused below
        single = np.asarray(problems.structure, np.float32)
    structures = problems.structures._replace(single=single)
    out = np.zeros(problems.scale.shape)

    def solve(low: int, high: int) -> None:
        cells = make_cells(int(shapes[low:high].prod(axis=1).max(initial=1)))
        words = [np.empty((sides, int(shapes[low:high].max(initial=1))))] if sides else []
        kernel(low, high, batch, plans, structures, cells, *words, out)

    share_out(solve, problems.scale.shape[1] * shapes.sum(axis=1) ** 2, threads)
    if not (finite := np.isfinite(out).all(axis=1)).all():
        raise InputError(
            f"pair {int(finite.argmin())}: its structures or plan have entries that are NaN, "
            f"infinite or too large to be squared and summed"
        )
    return out


def _solve(
    problems: Problems,
    structures: Structures | None,
    mix: float,
    null: float | Floats | None,
    threads: int | None,
    plans: bool,
) -> Many:
    """Solve for every head; without structures for the words alone."""
    sizes = shapes = problems.shapes
    heads, slots, effort = (1, 2, 1) if structures is None else (problems.heads, SLOTS, 4)
    linear, structural, gap, home = np.zeros((4, len(shapes), heads))
    room = np.zeros(problems.cost.size * heads if plans else 0)
    converged, calls = np.zeros(gap.shape, np.bool_), np.ones(gap.shape, np.int32)
    out = Outputs(linear, structural, room, calls, gap, converged, home)
    stop, batch, prices = np.zeros(1, np.int64), problems.batch, None
    if null is not None:
        effort, sizes, prices = 8, shapes + 1, checks.prices(null, gap.shape)

    def solve_range(low: int, high: int) -> None:
        space = allocate(sizes[low:high], slots, stop)
        if prices is None:
            if structures is None:
                emd_range(space, low, high, batch, out)
            else:
                fgw_range(space, low, high, batch, structures, mix, out)
            return
        room = allocate_partial(shapes[low:high])
        if structures is None:
            partial_emd_range(space, room, low, high, batch, prices, out)
        else:
            partial_fgw_range(space, room, low, high, batch, structures, mix, prices, out)

    work = shapes.sum(axis=1) * shapes.prod(axis=1) * (effort * heads)
    share_out(solve_range, work, threads, stop)
    if (refused := np.isnan(linear)).any():
        raise checks.refusal(problems, int(refused.any(axis=1).argmax()), structures is not None)
    if not converged.all():
        _warn_unconverged(converged)
    moved = linear.copy() if structures is None else (1.0 - mix) * linear + mix * structural
    return Solution(moved if prices is None else moved + prices * home, *out)


def _warn_unconverged(converged: Bools) -> None:
    """Say how many problems may not be solved to the end."""
    notify(
        f"{converged.size - int(converged.sum())} of {converged.size} transport problems "
        f"reached the bound on their effort; their plans are feasible and may not be optimal "
        f"(`converged` is False there). Scale costs and structures, or drop entries that no "
        f"plan can use",
        ConvergenceWarning,
    )
