"""Vertices of the transport polytope: found by a linear problem, kept as lists of cells."""

import numpy as np

from movers.arrays import Floats, Ints
from movers.runtime.compiling import inlined, kernel
from movers.solve.kernels.assignment import assign, still_optimal
from movers.solve.kernels.gradient import at_vertex, spread
from movers.solve.kernels.margins import Margins, add_margins, set_margins
from movers.solve.kernels.shares import real_flows
from movers.solve.kernels.simplex import PARENT, improve
from movers.solve.kernels.workspace import Workspace

SAME = 1e-14


@inlined
def find_vertex(
    w: Workspace, n: int, m: int, square: bool, unit: float, slack: float, slot: int
) -> float:
    """Minimise ``<w.gradient, V>`` within `slack`, from the last optimum; keep V in `slot`.

    Returns the slack that was reached, which is infinite if the search was cut short.
    """
    reached = slack
    if square:
        if not still_optimal(
            w.gradient, n, w.match, w.duals, w.prices, w.distance, w.candidates, slack
        ):
            done = assign(
                w.gradient,
                n,
                w.match,
                w.owner,
                w.duals,
                w.prices,
                w.distance,
                w.previous,
                w.state,
                w.stop,
            )
            reached = slack if done else np.inf
    else:
        reached = improve(
            w.gradient, n, m, w.tree, w.flow, w.potential, w.prices, w.candidates, slack, w.stop
        )
    list_cells(w, n, m, square, unit, slot)
    return reached


@inlined
def list_cells(w: Workspace, n: int, m: int, square: bool, unit: float, slot: int) -> None:
    """Keep the current optimum of the linear problem as the vertex in `slot`."""
    at = slot * (n + m)
    if square:
        w.cells[slot] = _cells_of_match(n, w.match, w.rows, w.columns, w.mass, at)
    elif unit == 0.0:
        real_flows(n, m, w.tree, w.u, w.v, w.distance, w.links, w.real_flow)
        w.cells[slot] = _cells_of_tree(
            n, m, w.tree, w.real_flow, 1.0, w.rows, w.columns, w.mass, at
        )
    else:
        w.cells[slot] = _cells_of_tree(n, m, w.tree, w.flow, unit, w.rows, w.columns, w.mass, at)


@kernel
def _cells_of_match(n: int, match: Ints, rows: Ints, columns: Ints, mass: Floats, at: int) -> int:
    """List the cells of a permutation, row by row; return their number."""
    for i in range(n):
        rows[at + i] = i
        columns[at + i] = match[i]
        mass[at + i] = 1.0 / n
    return n


@kernel
def _cells_of_tree(
    n: int,
    m: int,
    tree: Ints,
    flow: Floats,
    unit: float,
    rows: Ints,
    columns: Ints,
    mass: Floats,
    at: int,
) -> int:
    """List the arcs that carry flow; return their number."""
    count = 0
    for c in range(n + m - 1):
        if flow[c] > 0.0:
            p = tree[PARENT, c]
            rows[at + count] = min(c, p)
            columns[at + count] = max(c, p) - n
            mass[at + count] = flow[c] * unit
            count += 1
    return count


@kernel
def along(matrix: Floats, rows: Ints, columns: Ints, mass: Floats, at: int, count: int) -> float:
    """Inner product of a matrix with a list of cells."""
    total = 0.0
    for c in range(at, at + count):
        total += mass[c] * matrix[rows[c], columns[c]]
    return total


@inlined
def on_cells(w: Workspace, matrix: Floats, n: int, m: int, slot: int) -> float:
    """Inner product of a matrix with the vertex in `slot`."""
    return along(matrix, w.rows, w.columns, w.mass, slot * (n + m), w.cells[slot])


@inlined
def set_gradient(
    w: Workspace,
    n: int,
    m: int,
    square: bool,
    factor: float,
    slot: int,
    margins: Margins | None = None,
) -> None:
    """Fill in the gradient at the vertex in `slot`; with its marginals if these may vary."""
    at, out = slot * (n + m), w.gradients[slot]
    if square:
        at_vertex(w.linear, factor / n, w.a, w.b_transposed, w.b, w.match, n, m, out)
    else:
        spread(
            w.rows, w.columns, w.mass, at, w.cells[slot], w.b, w.b_transposed, n, m, w.left, w.right
        )
        at_vertex(w.linear, factor, w.a, w.left, w.right, w.counting, n, m, out)
    if margins is not None:
        set_margins(margins, w.rows, w.columns, w.mass, at, w.cells[slot], n - 1, m - 1)
        add_margins(margins, n - 1, m - 1, factor / 2.0, out)


@kernel
def find_active(
    rows: Ints,
    columns: Ints,
    mass: Floats,
    cells: Ints,
    nodes: int,
    active: Ints,
    count: int,
    slot: int,
    dense: Floats,
) -> int:
    """Position among the active vertices of one with the same masses as `slot`, or -1.

    `dense` is a plan of zeros, and left so.
    """
    at = slot * nodes
    heavy = 0
    for c in range(at, at + cells[slot]):
        dense[rows[c], columns[c]] = mass[c]
        heavy += mass[c] > SAME
    found = -1
    for position in range(count):
        other = active[position]
        if other > 0 and _same_masses(rows, columns, mass, cells, nodes, other, heavy, dense):
            found = position
            break
    for c in range(at, at + cells[slot]):
        dense[rows[c], columns[c]] = 0.0
    return found


@kernel
def _same_masses(
    rows: Ints,
    columns: Ints,
    mass: Floats,
    cells: Ints,
    nodes: int,
    slot: int,
    heavy: int,
    dense: Floats,
) -> bool:
    at = slot * nodes
    for c in range(at, at + cells[slot]):
        if abs(dense[rows[c], columns[c]] - mass[c]) > SAME:
            return False
        heavy -= mass[c] > SAME
    return heavy == 0


@kernel
def energy(
    a: Floats, b: Floats, rows: Ints, columns: Ints, mass: Floats, at: int, count: int
) -> float:
    """Evaluate ``E(V)`` cell by cell: free of cancellation, exactly 0 for equal structures."""
    total = 0.0
    for c in range(at, at + count):
        row, column = rows[c], columns[c]
        inner = 0.0
        for d in range(at, at + count):
            difference = a[row, rows[d]] - b[column, columns[d]]
            inner += mass[d] * difference * difference
        total += mass[c] * inner
    return total
