"""Plans: vertices of the transport polytope, kept as lists of cells, and dense sums of them."""

import numpy as np

from movers.arrays import Floats, Ints
from movers.runtime.compiling import inlined, kernel
from movers.solve.kernels.assignment import assign, still_optimal
from movers.solve.kernels.gradient import padded
from movers.solve.kernels.simplex import PARENT, improve, real_flows
from movers.solve.kernels.workspace import Batch, Cells, Outputs, Workspace

SAME = 1e-14


@inlined
def find_vertex(
    w: Workspace, n: int, m: int, square: bool, unit: float, slack: float, slot: int
) -> float:
    """Minimise ``<w.gradient, V>`` within `slack`, from the last optimum; keep V in `slot`.

    Returns the slack that was reached, which is infinite if the search was cut short.
    """
    reached = slack
    if not square:
        reached = improve(w.gradient, n, m, w.network, slack, w.stop)
    elif not still_optimal(w.gradient, n, w.matching, slack):
        done = assign(w.gradient, n, w.matching, w.stop)
        reached = slack if done else np.inf
    list_cells(w, n, m, square, unit, slot)
    return reached


@inlined
def list_cells(w: Workspace, n: int, m: int, square: bool, unit: float, slot: int) -> None:
    """Keep the current optimum of the linear problem as the vertex in `slot`."""
    at, network = slot * (n + m), w.network
    if square:
        for i in range(n):
            w.cells.rows[at + i] = i
            w.cells.columns[at + i] = w.matching.match[i]
            w.cells.mass[at + i] = 1.0 / n
        w.counts[slot] = n
    elif unit == 0.0:
        real_flows(n, m, w.u, w.v, network)
        w.counts[slot] = _cells_of_tree(n, m, network.tree[PARENT], network.real, 1.0, w.cells, at)
    else:
        w.counts[slot] = _cells_of_tree(n, m, network.tree[PARENT], network.flow, unit, w.cells, at)


@kernel
def _cells_of_tree(
    n: int, m: int, parent: Ints, flow: Floats, unit: float, cells: Cells, at: int
) -> int:
    """List the arcs that carry flow; return their number."""
    count = 0
    for c in range(n + m - 1):
        if flow[c] > 0.0:
            cells.rows[at + count] = min(c, parent[c])
            cells.columns[at + count] = max(c, parent[c]) - n
            cells.mass[at + count] = flow[c] * unit
            count += 1
    return count


@kernel
def along(matrix: Floats, cells: Cells, at: int, count: int) -> float:
    """Inner product of a matrix with a list of cells."""
    total = 0.0
    for c in range(at, at + count):
        total += cells.mass[c] * matrix[cells.rows[c], cells.columns[c]]
    return total


@inlined
def on_cells(w: Workspace, matrix: Floats, n: int, m: int, slot: int) -> float:
    """Inner product of a matrix with the vertex in `slot`."""
    return along(matrix, w.cells, slot * (n + m), w.counts[slot])


@inlined
def find_active(w: Workspace, nodes: int, active: int, slot: int) -> int:
    """Position among the active vertices of one with the same masses as `slot`, or -1.

    ``w.dense`` is a plan of zeros, and left so.
    """
    rows, columns, mass = w.cells
    at, heavy = slot * nodes, 0
    for c in range(at, at + w.counts[slot]):
        w.dense[rows[c], columns[c]] = mass[c]
        heavy += mass[c] > SAME
    found = -1
    for position in range(active):
        other = w.active[position]
        if other > 0 and _same(w.cells, other * nodes, w.counts[other], heavy, w.dense):
            found = position
            break
    for c in range(at, at + w.counts[slot]):
        w.dense[rows[c], columns[c]] = 0.0
    return found


@kernel
def _same(cells: Cells, at: int, count: int, heavy: int, dense: Floats) -> bool:
    """Whether cells have the masses of a dense plan, of which so many are not next to nothing."""
    for c in range(at, at + count):
        mass = cells.mass[c]
        if abs(dense[cells.rows[c], cells.columns[c]] - mass) > SAME:
            return False
        heavy -= mass > SAME
    return heavy == 0


@kernel
def energy(a: Floats, b: Floats, cells: Cells, at: int, count: int) -> float:
    """Evaluate ``E(V)`` cell by cell: free of cancellation, exactly 0 for equal structures."""
    rows, columns, mass = cells
    total = 0.0
    for c in range(at, at + count):
        row, column, inner = rows[c], columns[c], 0.0
        for d in range(at, at + count):
            difference = a[row, rows[d]] - b[column, columns[d]]
            inner += mass[d] * difference * difference
        total += mass[c] * inner
    return total


@kernel
def gather(w: Workspace, n: int, m: int, active: int, start: Floats | None, plan: Floats) -> None:
    """Add up the active vertices, and in slot 0 the start: None is the product plan."""
    rows, columns, mass = w.cells
    for i in range(n):
        for j in range(m):
            plan[i, j] = 0.0
    for k in range(active):
        slot = w.active[k]
        x, at = w.weight[slot], slot * (n + m)
        if slot == 0:
            for i in range(n):
                for j in range(m):
                    plan[i, j] += x * w.u[i] * w.v[j] if start is None else x * start[i, j]
        elif x > 0.0:
            for c in range(at, at + w.counts[slot]):
                plan[rows[c], columns[c]] += x * mass[c]


@kernel
def bent(a: Floats, b: Floats, plan: Floats, n: int, m: int, scratch: Floats) -> float:
    """Evaluate ``<A, P B Pᵀ>``."""
    total = 0.0
    for i in range(n):
        for j in range(padded(m)):
            scratch[j] = 0.0
        for j in range(m):
            if plan[i, j] > 0.0:
                for k in range(padded(m)):
                    scratch[k] += plan[i, j] * b[j, k]
        for k in range(n):
            s = 0.0
            for j in range(m):
                s += scratch[j] * plan[k, j]
            total += a[i, k] * s
    return total


@kernel
def write_plan(
    w: Workspace, plan: Floats, n: int, m: int, x: float, batch: Batch, p: int, h: int, out: Outputs
) -> None:
    """Write x times a plan of n x m kept tokens; tokens without mass keep their zeros."""
    rows, columns = batch.shapes[p, 0], batch.shapes[p, 1]
    start = out.linear.shape[1] * batch.cost_start[p] + h * rows * columns
    for i in range(n):
        row = start + w.keep_rows[i] * columns
        for j in range(m):
            out.plans[row + w.keep_columns[j]] = x * plan[i, j]
