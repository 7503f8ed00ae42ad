"""Exact linear transport (earth mover's distance)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from movers.solve import problems
from movers.solve.batch import emd_batch
from movers.solve.problems import Ragged
from movers.solve.solution import Solution

Matrix = NDArray[np.generic]
OptionalWeights = ArrayLike | None
ManyWeights = Sequence[OptionalWeights] | None


@overload
def emd(
    cost: Matrix,
    u: OptionalWeights = None,
    v: OptionalWeights = None,
    *,
    null: float | None = None,
    threads: int | None = None,
) -> Solution: ...


@overload
def emd(
    cost: Sequence[Matrix],
    u: ManyWeights = None,
    v: ManyWeights = None,
    *,
    null: float | None = None,
    threads: int | None = None,
) -> list[Solution]: ...


def emd(cost, u=None, v=None, *, null=None, threads=None):  # type: ignore[no-untyped-def]
    """Solve the transport problem exactly.

    ::

        min <C, P>   over   P >= 0,  P 1 = u,  Pᵀ 1 = v

    Parameters
    ----------
    cost : (n, m), or a list of such arrays
        Cost of moving one unit; a list is a batch of independent problems.
    u, v : (n,) and (m,), or lists of them
        Weights, scaled to sum to one on each side; None is uniform. Shares below 2**-53, about
        1e-16, count as 0.
    null
        Price of a unit of mass that stays at home: ``min <C, P> + null * home`` over plans with
        ``P 1 <= u`` and ``Pᵀ 1 <= v``, as `movers.solve.partial` explains. Weights are then
        masses, which are not scaled and need not weigh the same. None or infinite: all mass moves.
    threads
        Number of threads, by default one per available processor.

    Returns
    -------
    Solution, or a list of them for a list of problems. Costs may differ by any factor: the plan is
    optimal to the digits of the weights. Every search is bounded, and one that reaches its bound
    says so in ``converged`` and by a `ConvergenceWarning`; Ctrl-C ends a long batch.

    Examples
    --------
    >>> import numpy as np
    >>> emd(np.array([[0.0, 2.0], [1.0, 1.0]])).value
    0.5
    >>> apart = emd(np.array([[0.0, 9.0], [9.0, 7.0]]), [1, 1], [1, 1], null=4.0)
    >>> apart.value, apart.home, apart.plan.tolist()
    (4.0, 1.0, [[1.0, 0.0], [0.0, 0.0]])
    """
    if not problems.is_list(cost):
        return _solve([cost], [u], [v], null, threads)[0]
    count = len(cost)
    u, v = problems.as_many("u", u, count), problems.as_many("v", v, count)
    return _solve(cost, u, v, null, threads)


def _solve(
    costs: Sequence[ArrayLike],
    us: Sequence[OptionalWeights],
    vs: Sequence[OptionalWeights],
    null: float | None,
    threads: int | None,
) -> list[Solution]:
    null = problems.price(null)
    checked = [problems.matrix("cost", cost) for cost in costs]
    u = Ragged.of(
        [problems.weights("u", w, len(c), "cost", null) for w, c in zip(us, checked, strict=True)]
    )
    v = Ragged.of(
        [problems.weights("v", w, len(c.T), "cost", null) for w, c in zip(vs, checked, strict=True)]
    )
    shapes = np.array([c.shape for c in checked], np.int64).reshape(-1, 2)
    found = emd_batch(
        shapes,
        Ragged.of(checked).flat,
        u.flat,
        v.flat,
        u_start=u.start,
        v_start=v.start,
        null=null,
        threads=problems.thread_count(threads),
        plans=True,
    )
    return problems.solutions(shapes, found)
