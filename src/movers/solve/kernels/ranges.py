"""Entry points: solve the pairs ``low .. high-1`` of a batch, one after another.

Every problem starts from its own pair's cost, never from a neighbour: results do not depend
on the batch around it or on how the batch is cut into ranges.
"""

from movers.arrays import Floats
from movers.runtime.compiling import entry, inlined, kernel
from movers.solve.kernels.batches import Batch, Found, Structures
from movers.solve.kernels.frank_wolfe import descend
from movers.solve.kernels.gradient import at_product, load_source, load_target, padded
from movers.solve.kernels.pairs import (
    load_cost,
    load_weights,
    recall_linear,
    remember_linear,
    solve_linear,
)
from movers.solve.kernels.vertices import energy, list_cells, on_cells
from movers.solve.kernels.workspace import Workspace

FLOOR = 1e-12
FREE = 1e-14


@entry
def emd_range(w: Workspace, low: int, high: int, batch: Batch, out: Found) -> None:
    """Solve ``min <C, P>``."""
    for p in range(low, high):
        n, m, square, unit = load_weights(w, batch, p)
        _, typical, positive = load_cost(w, batch, p, n, m, 1.0)
        out.converged[p, 0] = solve_linear(w, n, m, square, unit, typical, positive, 0)
        out.linear[p, 0] = on_cells(w, w.cost, n, m, 0)
        if out.plans.size:
            _add_vertex(w, n, m, 0, 1.0, batch.shapes[p, 1], out.plans, batch.cost_start[p])


@entry
def fgw_range(
    w: Workspace, low: int, high: int, batch: Batch, structures: Structures, mix: float, out: Found
) -> None:
    """Solve ``min (1 - mix) <C, P> + mix scale E(P)`` for every head."""
    scale = structures.scale
    heads = scale.shape[1]
    for p in range(low, high):
        rows, columns = batch.shapes[p, 0], batch.shapes[p, 1]
        n, m, square, unit = load_weights(w, batch, p)
        mean, typical, positive = load_cost(w, batch, p, n, m, 1.0 - mix)
        moved = solve_linear(w, n, m, square, unit, typical, positive, 1)
        remember_linear(w, n, m, square)
        free = positive and on_cells(w, w.linear, n, m, 1) <= FREE * typical
        for h in range(heads):
            a_at = structures.a_start[p] + h * rows * rows
            b_at = structures.b_start[p] + h * columns * columns
            if structures.double.size:
                load_source(structures.double, a_at, rows, w.keep_rows, n, w.a)
                load_target(
                    structures.double, b_at, columns, w.keep_columns, m, w.b, w.b_transposed
                )
            else:
                load_source(structures.single, a_at, rows, w.keep_rows, n, w.a)
                load_target(
                    structures.single, b_at, columns, w.keep_columns, m, w.b, w.b_transposed
                )
            factor = 2.0 * mix * scale[p, h]
            squares, product = at_product(
                w.linear, factor, w.a, w.b, w.u, w.v, n, m, w.distance, w.gradient
            )
            constant = factor / 2.0 * squares
            floor = FLOOR * (typical + constant)
            recall_linear(w, n, m, square)
            active, calls, last_gap, found = 1, 1, 0.0, 0.0
            settled, done = False, moved
            if free or factor == 0.0:
                found = _follow_linear(w, n, m, square, unit)
                settled = factor == 0.0 or factor * found <= floor
            if not settled:
                w.linear_of[0] = (1.0 - mix) * mean
                active, calls, last_gap, done = descend(
                    w, n, m, square, unit, factor, constant, floor, -factor * product
                )
                found = _energy(w, n, m, active, squares)
            out.linear[p, h] = _mean_cost(w, n, m, active, mean)
            out.structural[p, h] = scale[p, h] * found
            out.iterations[p, h] = calls
            out.gap[p, h] = last_gap
            out.converged[p, h] = done
            if out.plans.size:
                start = heads * batch.cost_start[p] + h * rows * columns
                _write_plan(w, n, m, active, columns, out.plans, start)


@inlined
def _follow_linear(w: Workspace, n: int, m: int, square: bool, unit: float) -> float:
    """Make the plan of the cost alone the result, and return its energy.

    It is the answer without structure, and when it costs nothing and bends nothing.
    """
    list_cells(w, n, m, square, unit, 1)
    w.active[0] = 1
    w.weight[1] = 1.0
    return energy(w.a, w.b, w.rows, w.columns, w.mass, n + m, w.cells[1])


@inlined
def _energy(w: Workspace, n: int, m: int, active: int, squares: float) -> float:
    """Energy of the plan, at a vertex cell by cell."""
    slot = w.active[0]
    if active > 1 or slot == 0:
        return _dense_energy(w, n, m, active, squares)
    return energy(w.a, w.b, w.rows, w.columns, w.mass, slot * (n + m), w.cells[slot])


@kernel
def _dense_energy(w: Workspace, n: int, m: int, active: int, squares: float) -> float:
    """Energy of a plan with many cells, as ``squares - 2 <A, P B Pᵀ>``."""
    for i in range(n):
        for j in range(padded(m)):
            w.left[i, j] = 0.0
    for k in range(active):
        _add_dense(w, n, m, w.active[k])
    common = 0.0
    for i in range(n):
        for j in range(padded(m)):
            w.distance[j] = 0.0
        for j in range(m):
            if w.left[i, j] > 0.0:
                for k in range(padded(m)):
                    w.distance[k] += w.left[i, j] * w.b[j, k]
        for k in range(n):
            s = 0.0
            for j in range(m):
                s += w.distance[j] * w.left[k, j]
            common += w.a[i, k] * s
    return max(0.0, squares - 2.0 * common)


@inlined
def _add_dense(w: Workspace, n: int, m: int, slot: int) -> None:
    """Add a vertex, or the product plan in slot 0, to the plan in ``w.left``."""
    x = w.weight[slot]
    if slot == 0:
        for i in range(n):
            for j in range(m):
                w.left[i, j] += x * w.u[i] * w.v[j]
    elif x > 0.0:
        for c in range(slot * (n + m), slot * (n + m) + w.cells[slot]):
            w.left[w.rows[c], w.columns[c]] += x * w.mass[c]


@inlined
def _mean_cost(w: Workspace, n: int, m: int, active: int, mean: float) -> float:
    """Cost of the plan that the active vertices make up."""
    total = 0.0
    for k in range(active):
        slot = w.active[k]
        if slot == 0:
            total += w.weight[0] * mean
        elif w.weight[slot] > 0.0:
            total += w.weight[slot] * on_cells(w, w.cost, n, m, slot)
    return total


@kernel
def _write_plan(
    w: Workspace, n: int, m: int, active: int, columns: int, plans: Floats, start: int
) -> None:
    """Add up the active vertices; tokens without mass keep their zeros."""
    for k in range(active):
        slot = w.active[k]
        if slot > 0:
            _add_vertex(w, n, m, slot, w.weight[slot], columns, plans, start)
            continue
        for i in range(n):
            row = start + w.keep_rows[i] * columns
            for j in range(m):
                plans[row + w.keep_columns[j]] += w.weight[0] * w.u[i] * w.v[j]


@kernel
def _add_vertex(
    w: Workspace, n: int, m: int, slot: int, weight: float, columns: int, plans: Floats, start: int
) -> None:
    at = slot * (n + m)
    for c in range(at, at + w.cells[slot]):
        cell = w.keep_rows[w.rows[c]] * columns + w.keep_columns[w.columns[c]]
        plans[start + cell] += weight * w.mass[c]
