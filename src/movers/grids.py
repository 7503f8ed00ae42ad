"""A matrix of distances cut to fit into memory: blocks of sentences, and runs of their cells."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np

from movers.arrays import Ints


def blocks(shape: tuple[int, ...], size: int, *, triangle: bool) -> Iterator[tuple[slice, slice]]:
    """Cut a matrix into blocks of at most ``size`` rows and columns; on request the upper ones.

    Examples
    --------
    >>> [(i.start, j.start) for i, j in blocks((5, 5), 3, triangle=True)]
    [(0, 0), (0, 3), (3, 3)]
    """
    for top, left in product(*(range(0, length, size) for length in shape)):
        if not triangle or left >= top:
            yield slice(top, top + size), slice(left, left + size)


def cells(rows: int, columns: int, size: int, *, triangle: bool) -> Iterator[tuple[Ints, Ints]]:
    """Rows and columns of all cells, at most ``size`` at a time; on request the upper triangle.

    Examples
    --------
    >>> [list(map(int, column)) for _, column in cells(2, 2, 3, triangle=True)]
    [[0, 1], [1]]
    """
    for start in range(0, rows * columns, size):
        row, column = np.divmod(np.arange(start, min(start + size, rows * columns)), columns)
        kept = (column >= row) if triangle else slice(None)
        yield row[kept], column[kept]
