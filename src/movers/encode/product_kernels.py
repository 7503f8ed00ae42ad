"""Compiled loops of `movers.encode.products`."""

from __future__ import annotations

from movers.arrays import Floats
from movers.runtime.compiling import exact

ROWS = 32
TERMS = 4


@exact
def multiply(low: int, high: int, rows: Floats, matrix: Floats, out: Floats) -> None:
    """Add to the rows ``low .. high-1`` of ``out`` those of ``rows`` times the matrix.

    Every sum takes its terms one by one in their order, whichever rows it shares a pass with;
    only neighbouring columns are summed side by side. Four rows of the matrix stay in the
    fastest cache while a block of rows goes by.
    """
    size, width = matrix.shape
    whole = size - size % TERMS
    for first in range(low, high, ROWS):
        for k in range(0, whole, TERMS):
            for i in range(first, min(first + ROWS, high)):
                x, y, z, w = rows[i, k], rows[i, k + 1], rows[i, k + 2], rows[i, k + 3]
                for j in range(width):
                    total = out[i, j] + x * matrix[k, j]
                    total = total + y * matrix[k + 1, j]
                    total = total + z * matrix[k + 2, j]
                    out[i, j] = total + w * matrix[k + 3, j]
        for k in range(whole, size):
            for i in range(first, min(first + ROWS, high)):
                for j in range(width):
                    out[i, j] += rows[i, k] * matrix[k, j]
