"""Gromov-Wasserstein and fused Gromov-Wasserstein transport."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike

from movers.arrays import Floats
from movers.errors import InputError
from movers.solve import checks
from movers.solve.batch import fgw_batch
from movers.solve.linear import Matrix, Weighings, Weights
from movers.solve.solution import One, split

Many = Sequence[Matrix]
Problem = tuple[Any, Any, Any, Any, Any]
"""Cost, both structures and both weights, or lists of them."""


@overload
def gw(
    A: Matrix,
    B: Matrix,
    u: Weights = None,
    v: Weights = None,
    *,
    scale: float = 1.0,
    null: float | None = None,
    threads: int | None = None,
) -> One: ...


@overload
def gw(
    A: Many,
    B: Many,
    u: Weighings = None,
    v: Weighings = None,
    *,
    scale: float = 1.0,
    null: float | None = None,
    threads: int | None = None,
) -> list[One]: ...


def gw(A, B, u=None, v=None, *, scale=1.0, null=None, threads=None):  # type: ignore[no-untyped-def]
    """Find a plan between two structures (Gromov-Wasserstein, square loss).

    ::

        min  scale * sum (A[i, k] - B[j, l])**2 P[i, j] P[k, l]
        over P >= 0,  P 1 = u,  Pᵀ 1 = v

    The problem is not convex; the plan returned is a local minimum reached from ``u vᵀ``.

    Parameters
    ----------
    A, B : (n, n) and (m, m), or lists of such arrays
        Structures, not necessarily symmetric.
    u, v, null, threads
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
    return _solve(checks.is_list(A), (None, A, B, u, v), 1.0, scale, null, threads)


@overload
def fgw(
    cost: Matrix,
    A: Matrix,
    B: Matrix,
    u: Weights = None,
    v: Weights = None,
    *,
    mix: float = 0.5,
    scale: float = 1.0,
    null: float | None = None,
    threads: int | None = None,
) -> One: ...


@overload
def fgw(
    cost: Many,
    A: Many,
    B: Many,
    u: Weighings = None,
    v: Weighings = None,
    *,
    mix: float = 0.5,
    scale: float = 1.0,
    null: float | None = None,
    threads: int | None = None,
) -> list[One]: ...


def fgw(cost, A, B, u=None, v=None, *, mix=0.5, scale=1.0, null=None, threads=None):  # type: ignore[no-untyped-def]
    """Find a plan that moves little and bends little (fused Gromov-Wasserstein).

    ::

        min  (1 - mix) <C, P> + mix * scale * sum (A[i, k] - B[j, l])**2 P[i, j] P[k, l]
        over P >= 0,  P 1 = u,  Pᵀ 1 = v

    The problem is not convex; the plan returned is a local minimum reached from ``u vᵀ``
    [1]_. With ``mix=0`` it is the exact plan of `emd`, with ``mix=1`` the one of `gw`.

    Parameters
    ----------
    cost : (n, m), or a list of such arrays
        Cost of moving one unit.
    A, B : (n, n) and (m, m), or lists of such arrays
        Structures, not necessarily symmetric.
    u, v, null, threads
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
    return _solve(checks.is_list(cost), (cost, A, B, u, v), mix, scale, null, threads)


def _solve(
    many: bool, given: Problem, mix: float, scale: float, null: float | None, threads: int | None
) -> One | list[One]:
    """Check everything, solve as one batch of single heads; a cost of None is all zeros."""
    cost, A, B, u, v = given if many else ([one] for one in given)
    count = len(A if cost is None else cost)
    cost, A, B, u, v = checks.lists(count, cost=cost, A=A, B=B, u=u, v=v)
    scale, null = checks.factor("scale", scale), checks.price(null)
    A, B = ([checks.structure(name, x) for x in side] for name, side in (("A", A), ("B", B)))
    costs = [_cost(*three) for three in zip(cost, A, B, strict=True)]
    both = checks.flat([*A, *B])
    posed = replace(
        checks.pose(costs, u, v, ("A", "B"), null),
        structure=both.data,
        a_start=both.starts[:count],
        b_start=both.starts[count:-1],
        scale=np.full((count, 1), scale),
    )
    batch = fgw_batch(posed, mix=mix, null=null, threads=threads, plans=True)
    solutions = split(batch, posed.shapes)
    return solutions if many else solutions[0]


def _cost(given: ArrayLike | None, a: Floats, b: Floats) -> Floats:
    """Check a cost against the structures it belongs to."""
    if given is None:
        return np.zeros((len(a), len(b)))
    cost = checks.matrix("cost", given)
    for name, side, size in (("A", a, cost.shape[0]), ("B", b, cost.shape[1])):
        if len(side) != size:
            raise InputError(
                f"cost.shape == {cost.shape} while {name}.shape == {side.shape}; "
                f"cost needs a row per token of A and a column per token of B"
            )
    return cost
