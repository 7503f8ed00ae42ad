"""What a structure charges for plans that were made without it."""

import numpy as np

from movers.arrays import Floats
from movers.runtime.compiling import entry
from movers.solve.kernels.batches import Batch, Structures
from movers.solve.kernels.workspace import Cells


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
        filled = 0
        for i in range(n):
            for j in range(m):
                moved = plans[batch.cost_start[p] + i * m + j]
                if moved > 0.0:
                    rows[filled], columns[filled], mass[filled] = i, j, moved
                    filled += 1
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
