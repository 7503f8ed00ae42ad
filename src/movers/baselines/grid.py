"""The cells of many matrices in one flat array."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from movers.arrays import Ints, boundaries


@dataclass(frozen=True)
class Grid:
    """Which matrix, row and column every cell of row-major blocks belongs to.

    Parameters
    ----------
    shapes
        Rows and columns of every block, shape ``(pairs, 2)``.
    starts
        Where the blocks start.
    pair, row, column
        Of every cell.
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
