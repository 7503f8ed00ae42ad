"""Entry points: solve the pairs ``low .. high-1`` of a batch, one after another.

Every problem starts from its own pair's cost, never from a neighbour: results do not depend
on the batch around it or on how the batch is cut into ranges.
"""

import numpy as np

from movers.runtime.compiling import entry, inlined
from movers.solve.kernels.frank_wolfe import descend
from movers.solve.kernels.gradient import at_product, load_structures
from movers.solve.kernels.pair_setup import (
    copy_optimum,
    load_cost,
    load_weights,
    optimum,
    solve_linear,
)
from movers.solve.kernels.vertices import bent, energy, gather, list_cells, on_cells, write_plan
from movers.solve.kernels.workspace import LARGEST, Batch, Outputs, Structures, Workspace, refuse

FLOOR = 1e-12
FREE = 1e-14


@entry
def emd_range(w: Workspace, low: int, high: int, batch: Batch, out: Outputs) -> None:
    """Solve ``min <C, P>``."""
    for p in range(low, high):
        n, m, square, unit = load_weights(w, batch, p)
        mean, typical, lowest, _ = load_cost(w, batch, p, n, m, 1.0)
        if n < 1 or m < 1 or np.isnan(mean):
            refuse(out, p)
            continue
        out.converged[p, 0] = solve_linear(w, n, m, square, unit, typical, lowest)
        out.linear[p, 0] = on_cells(w, w.cost, n, m, 1)
        if out.plans.size:
            w.active[0], w.weight[1] = 1, 1.0
            gather(w, n, m, 1, None, w.left)
            write_plan(w, w.left, n, m, 1.0, batch, p, 0, out)


@entry
def fgw_range(
    w: Workspace,
    low: int,
    high: int,
    batch: Batch,
    structures: Structures,
    mix: float,
    out: Outputs,
) -> None:
    """Solve ``min (1 - mix) <C, P> + mix scale E(P)`` for every head."""
    scale = structures.scale
    for p in range(low, high):
        n, m, square, unit = load_weights(w, batch, p)
        mean, typical, lowest, _ = load_cost(w, batch, p, n, m, 1.0 - mix)
        if n < 1 or m < 1 or np.isnan(mean):
            refuse(out, p)
            continue
        moved = solve_linear(w, n, m, square, unit, typical, lowest)
        copy_optimum(optimum(w), w.kept, n, m, square)
        free = lowest >= 0.0 and on_cells(w, w.linear, n, m, 1) <= FREE * typical
        for h in range(scale.shape[1]):
            load_structures(w, batch, structures, p, h, n, m)
            factor = 2.0 * mix * scale[p, h]
            squares, product = at_product(w, factor, n, m)
            if not squares <= LARGEST * LARGEST:
                refuse(out, p)
                break
            constant = factor / 2.0 * squares
            floor = FLOOR * (typical + constant)
            copy_optimum(w.kept, optimum(w), n, m, square)
            active, calls, gap, found = 1, 1, 0.0, 0.0
            settled, done = False, moved
            if free or factor == 0.0:
                # the answer without structure, and when it costs nothing and bends nothing
                list_cells(w, n, m, square, unit, 1)
                w.active[0], w.weight[1] = 1, 1.0
                found = energy(w.a, w.b, w.cells, n + m, w.counts[1])
                settled = factor == 0.0 or factor * found <= floor
            if not settled:
                w.linear_of[0] = (1.0 - mix) * mean
                active, calls, gap, done = descend(
                    w, n, m, square, unit, factor, constant, floor, -factor * product
                )
                found = _energy(w, n, m, active, squares)
            out.linear[p, h] = _mean_cost(w, n, m, active, mean)
            out.structural[p, h] = scale[p, h] * found
            out.iterations[p, h], out.gap[p, h], out.converged[p, h] = calls, gap, done
            if out.plans.size:
                gather(w, n, m, active, None, w.left)
                write_plan(w, w.left, n, m, 1.0, batch, p, h, out)


@inlined
def _energy(w: Workspace, n: int, m: int, active: int, squares: float) -> float:
    """Energy of the plan: at a vertex cell by cell, else as ``squares - 2 <A, P B Pᵀ>``."""
    slot = w.active[0]
    if active == 1 and slot > 0:
        return energy(w.a, w.b, w.cells, slot * (n + m), w.counts[slot])
    gather(w, n, m, active, None, w.left)
    return max(0.0, squares - 2.0 * bent(w.a, w.b, w.left, n, m, w.scratch))


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
