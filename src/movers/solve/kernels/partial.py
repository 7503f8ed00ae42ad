"""Partial transport: mass may stay at home, for a price τ per unit (`null`).

::

    min  (1 - mix) <C, P> + mix * scale * E(P) + τ * home(P)
    over P >= 0,  P 1 <= u,  Pᵀ 1 <= v

    E(P)    = sum (A[i, k] - B[j, l])**2 P[i, j] P[k, l]
    home(P) = (|u| - |P| + |v| - |P|) / 2

``|x|`` is the sum of x. A unit that is not moved is missing on both sides, and each of them
charges half of τ; where both weigh one, ``home`` is the mass that is not moved. Weights are
masses: they are not scaled, and sides may weigh differently. What one side has more than the
other stays at home whatever the price.

**When a unit moves.** Only ``-τ |P|`` depends on the plan, so more mass moves as long as it is
charged less than τ for it. At τ = 0 nothing moves but for nothing, and the value never falls as τ
grows. For words alone everything moves that can once τ is at least the highest cost; with
structure once it is at least that plus twice the widest difference of two entries, squared, times
the mass. The price is cut off there: the plan is the same.

**Structure.** Words that stay at home take no part in E: only pairs of moved words are compared.
E is of degree two in the mass, so a plan may escape from bending by leaving words at home, and
that is what τ is paid for: the next unit from i to j is charged
``sum ((A[i, k] - B[j, l])**2 + (A[k, i] - B[l, j])**2) P[k, l]``, what it disagrees with those
moved already. Dividing E by the mass would make the first words as dear as the last, and the
problem no longer quadratic. With masses other than one in all, say one per word, divide ``scale``
by the mass to keep the same balance.

**How it is solved.** One more row and one more column take what stays at home: a linear problem is
an exact transport problem of (n + 1) x (m + 1), with the same simplex and guarantees as whole
plans. The fused problem is not convex. Frank-Wolfe with exact line search starts from the plan of
the words alone, from the product plan, and from the best plan of the mass that was found to move;
the best local minimum is returned.

Entry points solve the pairs ``low .. high-1`` of a batch. Plans have homes
(`movers.solve.kernels.unmatched_mass`) and marginals that vary (`movers.solve.kernels.gradient`).
"""

import numpy as np

from movers.arrays import Floats
from movers.runtime.compiling import entry, inlined, kernel
from movers.solve.kernels.frank_wolfe import descend
from movers.solve.kernels.gradient import (
    add_margins,
    at_product,
    margin_energy,
    padded,
    set_gradient,
    set_margins,
)
from movers.solve.kernels.pair_setup import WHOLE, copy_optimum, optimum, solve_linear, total_of
from movers.solve.kernels.simplex import northwest
from movers.solve.kernels.unmatched_mass import Masses, load_head, load_home_cost, load_masses
from movers.solve.kernels.vertices import bent, energy, gather, list_cells, on_cells, write_plan
from movers.solve.kernels.workspace import (
    LARGEST,
    Batch,
    Margins,
    Outputs,
    PartialWorkspace,
    Structures,
    Workspace,
    refuse,
)

FLOOR = 1e-12
FROM_PRODUCT, STARTS = 1, 6
FEW = 3
"""Cells per word, up to which an energy is summed over pairs of cells."""
SAME = 1e-12
Held = tuple[float, float, float, float]


@entry
def partial_emd_range(
    w: Workspace,
    room: PartialWorkspace,
    low: int,
    high: int,
    batch: Batch,
    null: Floats,
    out: Outputs,
) -> None:
    """Solve ``min <C, P>`` plus the price `null` of mass at home."""
    for p in range(low, high):
        mass = load_masses(w, batch, p)
        if mass.n < 1 or mass.m < 1:
            _stay(batch, p, mass, out)
            continue
        typical, lowest, highest = load_home_cost(w, batch, p, mass.n, mass.m, 1.0)
        if np.isnan(typical):
            refuse(out, p)
            continue
        price = min(null[p, 0], max(highest, 0.0))
        out.converged[p, 0] = _solve_words(w, mass, price, typical, lowest)
        w.active[0], w.weight[1] = 1, 1.0
        _gather(w, room, mass, 1)
        _write(w, room.plan, batch, p, 0, mass, 0.0, out)


@entry
def partial_fgw_range(
    w: Workspace,
    room: PartialWorkspace,
    low: int,
    high: int,
    batch: Batch,
    structures: Structures,
    mix: float,
    null: Floats,
    out: Outputs,
) -> None:
    """Solve ``min (1 - mix) <C, P> + mix scale E(P)`` plus the price `null` of mass at home."""
    for p in range(low, high):
        mass = load_masses(w, batch, p)
        if mass.n < 1 or mass.m < 1:
            _stay(batch, p, mass, out)
            continue
        n, m, scale = mass.n, mass.m, structures.scale[p]
        typical, lowest, highest = load_home_cost(w, batch, p, n, m, 1.0 - mix)
        if np.isnan(typical):
            refuse(out, p)
            continue
        most = min(w.u[n], w.v[m])
        charged, moved = -1.0, True
        for h in range(len(scale)):
            load_head(w, room.margins, batch, structures, p, h, mass)
            factor = 2.0 * mix * scale[h] * mass.total
            squares = _squares(w, room.margins, mass, most)
            if not squares <= LARGEST * LARGEST:
                refuse(out, p)
                break
            price = _price(w, mass, null[p, h], highest, factor)
            if price != charged:
                moved = _solve_words(w, mass, price, typical, lowest)
                copy_optimum(optimum(w), w.kept, n + 1, m + 1, False)
                charged = price
            bar = 2.0 * price + typical - min(lowest, 0.0)
            floor = FLOOR * (most * (typical + price) + factor / 2.0 * squares)
            calls, gap, done = _solve_head(w, room, mass, factor, floor, bar, moved)
            out.iterations[p, h], out.converged[p, h] = calls, done
            out.gap[p, h] = mass.total * gap
            bends = scale[h] * _energy(w, room, room.best, mass)
            _write(w, room.best, batch, p, h, mass, bends, out)


@kernel
def _stay(batch: Batch, p: int, mass: Masses, out: Outputs) -> None:
    """Leave everything at home, where one side weighs nothing."""
    if mass.n < 0 or mass.m < 0:
        refuse(out, p)
        return
    weight = total_of(batch.u, batch.u_start[p], batch.shapes[p, 0])
    weight += total_of(batch.v, batch.v_start[p], batch.shapes[p, 1])
    for h in range(out.home.shape[1]):
        out.home[p, h] = weight / 2.0
        out.converged[p, h] = True


@kernel
def _price(w: Workspace, mass: Masses, null: float, highest: float, factor: float) -> float:
    """Price of a unit at home, but not more than a unit could be charged on its way.

    Above that all plans move what they can, and a higher price would only hide the digits of the
    costs. No word pays more than the highest cost and twice the widest difference of structures
    with all mass that moves.
    """
    if null <= highest:
        return null
    (low_a, high_a), (low_b, high_b) = _extremes(w.a, mass.n), _extremes(w.b, mass.m)
    widest = max(high_a - low_b, high_b - low_a)
    moving: float = min(w.u[mass.n], w.v[mass.m])
    return min(null, max(highest, 0.0) + factor * widest * widest * moving)


@kernel
def _extremes(a: Floats, n: int) -> tuple[float, float]:
    low, high = np.inf, -np.inf
    for i in range(n):
        for k in range(n):
            low, high = min(low, a[i, k]), max(high, a[i, k])
    return low, high


@kernel
def _solve_words(w: Workspace, mass: Masses, price: float, typical: float, lowest: float) -> bool:
    """Solve the linear part alone, with its price of staying at home; keep the plan in slot 1.

    Each home charges half of `price`: a unit that is not moved is missing on two sides.
    """
    for i in range(mass.n):
        w.linear[i, mass.m] = price / 2.0
    for j in range(mass.m):
        w.linear[mass.n, j] = price / 2.0
    return solve_linear(w, mass.n + 1, mass.m + 1, False, mass.unit, typical + price, lowest)


@kernel
def _solve_head(
    w: Workspace,
    room: PartialWorkspace,
    mass: Masses,
    factor: float,
    floor: float,
    bar: float,
    moved: bool,
) -> tuple[int, float, bool]:
    """Put the best plan of several starts into ``room.best``; return the effort it took.

    A plan that is best for the words and bends nothing needs no search. The others start from it,
    from the product plan, and last from the best plan of the mass that the best one moves, until
    no other mass is better.
    """
    rows, columns = mass.n + 1, mass.m + 1
    most = min(w.u[mass.n], w.v[mass.m])
    copy_optimum(w.kept, optimum(w), rows, columns, False)
    quadratic = _start_at_words(w, room, mass, factor)
    if quadratic <= floor:
        _copy(room.start, rows, columns, room.best)
        return 1, 0.0, moved
    lowest, calls, gap, done, fixed = np.inf, 0, 0.0, moved, -1.0
    for start in range(STARTS):
        if start == FROM_PRODUCT:
            quadratic = _start_at_product(w, room, mass, factor, most)
        elif start > FROM_PRODUCT:
            moving = 0.0
            for i in range(mass.n):
                for j in range(mass.m):
                    moving += room.best[i, j]
            if moving <= SAME or abs(moving - fixed) <= SAME:
                break
            fixed = moving
            more, quadratic = _start_at_fixed(w, room, mass, factor, floor, fixed, bar)
            calls += more
        copy_optimum(w.kept, optimum(w), rows, columns, False)
        active, more, last, ended = _descend(w, room, mass, factor, floor, quadratic)
        calls += more
        _gather(w, room, mass, active)
        linear, bending = _parts(w, room, mass, factor)
        value = linear + bending
        if value < lowest:
            lowest, gap, done = value, last, ended
            _copy(room.plan, rows, columns, room.best)
    return calls, gap, done


@kernel
def _start_at_fixed(
    w: Workspace,
    room: PartialWorkspace,
    mass: Masses,
    factor: float,
    floor: float,
    moving: float,
    bar: float,
) -> tuple[int, float]:
    """Start from the best plan of those that move so much, found from the product plan.

    Homes then hold what must stay, and nothing goes from home to home: at the cost `bar`, more
    than the price of a unit less the lowest cost, it is cheaper to move less instead.

    Returns the number of linear problems solved, and the quadratic part.
    """
    n, m = mass.n, mass.m
    quadratic = _start_at_product(w, room, mass, factor, moving)
    unit = mass.unit if mass.unit > 0.0 else 1.0 / WHOLE
    whole = min(np.floor(moving / unit + 0.5), w.supply[n], w.demand[m])
    held = w.supply[n], w.demand[m], w.u[n], w.v[m]
    _hold(w, mass, held, whole, whole * unit, bar)
    northwest(w.supply, w.demand, n + 1, m + 1, w.network)
    active, calls, _, _ = _descend(w, room, mass, factor, floor, quadratic)
    _gather(w, room, mass, active)
    _hold(w, mass, held, 0.0, 0.0, 0.0)
    room.plan[n, m] = 0.0
    _copy(room.plan, n + 1, m + 1, room.start)
    w.linear_of[0], quadratic = _parts(w, room, mass, factor)
    return calls, quadratic


@kernel
def _hold(w: Workspace, mass: Masses, held: Held, whole: float, real: float, bar: float) -> None:
    """Let homes hold that much less than they did, with `bar` as cost between them."""
    n, m = mass.n, mass.m
    w.supply[n], w.demand[m] = held[0] - whole, held[1] - whole
    w.u[n], w.v[m] = max(0.0, held[2] - real), max(0.0, held[3] - real)
    w.linear[n, m] = w.gradient[n, m] = bar


@kernel
def _squares(w: Workspace, g: Margins, mass: Masses, moving: float) -> float:
    """Size of the terms that make up the energy of plans that move so much."""
    for i in range(mass.n):
        g.p[i] = w.u[i] * (moving / w.v[mass.m])
    for j in range(mass.m):
        g.q[j] = w.v[j] * (moving / w.u[mass.n])
    return margin_energy(g, mass.n, mass.m)


@kernel
def _start_at_words(w: Workspace, room: PartialWorkspace, mass: Masses, factor: float) -> float:
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
    w: Workspace, room: PartialWorkspace, mass: Masses, factor: float, moving: float
) -> float:
    """Start from the product plan that moves so much; return the quadratic part."""
    n, m, g = mass.n, mass.m, room.margins
    weight_u, weight_v = w.v[m], w.u[n]
    share = moving / (weight_u * weight_v)
    _copy(w.linear, n + 1, padded(m + 1), w.gradient)
    _, product = at_product(w, share * factor, n, m)
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
    w: Workspace,
    room: PartialWorkspace,
    mass: Masses,
    factor: float,
    floor: float,
    quadratic: float,
) -> tuple[int, int, float, bool]:
    rows, columns = mass.n + 1, mass.m + 1
    return descend(w, rows, columns, False, mass.unit, factor, 0.0, floor, quadratic, room.margins)


@inlined
def _gather(w: Workspace, room: PartialWorkspace, mass: Masses, active: int) -> None:
    gather(w, mass.n + 1, mass.m + 1, active, room.start, room.plan)


@inlined
def _parts(
    w: Workspace, room: PartialWorkspace, mass: Masses, factor: float
) -> tuple[float, float]:
    """Linear and quadratic part of the objective at ``room.plan``."""
    linear = 0.0
    for i in range(mass.n + 1):
        for j in range(mass.m + 1):
            linear += w.linear[i, j] * room.plan[i, j]
    return linear, factor / 2.0 * _energy(w, room, room.plan, mass)


@kernel
def _energy(w: Workspace, room: PartialWorkspace, plan: Floats, mass: Masses) -> float:
    """Energy of what a plan moves: cell by cell if these are few, which is free of cancellation.

    Of many cells it is ``Σ A² p p + Σ B² q q - 2 <A, P B Pᵀ>``.
    """
    n, m, g, cells, count = mass.n, mass.m, room.margins, room.cells, 0
    for i in range(n):
        for j in range(m):
            if plan[i, j] > 0.0:
                cells.rows[count], cells.columns[count] = i, j
                cells.mass[count] = plan[i, j]
                count += 1
    if count <= FEW * (n + m):
        return energy(w.a, w.b, cells, 0, count)
    set_margins(g, cells, 0, count, n, m)
    common = bent(w.a, w.b, plan, n, m, w.scratch)
    return max(0.0, margin_energy(g, n, m) - 2.0 * common)


@kernel
def _write(
    w: Workspace,
    plan: Floats,
    batch: Batch,
    p: int,
    h: int,
    mass: Masses,
    bends: float,
    out: Outputs,
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
    out.structural[p, h] = mass.total * mass.total * bends
    out.home[p, h] = mass.total * home / 2.0
    if out.plans.size:
        write_plan(w, plan, n, m, mass.total, batch, p, h, out)


@inlined
def _copy(source: Floats, rows: int, columns: int, out: Floats) -> None:
    for i in range(rows):
        for j in range(columns):
            out[i, j] = source[i, j]
