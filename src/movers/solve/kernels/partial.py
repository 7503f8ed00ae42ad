"""Entry points of partial transport: solve the pairs ``low .. high-1`` of a batch.

Frank-Wolfe as for whole plans, on plans with homes (`movers.solve.kernels.homes`) and with
marginals that vary (`movers.solve.kernels.margins`). A head is solved from more than one start,
and the best plan wins.
"""

from typing import NamedTuple

import numpy as np

from movers.arrays import Floats, Ints
from movers.runtime.compiling import entry, inlined, kernel
from movers.solve.kernels.batches import Batch, Found, Structures, Terms
from movers.solve.kernels.frank_wolfe import descend
from movers.solve.kernels.gradient import at_product, padded
from movers.solve.kernels.homes import (
    Masses,
    load_home_cost,
    load_masses,
    load_structures,
    price_homes,
    widest_difference,
)
from movers.solve.kernels.margins import Margins, add_margins, allocate_margins, margin_energy
from movers.solve.kernels.pairs import WHOLE, recall_linear, remember_linear, solve_linear, total_of
from movers.solve.kernels.simplex import northwest
from movers.solve.kernels.vertices import energy, list_cells, on_cells, set_gradient
from movers.solve.kernels.workspace import Workspace

FLOOR = 1e-12
FROM_WORDS, FROM_PRODUCT, STARTS = 0, 1, 6
FEW = 3
"""Cells per word, up to which an energy is summed over pairs of cells."""
SAME = 1e-12


class Room(NamedTuple):
    """Memory beside the workspace: dense plans with homes, and the cells of one."""

    margins: Margins
    start: Floats
    plan: Floats
    best: Floats
    rows: Ints
    columns: Ints
    mass: Floats


def allocate_room(shapes: Ints) -> Room:
    """Allocate for problems of the given shapes."""
    n, m = shapes.max(axis=0, initial=1).tolist()
    start, plan, best = np.zeros((3, n + 1, m + 1))
    return Room(
        allocate_margins(n, m),
        start,
        plan,
        best,
        np.empty(n * m, np.int64),
        np.empty(n * m, np.int64),
        np.empty(n * m),
    )


@entry
def partial_emd_range(
    w: Workspace, room: Room, low: int, high: int, batch: Batch, terms: Terms, out: Found
) -> None:
    """Solve ``min <C, P>`` plus the price of mass at home."""
    for p in range(low, high):
        mass = _load_pair(w, batch, p)
        if mass.n == 0 or mass.m == 0:
            _stay(batch, p, out)
            continue
        typical, highest, lowest = _load_costs(w, batch, p, mass, 1.0)
        price = min(terms.null[p, 0], max(highest, 0.0))
        out.converged[p, 0] = _solve_words(w, mass, price, typical, lowest)
        w.active[0], w.weight[1] = 1, 1.0
        _gather(w, room, mass, 1)
        _write(w, room.plan, batch, p, 0, mass, 0.0, out)


@entry
def partial_fgw_range(
    w: Workspace,
    room: Room,
    low: int,
    high: int,
    batch: Batch,
    structures: Structures,
    terms: Terms,
    out: Found,
) -> None:
    """Solve ``min (1 - mix) <C, P> + mix scale E(P)`` plus the price of mass at home."""
    starts = STARTS if terms.thorough else FROM_PRODUCT
    for p in range(low, high):
        mass = _load_pair(w, batch, p)
        if mass.n == 0 or mass.m == 0:
            _stay(batch, p, out)
            continue
        typical, highest, lowest = _load_costs(w, batch, p, mass, 1.0 - terms.mix)
        charged, moved = -1.0, True
        for h in range(structures.scale.shape[1]):
            _load_head(w, room.margins, batch, structures, p, h, mass)
            factor = 2.0 * terms.mix * structures.scale[p, h] * mass.total
            price = _price(w, mass, terms.null[p, h], highest, factor)
            if price != charged:
                moved = _solve_words(w, mass, price, typical, lowest)
                remember_linear(w, mass.n + 1, mass.m + 1, False)
                charged = price
            bar = 2.0 * price + typical - min(lowest, 0.0)
            calls, gap, done = _solve_head(
                w, room, mass, factor, typical + price, bar, starts, moved
            )
            out.iterations[p, h] = calls
            out.gap[p, h] = mass.total * gap
            out.converged[p, h] = done
            bent = _energy(w, room, room.best, mass)
            _write(w, room.best, batch, p, h, mass, structures.scale[p, h] * bent, out)


@kernel
def _stay(batch: Batch, p: int, out: Found) -> None:
    """Leave everything at home, where one side weighs nothing."""
    weight = total_of(batch.u, batch.u_start[p], batch.shapes[p, 0])
    weight += total_of(batch.v, batch.v_start[p], batch.shapes[p, 1])
    for h in range(out.home.shape[1]):
        out.home[p, h] = weight / 2.0
        out.converged[p, h] = True


@kernel
def _load_pair(w: Workspace, batch: Batch, p: int) -> Masses:
    rows, columns = batch.shapes[p, 0], batch.shapes[p, 1]
    return load_masses(w, batch.u, batch.v, batch.u_start[p], batch.v_start[p], rows, columns)


@kernel
def _load_costs(
    w: Workspace, batch: Batch, p: int, mass: Masses, share: float
) -> tuple[float, float, float]:
    start, columns = batch.cost_start[p], batch.shapes[p, 1]
    return load_home_cost(w, batch.cost, start, columns, mass.n, mass.m, share)


@kernel
def _load_head(
    w: Workspace, g: Margins, batch: Batch, structures: Structures, p: int, h: int, mass: Masses
) -> None:
    rows, columns = batch.shapes[p, 0], batch.shapes[p, 1]
    a_at = structures.a_start[p] + h * rows * rows
    b_at = structures.b_start[p] + h * columns * columns
    if structures.double.size:
        load_structures(w, g, structures.double, a_at, b_at, rows, columns, mass.n, mass.m)
    else:
        load_structures(w, g, structures.single, a_at, b_at, rows, columns, mass.n, mass.m)


@kernel
def _price(w: Workspace, mass: Masses, null: float, highest: float, factor: float) -> float:
    """Price of a unit at home, but not more than a unit could be charged on its way.

    Above that all plans move what they can, and a higher price would only hide the digits of the
    costs. No word pays more than the highest cost and twice the widest difference of structures
    with all mass that moves.
    """
    if null <= highest:
        return null
    widest = widest_difference(w.a, mass.n, w.b, mass.m)
    moving: float = min(w.u[mass.n], w.v[mass.m])
    return min(null, max(highest, 0.0) + factor * widest * widest * moving)


@kernel
def _solve_words(w: Workspace, mass: Masses, price: float, typical: float, lowest: float) -> bool:
    """Solve the linear part alone, with its price of staying at home; keep the plan in slot 1."""
    price_homes(w, mass.n, mass.m, price)
    positive = lowest >= 0.0
    return solve_linear(w, mass.n + 1, mass.m + 1, False, mass.unit, typical + price, positive, 1)


@kernel
def _solve_head(
    w: Workspace,
    room: Room,
    mass: Masses,
    factor: float,
    typical: float,
    bar: float,
    starts: int,
    moved: bool,
) -> tuple[int, float, bool]:
    """Put the best plan of so many starts into ``room.best``; return the effort it took.

    A plan that is best for the words and bends nothing needs no search. The others start from it,
    from the product plan, and last from the best plan of the mass that the best one moves, until
    no other mass is better.
    """
    rows, columns = mass.n + 1, mass.m + 1
    most = min(w.u[mass.n], w.v[mass.m])
    floor = FLOOR * (most * typical + factor / 2.0 * _squares(w, room.margins, mass, most))
    recall_linear(w, rows, columns, False)
    quadratic = _start_at_words(w, room, mass, factor)
    if quadratic <= floor:
        _copy(room.start, rows, columns, room.best)
        return 1, 0.0, moved
    lowest, calls, gap, done, fixed = np.inf, 0, 0.0, moved, -1.0
    for start in range(starts):
        if start == FROM_PRODUCT:
            quadratic = _start_at_product(w, room, mass, factor, most)
        elif start > FROM_PRODUCT:
            moving = _moved(room.best, mass)
            if moving <= SAME or abs(moving - fixed) <= SAME:
                break
            fixed = moving
            calls += _solve_fixed(w, room, mass, factor, floor, fixed, bar)
            quadratic = _start_again(w, room, mass, factor)
        recall_linear(w, rows, columns, False)
        active, more, last, ended = _descend(w, room, mass, factor, floor, quadratic)
        calls += more
        _gather(w, room, mass, active)
        value = _value(w, room, mass, factor)
        if value < lowest:
            lowest, gap, done = value, last, ended
            _copy(room.plan, rows, columns, room.best)
    return calls, gap, done


@kernel
def _moved(plan: Floats, mass: Masses) -> float:
    total = 0.0
    for i in range(mass.n):
        for j in range(mass.m):
            total += plan[i, j]
    return total


@kernel
def _solve_fixed(
    w: Workspace, room: Room, mass: Masses, factor: float, floor: float, moving: float, bar: float
) -> int:
    """Find a plan in ``room.plan`` among those that move so much, from the product plan.

    Homes then hold what must stay, and nothing goes from home to home: at the cost `bar`, more
    than the price of a unit less the lowest cost, it is cheaper to move less instead.
    """
    n, m = mass.n, mass.m
    quadratic = _start_at_product(w, room, mass, factor, moving)
    unit = mass.unit if mass.unit > 0.0 else 1.0 / WHOLE
    whole = min(np.floor(moving / unit + 0.5), w.supply[n], w.demand[m])
    held = w.supply[n], w.demand[m], w.u[n], w.v[m]
    _hold(w, mass, held, whole, whole * unit, bar)
    northwest(w.supply, w.demand, n + 1, m + 1, w.tree, w.flow)
    active, calls, _, _ = _descend(w, room, mass, factor, floor, quadratic)
    _gather(w, room, mass, active)
    _hold(w, mass, held, 0.0, 0.0, 0.0)
    room.plan[n, m] = 0.0
    return calls


@kernel
def _hold(
    w: Workspace,
    mass: Masses,
    held: tuple[float, float, float, float],
    whole: float,
    real: float,
    bar: float,
) -> None:
    """Let homes hold that much less than they did, with `bar` as cost between them."""
    n, m = mass.n, mass.m
    w.supply[n], w.demand[m] = held[0] - whole, held[1] - whole
    w.u[n], w.v[m] = max(0.0, held[2] - real), max(0.0, held[3] - real)
    w.linear[n, m] = bar
    w.gradient[n, m] = bar


@kernel
def _start_again(w: Workspace, room: Room, mass: Masses, factor: float) -> float:
    """Start from ``room.plan``, whose gradient is in place; return the quadratic part."""
    _copy(room.plan, mass.n + 1, mass.m + 1, room.start)
    w.linear_of[0] = _linear(w, room.plan, mass)
    return factor / 2.0 * _energy(w, room, room.plan, mass)


@kernel
def _squares(w: Workspace, g: Margins, mass: Masses, moving: float) -> float:
    """Size of the terms that make up the energy of plans that move so much."""
    for i in range(mass.n):
        g.p[i] = w.u[i] * (moving / w.v[mass.m])
    for j in range(mass.m):
        g.q[j] = w.v[j] * (moving / w.u[mass.n])
    return margin_energy(g, mass.n, mass.m)


@kernel
def _start_at_words(w: Workspace, room: Room, mass: Masses, factor: float) -> float:
    """Start where the words alone would go; return the quadratic part."""
    rows, columns = mass.n + 1, mass.m + 1
    list_cells(w, rows, columns, False, mass.unit, 1)
    set_gradient(w, rows, columns, False, factor, 1, room.margins)
    _copy(w.gradients[1], rows, padded(columns), w.gradient)
    w.linear_of[0] = on_cells(w, w.linear, rows, columns, 1)
    w.active[0], w.weight[1] = 1, 1.0
    _gather(w, room, mass, 1)
    _copy(room.plan, rows, columns, room.start)
    quadratic: float = (on_cells(w, w.gradient, rows, columns, 1) - w.linear_of[0]) / 2.0
    return quadratic


@kernel
def _start_at_product(
    w: Workspace, room: Room, mass: Masses, factor: float, moving: float
) -> float:
    """Start from the product plan that moves so much; return the quadratic part."""
    n, m, g = mass.n, mass.m, room.margins
    weight_u, weight_v = w.v[m], w.u[n]
    share = moving / (weight_u * weight_v)
    _copy(w.linear, n + 1, padded(m + 1), w.gradient)
    _, product = at_product(
        w.linear, share * factor, w.a, w.b, w.u, w.v, n, m, w.distance, w.gradient
    )
    linear = 0.0
    for i in range(n):
        g.p[i] = share * weight_v * w.u[i]
        room.start[i, m] = max(0.0, w.u[i] - g.p[i])
        linear += room.start[i, m] * w.linear[i, m]
        for j in range(m):
            room.start[i, j] = share * w.u[i] * w.v[j]
            linear += room.start[i, j] * w.linear[i, j]
    for j in range(m):
        g.q[j] = share * weight_u * w.v[j]
        room.start[n, j] = max(0.0, w.v[j] - g.q[j])
        linear += room.start[n, j] * w.linear[n, j]
    w.linear_of[0] = linear
    squares = add_margins(g, n, m, factor / 2.0, w.gradient)
    quadratic: float = squares - factor * share * share * product
    return quadratic


@kernel
def _descend(
    w: Workspace, room: Room, mass: Masses, factor: float, floor: float, quadratic: float
) -> tuple[int, int, float, bool]:
    rows, columns = mass.n + 1, mass.m + 1
    return descend(w, rows, columns, False, mass.unit, factor, 0.0, floor, quadratic, room.margins)


@kernel
def _gather(w: Workspace, room: Room, mass: Masses, active: int) -> None:
    """Add up the active vertices, and the start in slot 0, as a dense plan with homes."""
    rows, columns = mass.n + 1, mass.m + 1
    for i in range(rows):
        for j in range(columns):
            room.plan[i, j] = 0.0
    for k in range(active):
        slot = w.active[k]
        x, at = w.weight[slot], slot * (rows + columns)
        if slot == 0:
            for i in range(rows):
                for j in range(columns):
                    room.plan[i, j] += x * room.start[i, j]
        elif x > 0.0:
            for c in range(at, at + w.cells[slot]):
                room.plan[w.rows[c], w.columns[c]] += x * w.mass[c]


@kernel
def _value(w: Workspace, room: Room, mass: Masses, factor: float) -> float:
    """Objective at ``room.plan``."""
    return _linear(w, room.plan, mass) + factor / 2.0 * _energy(w, room, room.plan, mass)


@inlined
def _linear(w: Workspace, plan: Floats, mass: Masses) -> float:
    total = 0.0
    for i in range(mass.n + 1):
        for j in range(mass.m + 1):
            total += w.linear[i, j] * plan[i, j]
    return total


@kernel
def _energy(w: Workspace, room: Room, plan: Floats, mass: Masses) -> float:
    """Energy of what a plan moves: cell by cell if these are few, which is free of cancellation."""
    count = 0
    for i in range(mass.n):
        for j in range(mass.m):
            if plan[i, j] > 0.0:
                room.rows[count], room.columns[count] = i, j
                room.mass[count] = plan[i, j]
                count += 1
    if count <= FEW * (mass.n + mass.m):
        return energy(w.a, w.b, room.rows, room.columns, room.mass, 0, count)
    return _dense_energy(w, room, plan, mass)


@kernel
def _dense_energy(w: Workspace, room: Room, plan: Floats, mass: Masses) -> float:
    """Energy of a plan with many cells, as ``Σ A² p p + Σ B² q q - 2 <A, P B Pᵀ>``."""
    n, m, g = mass.n, mass.m, room.margins
    for i in range(n):
        g.p[i] = 0.0
    for j in range(m):
        g.q[j] = 0.0
    for i in range(n):
        for j in range(m):
            g.p[i] += plan[i, j]
            g.q[j] += plan[i, j]
    common = 0.0
    for i in range(n):
        for j in range(m):
            w.distance[j] = 0.0
        for j in range(m):
            if plan[i, j] > 0.0:
                for k in range(m):
                    w.distance[k] += plan[i, j] * w.b[j, k]
        for k in range(n):
            s = 0.0
            for j in range(m):
                s += w.distance[j] * plan[k, j]
            common += w.a[i, k] * s
    return max(0.0, margin_energy(g, n, m) - 2.0 * common)


@kernel
def _write(
    w: Workspace,
    plan: Floats,
    batch: Batch,
    p: int,
    h: int,
    mass: Masses,
    structural: float,
    out: Found,
) -> None:
    """Write the parts of a plan, in the units of the weights given."""
    n, m = mass.n, mass.m
    linear, home = 0.0, 0.0
    for i in range(n):
        home += plan[i, m]
        for j in range(m):
            linear += w.cost[i, j] * plan[i, j]
    for j in range(m):
        home += plan[n, j]
    out.linear[p, h] = mass.total * linear
    out.structural[p, h] = mass.total * mass.total * structural
    out.home[p, h] = mass.total * home / 2.0
    if out.plans.size:
        columns = batch.shapes[p, 1]
        start = out.home.shape[1] * batch.cost_start[p] + h * batch.shapes[p, 0] * columns
        for i in range(n):
            row = start + w.keep_rows[i] * columns
            for j in range(m):
                out.plans[row + w.keep_columns[j]] = mass.total * plan[i, j]


@inlined
def _copy(source: Floats, rows: int, columns: int, out: Floats) -> None:
    for i in range(rows):
        for j in range(columns):
            out[i, j] = source[i, j]
