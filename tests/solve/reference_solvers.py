"""The slow, obvious twin of the kernels: plain numpy, one problem, dense plans.

It follows the text-book recipe step by step and exists to be read and to be compared with.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog

from movers.arrays import Floats
from movers.solve.solution import One, Solution

TOLERANCE = 1e-9
MOST_ITERATIONS = 2000
ENOUGH = 1e-5


def emd(cost: Floats, u: Floats, v: Floats) -> Floats:
    """Plan that minimises ``<C, P>``, by a general linear programme."""
    sums, weights = _sums(*cost.shape), np.concatenate([u, v])
    found = linprog(cost.ravel(), A_eq=sums, b_eq=weights, method="highs-ds")
    plan: Floats = found.x.reshape(cost.shape)
    return plan


def _sums(n: int, m: int) -> Floats:
    """Return what takes a flat plan to the sums of its rows, then of its columns."""
    return np.vstack([np.kron(np.eye(n), np.ones(m)), np.kron(np.ones(n), np.eye(m))])


def energy(A: Floats, B: Floats, plan: Floats) -> float:
    """``E(P) = sum (A[i, k] - B[j, l])**2 P[i, j] P[k, l]``, term by term."""
    difference = A[:, None, :, None] - B[None, :, None, :]
    return float(np.einsum("ijkl,ij,kl->", difference**2, plan, plan))


def fgw(
    cost: Floats, A: Floats, B: Floats, u: Floats, v: Floats, *, mix: float, scale: float
) -> One:
    """Minimise ``(1 - mix) <C, P> + mix * scale * E(P)`` by Frank-Wolfe from ``u vᵀ``."""
    plan = np.outer(u, v)
    value = _value(cost, A, B, plan, mix, scale)
    iterations, gap = 0, np.inf
    while iterations < MOST_ITERATIONS:
        iterations += 1
        gradient = _gradient(cost, A, B, u, v, plan, mix, scale)
        direction = emd(gradient, u, v) - plan
        gap = -float((gradient * direction).sum())
        plan = plan + _step(A, B, direction, -gap, mix * scale) * direction
        before, value = value, _value(cost, A, B, plan, mix, scale)
        if before - value <= TOLERANCE * abs(value) or before - value <= TOLERANCE**2:
            break
    parts = float((cost * plan).sum()), scale * energy(A, B, plan)
    return Solution(value, *parts, plan, iterations, gap, iterations < MOST_ITERATIONS, 0.0)


def _value(cost: Floats, A: Floats, B: Floats, plan: Floats, mix: float, scale: float) -> float:
    return float((1 - mix) * (cost * plan).sum() + mix * scale * energy(A, B, plan))


def _gradient(
    cost: Floats, A: Floats, B: Floats, u: Floats, v: Floats, plan: Floats, mix: float, scale: float
) -> Floats:
    """Gradient for structures that need not be symmetric: mean over both orientations."""
    structural = np.zeros_like(plan)
    for X, Y in ((A, B), (A.T, B.T)):
        squares = (X**2 @ u)[:, None] + (Y**2 @ v)[None, :]
        structural += squares - 2 * X @ plan @ Y.T
    result: Floats = (1 - mix) * cost + mix * scale * structural
    return result


def _step(A: Floats, B: Floats, direction: Floats, slope: float, strength: float) -> float:
    """Minimise the parabola ``slope * t + curvature * t**2`` over [0, 1]."""
    curvature = -2 * strength * float((A @ direction @ B.T * direction).sum())
    if curvature > 0:
        return float(np.clip(-slope / (2 * curvature), 0, 1))
    return 1.0 if curvature + slope < 0 else 0.0


def partial_emd(cost: Floats, u: Floats, v: Floats, *, null: float) -> One:
    """Minimise ``<C, P> + null * home`` by a general linear programme with inequalities."""
    sums, weights = _sums(*cost.shape), np.concatenate([u, v])
    found = linprog(cost.ravel() - null, A_ub=sums, b_ub=weights, method="highs-ds")
    plan = found.x.reshape(cost.shape)
    home = float((u.sum() + v.sum()) / 2 - plan.sum())
    linear = float((cost * plan).sum())
    return Solution(linear + null * home, linear, 0.0, plan, 1, 0.0, True, home)


def partial_fgw(
    cost: Floats,
    A: Floats,
    B: Floats,
    u: Floats,
    v: Floats,
    *,
    mix: float,
    scale: float,
    null: float,
) -> One:
    """Minimise ``(1 - mix) <C, P> + mix * scale * E(P) + null * home`` by Frank-Wolfe.

    It starts from the plan that is best without structure.
    """
    plan = partial_emd((1 - mix) * cost, u, v, null=null).plan
    iterations, gap = 0, np.inf
    enough = ENOUGH * (u.sum() + v.sum()) * cost.mean()
    while iterations < MOST_ITERATIONS and gap > enough:
        iterations += 1
        gradient = _gradient(cost, A, B, plan.sum(axis=1), plan.sum(axis=0), plan, mix, scale)
        direction = partial_emd(gradient, u, v, null=null).plan - plan
        gap = float(((null - gradient) * direction).sum())
        curvature = mix * scale * energy(A, B, direction)
        plan = plan + (min(1.0, gap / (2 * curvature)) if curvature > 0 else 1.0) * direction
    home = float((u.sum() + v.sum()) / 2 - plan.sum())
    value = _value(cost, A, B, plan, mix, scale) + null * home
    parts = float((cost * plan).sum()), scale * energy(A, B, plan)
    return Solution(value, *parts, plan, iterations, gap, gap <= enough, home)
