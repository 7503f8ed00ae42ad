"""Exact linear transport (earth mover's distance)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from movers.arrays import Floats
from movers.solve import checks
from movers.solve.batch import Problems, emd_batch
from movers.solve.solution import One, pick


def emd(
    cost: ArrayLike,
    u: ArrayLike | None = None,
    v: ArrayLike | None = None,
    *,
    null: float | None = None,
) -> One:
    """Solve the transport problem exactly.

    ::

        min <C, P>   over   P >= 0,  P 1 = u,  Pᵀ 1 = v

    `emd_batch` solves many problems at once.

    Parameters
    ----------
    cost : (n, m)
        Cost of moving one unit.
    u, v : (n,) and (m,)
        Weights, scaled to sum to one on each side; None is uniform. Shares below 2**-53, about
        1e-16, count as 0.
    null
        Price of a unit of mass that stays at home: ``min <C, P> + null * home`` over plans with
        ``P 1 <= u`` and ``Pᵀ 1 <= v``, as `movers.solve.kernels.partial` explains. Weights are then
        masses, which are not scaled and need not weigh the same. None or infinite: all mass moves.

    Returns
    -------
    The solution. Costs may differ by any factor: the plan is optimal to the digits of the weights.
    Every search is bounded, and one that reaches its bound says so in ``converged`` and by a
    `ConvergenceWarning`; Ctrl-C ends a long one.

    Examples
    --------
    >>> import numpy as np
    >>> emd(np.array([[0.0, 2.0], [1.0, 1.0]])).value
    0.5
    >>> apart = emd(np.array([[0.0, 9.0], [9.0, 7.0]]), [1, 1], [1, 1], null=4.0)
    >>> apart.value, apart.home, apart.plan.tolist()
    (4.0, 1.0, [[1.0, 0.0], [0.0, 0.0]])
    """
    null, costs = checks.price(null), checks.matrix("cost", cost)
    posed = pose(costs, u, v, ("cost", "cost"), null)
    solved = emd_batch(posed, null=null, threads=1, plans=True)
    return pick(solved, 0, solved.plan.reshape(costs.shape))


def pose(
    cost: Floats,
    u: ArrayLike | None,
    v: ArrayLike | None,
    of: tuple[str, str],
    null: float | None,
    *structure: Floats,
    scale: float = 1.0,
) -> Problems:
    """Check the weights of a problem, named by what each side is ``of``, and lay all of it flat."""
    (n, m), start = cost.shape, np.zeros(1, np.int64)
    sides = checks.weights("u", u, n, of[0], null), checks.weights("v", v, m, of[1], null)
    linear = np.array([cost.shape]), cost.ravel(), *sides, start, start
    if not structure:
        return Problems(*linear)
    both = np.concatenate([side.ravel() for side in structure])
    return Problems(*linear, both, start, start + n * n, np.full((1, 1), scale))
