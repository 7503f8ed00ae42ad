"""Exact active-set method for a small quadratic programme over the simplex.

    min  slope · x + xᵀ gram x   over   x >= 0,  sum x = 1

The matrix need not be definite: the result is a local minimum, never above the start.
"""

import numpy as np

from movers.arrays import Floats
from movers.runtime.compiling import kernel
from movers.solve.kernels.workspace import Programme

FLAT = 1e-12


@kernel
def minimise_on_simplex(q: Programme, count: int, slack: float) -> bool:
    """Move x in place to a point that no single entry can improve by more than `slack`.

    Returns False if it took too many rounds; the point is no worse than the start all the same.

    Each round minimises over the entries in use, or follows a direction of no curvature to
    the boundary, where an entry drops out; at a minimum the most promising one comes in.
    """
    x, members, size = q.x, q.members, 0
    for i in range(count):
        if x[i] > 0.0:
            members[size] = i
            size += 1
    ended = False
    for _ in range(10 * count + 50):
        heaviest = 0  # is eliminated: the entry least likely to hit zero
        for k in range(1, size):
            if x[members[k]] > x[members[heaviest]]:
                heaviest = k
        members[0], members[heaviest] = members[heaviest], members[0]
        curved = _direction(q, count, size)
        length, blocked = _room(q, size)
        if curved and length >= 1.0:
            _move(q, size, 1.0)
            entering = _most_promising(q, count, slack)
            if entering < 0:
                ended = True
                break
            members[size] = entering
            size += 1
        else:
            _move(q, size, length)
            x[members[blocked]] = 0.0
            size -= 1
            for k in range(blocked, size):
                members[k] = members[k + 1]
    total = 0.0
    for i in range(count):
        total += x[i]
    for i in range(count):
        x[i] /= total
    return ended


@kernel
def _direction(q: Programme, count: int, size: int) -> bool:
    """Newton step over the members (True), or a descent direction without curvature (False).

    The first member pays for the others, so the reduced Hessian is
    ``2 (g_ij - g_i0 - g_0j + g_00)``; `factor` receives its Cholesky factor.
    """
    gram, members, factor, step = q.gram, q.members, q.factor, q.step
    first = members[0]
    for k in range(1, size):
        i = members[k]
        diagonal = 2.0 * (gram[i, i] - 2.0 * gram[i, first] + gram[first, first])
        pivot = diagonal
        for j in range(1, k):
            other = members[j]
            s = 2.0 * (gram[i, other] - gram[i, first] - gram[first, other] + gram[first, first])
            for t in range(1, j):
                s -= factor[k, t] * factor[j, t]
            factor[k, j] = s / factor[j, j]
            pivot -= factor[k, j] * factor[k, j]
        if pivot <= FLAT * abs(diagonal):
            _flat_direction(q, count, size, k)
            return False
        factor[k, k] = np.sqrt(pivot)
    for k in range(1, size):
        s = -_gradient_gap(q, count, members[k])
        for t in range(1, k):
            s -= factor[k, t] * step[t]
        step[k] = s / factor[k, k]
    _back_substitute(factor, step, size)
    return True


@kernel
def _flat_direction(q: Programme, count: int, size: int, k: int) -> None:
    """Direction along which the Hessian is not positive, pointing downhill."""
    step = q.step
    for t in range(1, k):
        step[t] = -q.factor[k, t]
    _back_substitute(q.factor, step, k)
    step[k] = 1.0
    step[0] -= 1.0
    for t in range(k + 1, size):
        step[t] = 0.0
    downhill = 0.0
    for t in range(1, k + 1):
        downhill += step[t] * _gradient_gap(q, count, q.members[t])
    if downhill > 0.0:
        for t in range(size):
            step[t] = -step[t]


@kernel
def _back_substitute(factor: Floats, step: Floats, size: int) -> None:
    """Solve with the transposed factor in place; the first member balances the rest."""
    balance = 0.0
    for k in range(size - 1, 0, -1):
        s = step[k]
        for t in range(k + 1, size):
            s -= factor[t, k] * step[t]
        step[k] = s / factor[k, k]
        balance -= step[k]
    step[0] = balance


@kernel
def _gradient_gap(q: Programme, count: int, i: int) -> float:
    """Difference of the partial derivatives by entry i and by the first member."""
    first, s = q.members[0], 0.0
    for j in range(count):
        s += (q.gram[i, j] - q.gram[first, j]) * q.x[j]
    gap: float = q.slope[i] - q.slope[first] + 2.0 * s
    return gap


@kernel
def _room(q: Programme, size: int) -> tuple[float, int]:
    """How far the step may go before an entry reaches zero, and which one."""
    length, blocked = np.inf, -1
    for k in range(size):
        x, step = q.x[q.members[k]], q.step[k]
        if step < 0.0 and x < -step * length:
            length, blocked = x / -step, k
    return length, blocked


@kernel
def _move(q: Programme, size: int, length: float) -> None:
    for k in range(size):
        q.x[q.members[k]] = max(0.0, q.x[q.members[k]] + length * q.step[k])


@kernel
def _most_promising(q: Programme, count: int, slack: float) -> int:
    """Unused entry with the steepest descent, or -1."""
    best, at = -slack, -1
    for i in range(count):
        if q.x[i] == 0.0:
            gap = _gradient_gap(q, count, i)
            if gap < best:
                best, at = gap, i
    return at
