"""Frank-Wolfe on the fused objective, with an exact finish over the active vertices.

    min over transport plans P of  <L, P> + q * (constant - <M(P), P>)

A plan is a convex combination of vertices, and a gradient the same combination of theirs, so
the dense plan is never formed. Most problems end after a step or two at a vertex. The rest
would zigzag towards a face for thousands of steps: once the linear problem keeps returning
known vertices, the quadratic programme over their hull is solved exactly after every call.
"""

import numpy as np

from movers.runtime.compiling import inlined, kernel
from movers.solve.kernels.active_set import minimise_on_simplex
from movers.solve.kernels.gradient import padded, set_gradient
from movers.solve.kernels.vertices import find_active, find_vertex, on_cells
from movers.solve.kernels.workspace import CALLS, Margins, Workspace

RELATIVE = 1e-9
REPEATS = 6
PARTIAL_STEPS = 50


@inlined
def descend(
    w: Workspace,
    n: int,
    m: int,
    square: bool,
    unit: float,
    factor: float,
    constant: float,
    floor: float,
    quadratic: float,
    margins: Margins | None = None,
) -> tuple[int, int, float, bool]:
    """Minimise from the start in slot 0, whose gradient is in place: the product plan.

    `constant` is that of the objective, `quadratic` its quadratic part at the start. The tolerance
    on the duality gap is 1e-9 of the value and `floor`. Without `margins` the marginals are fixed;
    with them the last row and column are homes.

    Returns the number of active vertices and of linear problems solved, the last gap, and False if
    a bound on the effort ended the search.
    """
    linear = w.linear_of[0]
    for i in range(n):
        for j in range(padded(m)):
            w.gradients[0, i, j] = w.gradient[i, j]
    w.active[0] = 0
    w.weight[0] = 1.0
    active, repeats, partial, calls = 1, 0, 0, 0
    exact, converged, balanced = False, True, True
    gap, initial = 0.0, quadratic
    while True:
        calls += 1
        slot = calls
        tolerance = RELATIVE * abs(linear + quadratic + constant) + floor
        reached = find_vertex(w, n, m, square, unit, 0.1 * tolerance, slot)
        there = on_cells(w, w.gradient, n, m, slot)
        gap = linear + 2.0 * quadratic - there
        if gap <= tolerance or calls == CALLS or w.stop[0] != 0:
            converged = gap <= tolerance and reached < np.inf
            break
        known = find_active(w, n + m, active, slot)
        if known < 0:
            set_gradient(w, n, m, square, factor, slot, margins)
            w.linear_of[slot] = on_cells(w, w.linear, n, m, slot)
            w.active[active], w.weight[slot] = slot, 0.0
            active += 1
            repeats = 0
        elif exact:
            converged = balanced and reached < np.inf
            break  # the quadratic programme has already balanced this one
        else:
            slot = w.active[known]
            repeats += 1
        if exact:
            linear, quadratic, balanced = _rebalance(
                w, n, m, active - 1, active, initial, 0.1 * tolerance
            )
            continue
        own = (on_cells(w, w.gradients[slot], n, m, slot) - w.linear_of[slot]) / 2.0
        cross = (there - w.linear_of[slot]) / 2.0
        curvature = own - 2.0 * cross + quadratic
        t = gap / (2.0 * curvature) if 2.0 * curvature > gap else 1.0
        if t == 1.0:
            active, repeats, partial = 1, 0, 0
            w.active[0], w.weight[slot] = slot, 0.0
        else:
            partial += 1
        for i in range(n):
            for j in range(padded(m)):  # all the way is exact
                to = w.gradients[slot, i, j]
                w.gradient[i, j] = (1.0 - t) * w.gradient[i, j] + t * to
        for k in range(active):
            w.weight[w.active[k]] *= 1.0 - t
        w.weight[slot] += t
        linear += t * (w.linear_of[slot] - linear)
        quadratic = (1.0 - t) ** 2 * quadratic + 2.0 * t * (1.0 - t) * cross + t * t * own
        if repeats >= REPEATS or partial >= PARTIAL_STEPS:
            exact = True
            linear, quadratic, balanced = _rebalance(w, n, m, 0, active, initial, 0.1 * tolerance)
    return active, calls, max(gap, 0.0), converged


@kernel
def _rebalance(
    w: Workspace, n: int, m: int, known: int, active: int, initial: float, slack: float
) -> tuple[float, float, bool]:
    """Solve for the best weights of the active vertices, and renew the gradient.

    The Gram matrix of the first `known` vertices is in place. Returns the linear and the
    quadratic part of the objective, and whether the weights are the best.
    """
    q = w.programme
    for i in range(active):
        q.x[i] = w.weight[w.active[i]]
    _extend_gram(w, n, m, known, active, initial)
    balanced = minimise_on_simplex(q, active, slack)
    w.gradient[:n] = 0.0
    linear, quadratic = 0.0, 0.0
    for i in range(active):
        x = q.x[i]
        w.weight[w.active[i]] = x
        if x > 0.0:
            linear += x * q.slope[i]
            for j in range(active):
                quadratic += x * q.x[j] * q.gram[i, j]
            for k in range(n):
                for j in range(padded(m)):
                    w.gradient[k, j] += x * w.gradients[w.active[i], k, j]
    return linear, quadratic, balanced


@kernel
def _extend_gram(w: Workspace, n: int, m: int, start: int, active: int, initial: float) -> None:
    """Fill the Gram matrix from position `start` on; the start itself is not sparse."""
    gram, slope = w.programme.gram, w.programme.slope
    for i in range(start, active):
        slot = w.active[i]
        slope[i] = w.linear_of[slot]
        for j in range(i + 1):
            other = w.active[j]
            if other > 0:
                x = on_cells(w, w.gradients[slot], n, m, other) - w.linear_of[other]
            elif slot > 0:
                x = on_cells(w, w.gradients[0], n, m, slot) - w.linear_of[slot]
            else:
                x = 2.0 * initial
            gram[i, j] = gram[j, i] = x / 2.0
