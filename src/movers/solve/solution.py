"""What a solver returns."""

from __future__ import annotations

from dataclasses import dataclass

from movers.runtime.compiling import Floats


@dataclass(frozen=True, slots=True, eq=False)
class Solution:
    """A transport plan and what it costs.

    Attributes
    ----------
    value
        Objective, ``(1 - mix) * linear + mix * structural``.
    linear
        Cost of moving, ``<C, P>``.
    structural
        Cost of bending, ``scale * sum (A[i, k] - B[j, l])**2 P[i, j] P[k, l]``.
    plan : (n, m)
        Mass moved from every source to every target token.
    iterations
        Number of linear transport problems solved on the way.
    gap
        Frank-Wolfe duality gap ``<G, P - P_c>``: 0 at a stationary plan.
    converged
        False if a bound on the effort ended the search: the plan is feasible, and may not be
        optimal.
    home
        Mass that stayed at home, mean of both sides; its price is part of the value.
    """

    value: float
    linear: float
    structural: float
    plan: Floats
    iterations: int
    gap: float
    converged: bool = True
    home: float = 0.0
