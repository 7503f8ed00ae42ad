"""What a structure charges for plans that were made without it."""

import numpy as np

from movers.arrays import Floats, Ints
from movers.runtime.compiling import entry, kernel
from movers.solve.kernels.batches import Batch, Structures


@entry
def price_range(
    low: int,
    high: int,
    batch: Batch,
    plans: Floats,
    structures: Structures,
    cells: Ints,
    mass: Floats,
    out: Floats,
) -> None:
    """Fill in ``sum (A[i, k] - B[j, l])**2 Q[i, j] Q[k, l]`` for every pair and head.

    `cells` (2, most) and `mass` (most,) are room for the cells of one plan.
    """
    structure = structures.single
    for p in range(low, high):
        n, m = batch.shapes[p, 0], batch.shapes[p, 1]
        filled = _list_cells(plans, batch.cost_start[p], n, m, cells, mass)
        for h in range(out.shape[1]):
            a, b = structures.a_start[p] + h * n * n, structures.b_start[p] + h * m * m
            total = 0.0
            for c in range(filled):
                i, j = a + cells[0, c] * n, b + cells[1, c] * m
                inner = 0.0
                for d in range(filled):
                    here, there = structure[i + cells[0, d]], structure[j + cells[1, d]]
                    apart = np.float64(here) - np.float64(there)
                    inner += mass[d] * apart * apart
                total += mass[c] * inner
            out[p, h] = total


@kernel
def _list_cells(plans: Floats, start: int, n: int, m: int, cells: Ints, mass: Floats) -> int:
    filled = 0
    for i in range(n):
        for j in range(m):
            moved = plans[start + i * m + j]
            if moved > 0.0:
                cells[0, filled] = i
                cells[1, filled] = j
                mass[filled] = moved
                filled += 1
    return filled
