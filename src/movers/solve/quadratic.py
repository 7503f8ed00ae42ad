"""Gromov-Wasserstein and fused Gromov-Wasserstein transport."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from movers.errors import InputError
from movers.solve import checks
from movers.solve.batch import fgw_batch
from movers.solve.linear import pose
from movers.solve.solution import One, pick


def gw(
    A: ArrayLike,
    B: ArrayLike,
    u: ArrayLike | None = None,
    v: ArrayLike | None = None,
    *,
    scale: float = 1.0,
    null: float | None = None,
) -> One:
    """Find a plan between two structures (Gromov-Wasserstein, square loss).

    ::

        min  scale * sum (A[i, k] - B[j, l])**2 P[i, j] P[k, l]
        over P >= 0,  P 1 = u,  Pᵀ 1 = v

    The problem is not convex; the plan returned is a local minimum reached from ``u vᵀ``.

    Parameters
    ----------
    A, B : (n, n) and (m, m)
        Structures, not necessarily symmetric.
    u, v, null
        As in `emd`; words that stay at home take no part in the structures.
    scale
        Factor of the energy.

    Examples
    --------
    >>> import numpy as np
    >>> path = np.array([[0.0, 1.0], [0.0, 0.0]])
    >>> gw(path, path).value
    0.0
    """
    return _solve(None, A, B, u, v, 1.0, scale, null)


def fgw(
    cost: ArrayLike,
    A: ArrayLike,
    B: ArrayLike,
    u: ArrayLike | None = None,
    v: ArrayLike | None = None,
    *,
    mix: float = 0.5,
    scale: float = 1.0,
    null: float | None = None,
) -> One:
    """Find a plan that moves little and bends little (fused Gromov-Wasserstein).

    ::

        min  (1 - mix) <C, P> + mix * scale * sum (A[i, k] - B[j, l])**2 P[i, j] P[k, l]
        over P >= 0,  P 1 = u,  Pᵀ 1 = v

    The problem is not convex; the plan returned is a local minimum reached from ``u vᵀ``
    [1]_. With ``mix=0`` it is the exact plan of `emd`, with ``mix=1`` the one of `gw`.

    Parameters
    ----------
    cost : (n, m)
        Cost of moving one unit.
    A, B : (n, n) and (m, m)
        Structures, not necessarily symmetric.
    u, v, null
        As in `emd`; words that stay at home take no part in the structures.
    mix
        Share of the structural part, between 0 and 1.
    scale
        Factor of the structural part.

    References
    ----------
    .. [1] T. Vayer, L. Chapel, R. Flamary, R. Tavenard, N. Courty, "Optimal transport for
       structured data with application on graphs", ICML 2019.

    Examples
    --------
    >>> import numpy as np
    >>> cost = np.array([[0.0, 1.0], [1.0, 0.0]])
    >>> swap = fgw(cost, np.array([[0.0, 1.0], [0.0, 0.0]]), np.array([[0.0, 0.0], [1.0, 0.0]]))
    >>> swap.value, swap.linear, swap.structural
    (0.25, 0.0, 0.5)
    """
    return _solve(cost, A, B, u, v, mix, scale, null)


def _solve(
    cost: ArrayLike | None,
    A: ArrayLike,
    B: ArrayLike,
    u: ArrayLike | None,
    v: ArrayLike | None,
    mix: float,
    scale: float,
    null: float | None,
) -> One:
    """Check everything and solve a batch of one; a cost of None is all zeros."""
    scale, null = checks.factor("scale", scale), checks.price(null)
    a, b = checks.structure("A", A), checks.structure("B", B)
    costs = np.zeros((len(a), len(b))) if cost is None else checks.matrix("cost", cost)
    for name, side, size in (("A", a, costs.shape[0]), ("B", b, costs.shape[1])):
        if len(side) != size:
            raise InputError(
                f"cost.shape == {costs.shape} while {name}.shape == {side.shape}; "
                f"cost needs a row per token of A and a column per token of B"
            )
    posed = pose(costs, u, v, ("A", "B"), null, a, b, scale=scale)
    solved = fgw_batch(posed, mix=mix, null=null, threads=1, plans=True)
    return pick(solved, 0, solved.plan.reshape(costs.shape))
