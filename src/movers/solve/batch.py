"""Ragged batches of exact transport problems: the hot path of the library.

Nothing here runs Python per problem. A batch is cut into ranges of similar work, which threads
take one by one; a result never depends on the cut.
"""

from __future__ import annotations

import numpy as np

from movers.arrays import Bools, Floats
from movers.runtime.notices import ConvergenceWarning, notify
from movers.runtime.threads import share_out
from movers.solve.kernels.batches import Found, Structures, Terms
from movers.solve.partial import solve_partial
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
        masses, which are not scaled. See `movers.solve.partial`. None: all mass moves.
    threads
        Number of threads, by default one per available processor.
    plans
        Also return the plans.
    """
    if null is not None:
        terms = _terms(null, (len(problems), 1), 0.0, thorough=False)
        return _partial(problems, terms, None, threads, plans)
    from movers.solve.kernels.ranges import emd_range  # loads numba, so not before the call
    from movers.solve.kernels.workspace import allocate

    shapes, batch = problems.shapes, problems.batch
    out = _room(problems, 1, plans)
    stop = np.zeros(1, np.int64)

    def solve(low: int, high: int) -> None:
        space = allocate(shapes[low:high], slots=1, stop=stop)
        emd_range(space, low, high, batch, out)

    share_out(solve, shapes.sum(axis=1) * shapes.prod(axis=1), threads, stop)
    if not out.converged.all():
        _warn_of_bounds(out.converged)
    return Solution(out.linear.copy(), *out)


def fgw_batch(
    problems: Problems,
    *,
    mix: float,
    null: float | Floats | None = None,
    thorough: bool = True,
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
    thorough
        Where mass may stay at home, whether to look for the best of several local minima, or to
        be content with the one near the plan of the words, in a quarter of the time.
    threads, plans
        As in `emd_batch`.
    """
    if null is not None:
        terms = _terms(null, problems.scale.shape, mix, thorough=thorough)
        return _partial(problems, terms, problems.structures, threads, plans)
    from movers.solve.kernels.ranges import fgw_range  # loads numba, so not before the call
    from movers.solve.kernels.workspace import SLOTS, allocate

    shapes, batch, structures = problems.shapes, problems.batch, problems.structures
    heads = problems.scale.shape[1]
    out = _room(problems, heads, plans)
    stop = np.zeros(1, np.int64)

    def solve(low: int, high: int) -> None:
        space = allocate(shapes[low:high], slots=SLOTS, stop=stop)
        fgw_range(space, low, high, batch, structures, float(mix), out)

    work = shapes.sum(axis=1) * shapes.prod(axis=1) * 4 * heads
    share_out(solve, work, threads, stop)
    if not out.converged.all():
        _warn_of_bounds(out.converged)
    return Solution((1.0 - mix) * out.linear + mix * out.structural, *out)


def price_batch(problems: Problems, plans: Floats, *, threads: int | None = None) -> Floats:
    """Evaluate ``E(Q) = sum (A[i, k] - B[j, l])**2 Q[i, j] Q[k, l]`` for every pair and head.

    ``plans`` are row-major n x m blocks of mass, one after another, and need not sum to one.
    Structure is taken in single precision.
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

    share_out(solve, problems.scale.shape[1] * shapes.sum(axis=1) ** 2, threads)
    return out


def _terms(null: float | Floats, shape: tuple[int, ...], mix: float, *, thorough: bool) -> Terms:
    prices = np.array(np.broadcast_to(null, shape), np.float64)  # a copy: kernels want to own it
    return Terms(prices, float(mix), thorough)


def _partial(
    problems: Problems,
    terms: Terms,
    structures: Structures | None,
    threads: int | None,
    plans: bool,
) -> Many:
    """Solve problems where mass may stay at home; without structures, for the words alone."""
    out = _room(problems, terms.null.shape[1], plans)
    solve_partial(problems, terms, structures, out, threads)
    if not out.converged.all():
        _warn_of_bounds(out.converged)
    moved = (1.0 - terms.mix) * out.linear + terms.mix * out.structural
    return Solution(moved + terms.null * out.home, *out)


def _room(problems: Problems, heads: int, plans: bool) -> Found:
    """Room for the results; an optimum of a cost alone takes one linear problem."""
    shape = len(problems.shapes), heads
    linear, structural, gap, home = np.zeros((4, *shape))
    room = np.zeros(problems.cost.size * heads if plans else 0)
    ended = np.zeros(shape, np.bool_)
    return Found(linear, structural, room, np.ones(shape, np.int32), gap, ended, home)


def _warn_of_bounds(converged: Bools) -> None:
    notify(
        f"{converged.size - int(converged.sum())} of {converged.size} transport problems "
        f"reached the bound on their effort; their plans are feasible and may not be optimal "
        f"(`converged` is False there). Scale costs and structures, or drop entries that no "
        f"plan can use",
        ConvergenceWarning,
    )
