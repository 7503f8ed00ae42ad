"""Partial transport: mass may stay at home, for a price τ per unit (`null`).

::

    min  (1 - mix) <C, P> + mix * scale * E(P) + τ * home(P)
    over P >= 0,  P 1 <= u,  Pᵀ 1 <= v

    E(P)    = sum (A[i, k] - B[j, l])**2 P[i, j] P[k, l]
    home(P) = (|u| - |P| + |v| - |P|) / 2

``|x|`` is the sum of x. A unit that is not moved is missing on both sides, and each of them
charges half of τ; where both weigh one, ``home`` is the mass that is not moved. Weights are
masses: they are not scaled, and sides may weigh differently. What one side has more than the
other stays at home whatever the price.

**When a unit moves.** Only ``-τ |P|`` depends on the plan, so more mass moves as long as it is
charged less than τ for it. At τ = 0 nothing moves but for nothing, and the value never falls as τ
grows. For words alone everything moves that can once τ is at least the highest cost; with
structure once it is at least that plus twice the widest difference of two entries, squared, times
the mass (`movers.solve.kernels.partial`). The price is cut off there: the plan is the same.

**Structure.** Words that stay at home take no part in E: only pairs of moved words are compared.
E is of degree two in the mass, so a plan may escape from bending by leaving words at home, and
that is what τ is paid for: the next unit from i to j is charged
``sum ((A[i, k] - B[j, l])**2 + (A[k, i] - B[l, j])**2) P[k, l]``, what it disagrees with those
moved already. Dividing E by the mass would make the first words as dear as the last, and the
problem no longer quadratic. With masses other than one in all, say one per word, divide ``scale``
by the mass to keep the same balance.

**How it is solved.** One more row and one more column take what stays at home: a linear problem is
an exact transport problem of (n + 1) x (m + 1), with the same simplex and guarantees as whole
plans. The fused problem is not convex. Frank-Wolfe with exact line search starts from the plan of
the words alone, from the product plan, and from the best plan of the mass that was found to move;
the best local minimum is returned.
"""

from __future__ import annotations

from collections.abc import Callable

from movers.solve.kernels import partial
from movers.solve.kernels.batch_arrays import Outputs, Structures, Terms
from movers.solve.kernels.workspace import Workspace, allocate_partial
from movers.solve.problems import Problems

Solver = Callable[[int, int, Workspace, Outputs], None]
"""Takes a range of problems, memory for them and room for what it finds."""


def partial_solver(problems: Problems, terms: Terms, structures: Structures | None) -> Solver:
    """Return what solves ranges of the problems above; without structures, for words alone."""
    batch = problems.batch

    def solve(low: int, high: int, space: Workspace, out: Outputs) -> None:
        room = allocate_partial(problems.shapes[low:high])
        if structures is None:
            partial.partial_emd_range(space, room, low, high, batch, terms, out)
        else:
            partial.partial_fgw_range(space, room, low, high, batch, structures, terms, out)

    return solve
