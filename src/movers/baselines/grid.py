"""The cells of many matrices in one flat array."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from movers.arrays import Ints, boundaries


@dataclass(frozen=True)
class Grid:
    """Which matrix, row and column every cell of row-major blocks belongs to.

    ``shapes`` are the rows and columns of every block, ``(pairs, 2)``, and ``starts`` where blocks
    start; the others tell of every cell.
    """

    shapes: Ints
    starts: Ints
    pair: Ints
    row: Ints
    column: Ints

    @classmethod
    def of(cls, shapes: Ints) -> Grid:
        """The grid of blocks of the given shapes."""
        starts = boundaries(shapes.prod(axis=1))
        pair = np.repeat(np.arange(len(shapes)), np.diff(starts))
        place = np.arange(starts[-1]) - starts[pair]
        row, column = np.divmod(place, shapes[pair, 1])
        return cls(shapes, starts, pair, row, column)
