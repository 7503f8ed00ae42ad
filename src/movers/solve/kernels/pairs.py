"""What all heads of a pair share: kept tokens, whole masses, the cost and its own optimum."""

import numpy as np

from movers.arrays import Floats, Ints
from movers.runtime.compiling import inlined, kernel
from movers.solve.kernels.batches import Batch
from movers.solve.kernels.gradient import FORBIDDEN, padded
from movers.solve.kernels.simplex import LINKS, PARENT, northwest, settle
from movers.solve.kernels.vertices import find_vertex, list_cells, on_cells
from movers.solve.kernels.workspace import Workspace

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
    """List the tokens whose share of a total does not round to zero; return their number."""
    kept = 0
    for i in range(count):
        if store[start + i] * WHOLE >= 0.5 * total:
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
def whole_masses(store: Floats, start: int, keep: Ints, kept: int, out: Floats) -> None:
    """Round the weights to multiples of 2**-52 that sum to one exactly."""
    total = 0.0
    for i in range(kept):
        total += store[start + keep[i]]
    left, heaviest = WHOLE, 0
    for i in range(kept):
        out[i] = np.floor(store[start + keep[i]] / total * WHOLE + 0.5)
        left -= out[i]
        if out[i] > out[heaviest]:
            heaviest = i
    out[heaviest] += left


@kernel
def real_shares(store: Floats, start: int, keep: Ints, kept: int, out: Floats) -> bool:
    """Fill in the shares themselves, and say whether some are so light as to need that."""
    total, least = 0.0, np.inf
    for i in range(kept):
        total += store[start + keep[i]]
        least = min(least, store[start + keep[i]])
    for i in range(kept):
        out[i] = store[start + keep[i]] / total
    return least < LIGHT * total


@inlined
def load_weights(w: Workspace, batch: Batch, p: int) -> tuple[int, int, bool, float]:
    """Set the masses of the pair; return kept sizes, "is an assignment", and the unit of mass.

    The unit is 0 where some tokens are so light that plans need their real shares.
    """
    u, v, u_start, v_start = batch.u, batch.v, batch.u_start[p], batch.v_start[p]
    rows, columns = batch.shapes[p, 0], batch.shapes[p, 1]
    n = keep_heavy(u, u_start, rows, total_of(u, u_start, rows), w.keep_rows)
    m = keep_heavy(v, v_start, columns, total_of(v, v_start, columns), w.keep_columns)
    uniform = is_uniform(u, u_start, w.keep_rows, n) and is_uniform(v, v_start, w.keep_columns, m)
    if uniform:
        unit = 1.0 / (n * m)
        w.supply[:n] = m
        w.demand[:m] = n
    else:
        unit = 1.0 / WHOLE
        whole_masses(u, u_start, w.keep_rows, n, w.supply)
        whole_masses(v, v_start, w.keep_columns, m, w.demand)
        light_u = real_shares(u, u_start, w.keep_rows, n, w.u)
        light_v = real_shares(v, v_start, w.keep_columns, m, w.v)
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
) -> tuple[float, float, bool]:
    """Copy the kept cost, and `share` times it as linear part.

    Returns the mean cost and the mean absolute linear part under the product plan, and
    whether the linear part is nowhere negative.
    """
    width = padded(m)
    cost, start, columns = batch.cost, batch.cost_start[p], batch.shapes[p, 1]
    mean, typical, lowest = 0.0, 0.0, 0.0
    for i in range(n):
        row = start + w.keep_rows[i] * columns
        for j in range(m):
            x = cost[row + w.keep_columns[j]]
            w.cost[i, j] = x
            w.linear[i, j] = share * x
            mean += w.u[i] * w.v[j] * x
            typical += w.u[i] * w.v[j] * abs(share * x)
            lowest = min(lowest, share * x)
        for j in range(m, width):
            w.linear[i, j] = FORBIDDEN
    return mean, typical, lowest == 0.0


@kernel
def solve_linear(
    w: Workspace,
    n: int,
    m: int,
    square: bool,
    unit: float,
    typical: float,
    positive: bool,
    slot: int,
) -> bool:
    """Solve the transport problem of the linear part alone; keep its plan in `slot`.

    Both starts are the diagonal for equal sides, so a sentence is matched to itself even if
    repeated words would allow other free plans. Returns False if the search was cut short.
    """
    for i in range(n):
        for j in range(padded(m)):
            w.gradient[i, j] = w.linear[i, j]
    if square:
        for j in range(n):
            w.match[j] = j
            w.duals[j] = w.linear[0, j]
        for i in range(1, n):
            for j in range(n):
                w.duals[j] = min(w.duals[j], w.linear[i, j])
    else:
        northwest(w.supply, w.demand, n, m, w.tree, w.flow)
    reached = find_vertex(w, n, m, square, unit, PRECISION * typical, slot)
    value = on_cells(w, w.gradient, n, m, slot)
    if reached <= SAFE * abs(value) or (positive and value == 0.0):
        return True
    settled = _settle_linear(w, n, m, square)
    list_cells(w, n, m, square, unit, slot)
    return settled


@kernel
def _settle_linear(w: Workspace, n: int, m: int, square: bool) -> bool:
    """Go on where costs are so far apart that a slack of their mean means nothing."""
    if square:
        northwest(w.supply, w.demand, n, m, w.tree, w.flow)
    done = settle(w.gradient, n, m, w.tree, w.flow, w.potential, w.distance, w.stop)
    for c in range(n + m - 1):
        if square and w.flow[c] > 0.0:
            p = w.tree[PARENT, c]
            w.match[min(c, p)] = max(c, p) - n
    return done


@inlined
def remember_linear(w: Workspace, n: int, m: int, square: bool) -> None:
    """Keep the optimum of the linear part: every head starts from it."""
    if square:
        for i in range(n):
            w.cost_match[i] = w.match[i]
            w.cost_duals[i] = w.duals[i]
    else:
        _copy_tree(w.tree, w.flow, w.cost_tree, w.cost_flow, n + m)


@inlined
def recall_linear(w: Workspace, n: int, m: int, square: bool) -> None:
    """Go back to the optimum of the linear part."""
    if square:
        for i in range(n):
            w.match[i] = w.cost_match[i]
            w.duals[i] = w.cost_duals[i]
    else:
        _copy_tree(w.cost_tree, w.cost_flow, w.tree, w.flow, n + m)


@kernel
def _copy_tree(tree: Ints, flow: Floats, to_tree: Ints, to_flow: Floats, nodes: int) -> None:
    for c in range(nodes):
        to_flow[c] = flow[c]
    for link in range(LINKS):
        for c in range(nodes):
            to_tree[link, c] = tree[link, c]
