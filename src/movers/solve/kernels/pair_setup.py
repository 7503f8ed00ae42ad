"""What all heads of a pair share: kept tokens, whole masses, the cost and its own optimum."""

import numpy as np

from movers.arrays import Floats, Ints
from movers.runtime.compiling import inlined, kernel
from movers.solve.kernels.gradient import FORBIDDEN, padded
from movers.solve.kernels.simplex import PARENT, improve_exactly, northwest
from movers.solve.kernels.vertices import find_vertex, list_cells, on_cells
from movers.solve.kernels.workspace import LARGEST, LINKS, Batch, Optimum, Workspace

WHOLE = 2.0**52
LIGHT = 1e-8
"""A share of which whole masses do not leave enough digits."""
PRECISION = 1e-13
SAFE = 1e-9
"""How large the slack may be beside the optimum before it is looked for with all digits."""


@inlined
def total_of(store: Floats, start: int, count: int) -> float:
    """Sum of ``store[start : start + count]``."""
    total = 0.0
    for i in range(start, start + count):
        total += store[i]
    return total


@kernel
def keep_heavy(store: Floats, start: int, count: int, total: float, keep: Ints) -> int:
    """List the tokens whose share of a total does not round to zero; return their number.

    It is -1 where some weight is negative or not a finite number, or their sum is too large.
    """
    if not total < np.inf:
        return -1
    kept = 0
    for i in range(count):
        if not store[start + i] >= 0.0:
            return -1
        if store[start + i] * WHOLE >= 0.5 * total and total > 0.0:
            keep[kept] = i
            kept += 1
    return kept


@kernel
def is_uniform(store: Floats, start: int, keep: Ints, kept: int) -> bool:
    """Whether all kept tokens weigh the same."""
    for i in range(kept):
        if store[start + keep[i]] != store[start + keep[0]]:
            return False
    return True


@kernel
def _shares(store: Floats, start: int, keep: Ints, kept: int, real: Floats, whole: Floats) -> bool:
    """Fill in shares, real ones and multiples of 2**-52 that sum to one exactly.

    Returns whether some are so light as to need the real ones.
    """
    total, least = 0.0, np.inf
    for i in range(kept):
        total += store[start + keep[i]]
        least = min(least, store[start + keep[i]])
    left, heaviest = WHOLE, 0
    for i in range(kept):
        real[i] = store[start + keep[i]] / total
        whole[i] = np.floor(real[i] * WHOLE + 0.5)
        left -= whole[i]
        if whole[i] > whole[heaviest]:
            heaviest = i
    whole[heaviest] += left
    return least < LIGHT * total


@inlined
def load_weights(w: Workspace, batch: Batch, p: int) -> tuple[int, int, bool, float]:
    """Set the masses of the pair; return kept sizes, "is an assignment", and the unit of mass.

    The unit is 0 where some tokens are so light that plans need their real shares. A size below 1
    means that there is nothing to move, or weights are none.
    """
    u, v, u_start, v_start = batch.u, batch.v, batch.u_start[p], batch.v_start[p]
    rows, columns = batch.shapes[p, 0], batch.shapes[p, 1]
    n = keep_heavy(u, u_start, rows, total_of(u, u_start, rows), w.keep_rows)
    m = keep_heavy(v, v_start, columns, total_of(v, v_start, columns), w.keep_columns)
    if n < 1 or m < 1:
        return n, m, False, 0.0
    uniform = is_uniform(u, u_start, w.keep_rows, n) and is_uniform(v, v_start, w.keep_columns, m)
    if uniform:
        unit = 1.0 / (n * m)
        w.supply[:n] = m
        w.demand[:m] = n
    else:
        unit = 1.0 / WHOLE
        light_u = _shares(u, u_start, w.keep_rows, n, w.u, w.supply)
        light_v = _shares(v, v_start, w.keep_columns, m, w.v, w.demand)
        if light_u or light_v:
            return n, m, False, 0.0
    for i in range(n):
        w.u[i] = w.supply[i] * unit
    for j in range(m):
        w.v[j] = w.demand[j] * unit
    return n, m, uniform and n == m, unit


@kernel
def load_cost(
    w: Workspace, batch: Batch, p: int, n: int, m: int, share: float
) -> tuple[float, float, float, float]:
    """Copy the kept cost, and `share` times it as linear part.

    Returns the mean cost and the mean absolute linear part under the product plan, and the lowest
    and the highest linear part. The mean is NaN where a cost is above `LARGEST` or not a number.
    """
    width = padded(m)
    cost, start, columns = batch.cost, batch.cost_start[p], batch.shapes[p, 1]
    mean, typical, lowest, highest, largest = 0.0, 0.0, np.inf, -np.inf, 0.0
    for i in range(n):
        row = start + w.keep_rows[i] * columns
        for j in range(m):
            x = cost[row + w.keep_columns[j]]
            w.cost[i, j] = x
            w.linear[i, j] = share * x
            mean += w.u[i] * w.v[j] * x
            typical += w.u[i] * w.v[j] * abs(share * x)
            lowest, highest = min(lowest, share * x), max(highest, share * x)
            largest = max(largest, abs(x))
        for j in range(m, width):
            w.linear[i, j] = FORBIDDEN
    return mean if largest <= LARGEST else np.nan, typical, lowest, highest


@kernel
def solve_linear(
    w: Workspace, n: int, m: int, square: bool, unit: float, typical: float, lowest: float
) -> bool:
    """Solve the transport problem of the linear part alone; keep its plan in slot 1.

    Both starts are the diagonal for equal sides, so a sentence is matched to itself even if
    repeated words would allow other free plans. Returns False if the search was cut short.
    """
    for i in range(n):
        for j in range(padded(m)):
            w.gradient[i, j] = w.linear[i, j]
    if square:
        match, duals = w.matching.match, w.matching.duals
        for j in range(n):
            match[j] = j
            duals[j] = w.linear[0, j]
        for i in range(1, n):
            for j in range(n):
                duals[j] = min(duals[j], w.linear[i, j])
    else:
        northwest(w.supply, w.demand, n, m, w.network)
    reached = find_vertex(w, n, m, square, unit, PRECISION * typical, 1)
    value = on_cells(w, w.gradient, n, m, 1)
    if reached <= SAFE * abs(value) or (lowest >= 0.0 and value == 0.0):
        return True
    settled = _settle_linear(w, n, m, square)
    list_cells(w, n, m, square, unit, 1)
    return settled


@kernel
def _settle_linear(w: Workspace, n: int, m: int, square: bool) -> bool:
    """Go on where costs are so far apart that a slack of their mean means nothing."""
    if square:
        northwest(w.supply, w.demand, n, m, w.network)
    done = improve_exactly(w.gradient, n, m, w.network, w.stop)
    for c in range(n + m - 1):
        if square and w.network.flow[c] > 0.0:
            p = w.network.tree[PARENT, c]
            w.matching.match[min(c, p)] = max(c, p) - n
    return done


@inlined
def optimum(w: Workspace) -> Optimum:
    """Where the linear problem has got to."""
    return Optimum(w.network.tree, w.network.flow, w.matching.match, w.matching.duals)


@kernel
def copy_optimum(one: Optimum, other: Optimum, n: int, m: int, square: bool) -> None:
    """Overwrite the other by the one: every head starts from the optimum of the linear part."""
    if square:
        for c in range(n):
            other.match[c], other.duals[c] = one.match[c], one.duals[c]
        return
    for c in range(n + m):
        other.flow[c] = one.flow[c]
    for link in range(LINKS):
        for c in range(n + m):
            other.tree[link, c] = one.tree[link, c]
