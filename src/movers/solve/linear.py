"""Exact linear transport (earth mover's distance)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from movers.solve import checks
from movers.solve.batch import emd_batch
from movers.solve.solution import One, split

Matrix = NDArray[np.generic]
Weights = ArrayLike | None
Weighings = Sequence[Weights] | None


@overload
def emd(
    cost: Matrix,
    u: Weights = None,
    v: Weights = None,
    *,
    null: float | None = None,
    threads: int | None = None,
) -> One: ...


@overload
def emd(
    cost: Sequence[Matrix],
    u: Weighings = None,
    v: Weighings = None,
    *,
    null: float | None = None,
    threads: int | None = None,
) -> list[One]: ...


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
        ``P 1 <= u`` and ``Pᵀ 1 <= v``, as `movers.solve.kernels.partial` explains. Weights are then
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
    many = checks.is_list(cost)
    cost, u, v = checks.lists(len(cost), cost=cost, u=u, v=v) if many else ([cost], [u], [v])
    null = checks.price(null)
    posed = checks.pose([checks.matrix("cost", one) for one in cost], u, v, ("cost", "cost"), null)
    solutions = split(emd_batch(posed, null=null, threads=threads, plans=True), posed.shapes)
    return solutions if many else solutions[0]
