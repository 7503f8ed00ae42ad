"""What a structure charges for plans that were made without it."""

import numpy as np

from movers.arrays import Floats, Singles
from movers.runtime.compiling import entry, kernel
from movers.solve.kernels.workspace import Batch, Cells, Structures

CONSTANT = 1e-12
"""Below this share of the squares, two structures differ by rounding only."""


@kernel
def _gather(plans: Floats, start: int, n: int, m: int, room: Cells) -> int:
    """List the cells of a plan that hold mass, and return how many there are."""
    rows, columns, mass = room
    filled = 0
    for i in range(n):
        for j in range(m):
            moved = plans[start + i * m + j]
            if moved > 0.0:
                rows[filled], columns[filled], mass[filled] = i, j, moved
                filled += 1
    return filled


@entry
def price_range(
    low: int, high: int, batch: Batch, plans: Floats, given: Structures, room: Cells, out: Floats
) -> None:
    """Fill in ``sum (A[i, k] - B[j, l])**2 Q[i, j] Q[k, l]`` for every pair and head.

    There is room for the cells of one plan.
    """
    rows, columns, mass = room
    structure = given.single
    for p in range(low, high):
        n, m = batch.shapes[p, 0], batch.shapes[p, 1]
        filled = _gather(plans, batch.cost_start[p], n, m, room)
        for h in range(out.shape[1]):
            a, b = given.a_start[p] + h * n * n, given.b_start[p] + h * m * m
            total = 0.0
            for c in range(filled):
                i, j = a + rows[c] * n, b + columns[c] * m
                inner = 0.0
                for d in range(filled):
                    here, there = structure[i + rows[d]], structure[j + columns[d]]
                    apart = np.float64(here) - np.float64(there)
                    inner += mass[d] * apart * apart
                total += mass[c] * inner
            out[p, h] = total


@kernel
def _cut(
    structure: Singles, start: int, size: int, moved: Floats, scale: Floats
) -> tuple[float, float]:
    """Scale the rows of a structure over the words that moved; return its two moments."""
    mean, square = 0.0, 0.0
    for i in range(size):
        row = 0.0
        if moved[i] > 0.0:
            for k in range(size):
                if moved[k] > 0.0:
                    row += np.float64(structure[start + i * size + k])
        scale[i] = 1.0 / row if row > 0.0 else 0.0
        for k in range(size):
            share = np.float64(structure[start + i * size + k]) * scale[i]
            weight = moved[i] * moved[k]
            mean += share * weight
            square += share * share * weight
    return mean, square


@entry
def broken_range(
    low: int,
    high: int,
    batch: Batch,
    plans: Floats,
    given: Structures,
    room: Cells,
    sides: Floats,
    out: Floats,
) -> None:
    """Fill in how much of the relations between moved words a plan breaks, for every head.

    Structures are cut to the words that moved, their rows scaled to sum to one; what the plan
    breaks of them is divided by what the product plan of the same marginals would break. There
    is room for the cells of one plan, and in ``sides`` for four numbers per word.
    """
    rows, columns, mass = room
    structure = given.single
    for p in range(low, high):
        n, m = batch.shapes[p, 0], batch.shapes[p, 1]
        filled, total = _gather(plans, batch.cost_start[p], n, m, room), 0.0
        for i in range(n):
            sides[0, i] = 0.0
        for j in range(m):
            sides[1, j] = 0.0
        for c in range(filled):
            total += mass[c]
            sides[0, rows[c]] += mass[c]
            sides[1, columns[c]] += mass[c]
        for h in range(out.shape[1]):
            a, b = given.a_start[p] + h * n * n, given.b_start[p] + h * m * m
            first = _cut(structure, a, n, sides[0], sides[2])
            second = _cut(structure, b, m, sides[1], sides[3])
            broken = 0.0
            for c in range(filled):
                i, j = rows[c], columns[c]
                inner = 0.0
                for d in range(filled):
                    here = np.float64(structure[a + i * n + rows[d]]) * sides[2, i]
                    there = np.float64(structure[b + j * m + columns[d]]) * sides[3, j]
                    inner += mass[d] * (here - there) * (here - there)
                broken += mass[c] * inner
            size = (first[1] + second[1]) * total * total
            chance = size - 2.0 * first[0] * second[0]
            noise = chance <= CONSTANT * size
            out[p, h] = 0.0 if noise or filled < 2 else broken * total * total / chance
