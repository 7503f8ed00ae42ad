"""What solvers return."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from movers.arrays import Bools, Floats

Number = TypeVar("Number")
Count = TypeVar("Count")
Flag = TypeVar("Flag")
Counts = NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class Solution(Generic[Number, Count, Flag]):
    """Transport plans and what they cost: numbers for one problem, arrays for a batch.

    The arrays of a batch have the shape ``(pairs, heads)``.

    Attributes
    ----------
    value
        Objective, ``(1 - mix) * linear + mix * structural``, and the price of what stayed at home.
    linear
        Cost of moving, ``<C, P>``.
    structural
        Cost of bending, ``scale * sum (A[i, k] - B[j, l])**2 P[i, j] P[k, l]``.
    plan
        Mass moved from every source to every target token, shape ``(n, m)``; of a batch a block
        ``(heads, n, m)`` for every pair, all in one flat array, which is empty unless plans were
        asked for.
    iterations
        Number of linear transport problems solved on the way.
    gap
        Frank-Wolfe duality gap ``<G, P - P_c>``: 0 at a stationary plan, and an upper bound on
        what one more step could gain.
    converged
        False if a bound on the effort ended the search: the plan is feasible, and may not be
        optimal.
    home
        Mass that stayed at home, mean of both sides; its price is part of the value.
    """

    value: Number
    linear: Number
    structural: Number
    plan: Floats
    iterations: Count
    gap: Number
    converged: Flag
    home: Number


One = Solution[float, int, bool]
Many = Solution[Floats, Counts, Bools]
NUMBERS = ("value", "linear", "structural", "iterations", "gap", "converged", "home")
"""All of a solution but the plan."""


def linear_solution(
    value: Floats, plan: Floats, *, iterations: Counts | None = None, converged: Bools | None = None
) -> Many:
    """Return a batch with one number for every pair, all of it the cost of moving."""
    column = value[:, None]
    nothing = np.zeros_like(column)
    effort = np.ones(column.shape, np.int32) if iterations is None else iterations[:, None]
    ended = np.ones(column.shape, np.bool_) if converged is None else converged[:, None]
    return Solution(column, column.copy(), nothing, plan, effort, nothing, ended, nothing)


def pick(found: Many, head: int, plan: Floats) -> One:
    """Return what a batch of one pair found under a head, given its plan."""
    numbers: dict[str, Any] = {name: getattr(found, name)[0, head].item() for name in NUMBERS}
    return Solution(plan=plan, **numbers)
