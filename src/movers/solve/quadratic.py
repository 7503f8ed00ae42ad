"""Gromov-Wasserstein and fused Gromov-Wasserstein transport."""

from __future__ import annotations

from collections.abc import Sequence
from typing import overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from movers.arrays import Floats
from movers.errors import InputError
from movers.solve import checks
from movers.solve.batch import fgw_batch
from movers.solve.linear import ManyWeights, OptionalWeights
from movers.solve.problems import Problems
from movers.solve.solution import One, split

Matrix = NDArray[np.generic]


@overload
def gw(
    A: Matrix,
    B: Matrix,
    u: OptionalWeights = None,
    v: OptionalWeights = None,
    *,
    scale: float = 1.0,
    null: float | None = None,
    threads: int | None = None,
) -> One: ...


@overload
def gw(
    A: Sequence[Matrix],
    B: Sequence[Matrix],
    u: ManyWeights = None,
    v: ManyWeights = None,
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
    if not checks.is_list(A):
        return _solve([None], [A], [B], [u], [v], 1.0, scale, null, threads)[0]
    count = len(A)
    B, u, v = (checks.as_many(name, given, count) for name, given in (("B", B), ("u", u), ("v", v)))
    return _solve([None] * count, A, B, u, v, 1.0, scale, null, threads)


@overload
def fgw(
    cost: Matrix,
    A: Matrix,
    B: Matrix,
    u: OptionalWeights = None,
    v: OptionalWeights = None,
    *,
    mix: float = 0.5,
    scale: float = 1.0,
    null: float | None = None,
    threads: int | None = None,
) -> One: ...


@overload
def fgw(
    cost: Sequence[Matrix],
    A: Sequence[Matrix],
    B: Sequence[Matrix],
    u: ManyWeights = None,
    v: ManyWeights = None,
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
    if not checks.is_list(cost):
        return _solve([cost], [A], [B], [u], [v], mix, scale, null, threads)[0]
    count = len(cost)
    A, B, u, v = (
        checks.as_many(name, given, count)
        for name, given in (("A", A), ("B", B), ("u", u), ("v", v))
    )
    return _solve(cost, A, B, u, v, mix, scale, null, threads)


def _solve(
    costs: Sequence[ArrayLike | None],
    sources: Sequence[ArrayLike],
    targets: Sequence[ArrayLike],
    us: Sequence[OptionalWeights],
    vs: Sequence[OptionalWeights],
    mix: float,
    scale: float,
    null: float | None,
    threads: int | None,
) -> list[One]:
    """Check everything, solve as one batch of single heads; a cost of None is all zeros."""
    mix, scale = checks.fraction("mix", mix), checks.factor("scale", scale)
    null = checks.price(null)
    A = [checks.structure("A", a) for a in sources]
    B = [checks.structure("B", b) for b in targets]
    cost = [_cost(c, a, b) for c, a, b in zip(costs, A, B, strict=True)]
    u = [checks.weights("u", w, len(a), "A", null) for w, a in zip(us, A, strict=True)]
    v = [checks.weights("v", w, len(b), "B", null) for w, b in zip(vs, B, strict=True)]
    flat_u, flat_v, both = checks.flat(u), checks.flat(v), checks.flat([*A, *B])
    posed = Problems(
        shapes=np.array([c.shape for c in cost], np.int64).reshape(-1, 2),
        cost=checks.flat(cost).data,
        u=flat_u.data,
        v=flat_v.data,
        u_start=flat_u.starts[:-1],
        v_start=flat_v.starts[:-1],
        structure=both.data,
        a_start=both.starts[: len(A)],
        b_start=both.starts[len(A) : -1],
        scale=np.full((len(cost), 1), scale),
    )
    threads = checks.thread_count(threads)
    found = fgw_batch(posed, mix=mix, null=null, threads=threads, plans=True)
    return split(found, posed.shapes)


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
