"""Order-preserving Wasserstein distance: transport that prefers to keep positions.

Su and Hua (2019); the constants are those of Yamagiwa et al. (2023), whose published rows,
however, are plain word mover's distances: the reference recipe has a row of its own for that.

The constants suit costs of about 1, as cosines have them. For vectors that are not of length 1
the authors' code advises to divide the costs of a pair by the largest: Euclidean ones, of about
30, would leave the preference for order no say at all. Only the plan is found so; the distance
is in the unit of the cost, as otherwise pairs could not be compared.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from movers.arrays import Floats, Ints, Ragged, boundaries
from movers.measures.base import Measure
from movers.measures.parts.costs import pair_costs
from movers.measures.sentences import WeightedSentences
from movers.solve.batch import Problems
from movers.solve.solution import Many
from movers_research.entropic import sinkhorn_batch

INVERSE_DIFFERENCE = 10.0
TEMPERATURE = 0.03
WIDTH = 10.0
ITERATIONS = 20


@dataclass(frozen=True)
class OrderPreserving(Measure):
    """``<C, P>`` for the plan that 20 rounds of Sinkhorn reach.

    ``cost`` is a row of `movers.measures.parts.costs.COSTS`, divided by its largest for the plan if
    ``scaled``.
    """

    cost: str = "l2"
    scaled: bool = False
    symmetric: bool = False

    def distances(self, sentences: WeightedSentences, rows: Ints) -> Floats:
        """Return what the words cost under the plan of every pair."""
        return np.asarray(self._moved(sentences, rows).value[:, 0])

    def plan(self, sentences: WeightedSentences, rows: Ints) -> Floats:
        """Return which word of one pair went where, flat."""
        return self._moved(sentences, rows).plan

    def _moved(self, sentences: WeightedSentences, rows: Ints) -> Many:
        assert sentences.vectors is not None and sentences.norms is not None
        words, threads = (sentences.vectors, sentences.norms.data), self.context.threads
        costs = pair_costs(self.cost, *words, *rows.T, threads=threads)
        problems = Problems.between(sentences.weights, rows, costs)
        shares = shares_of_largest(costs) if self.scaled else costs.data
        kernel = log_kernel(shares, Grid.of(problems.shapes))
        return sinkhorn_batch(
            problems, kernel, iterations=ITERATIONS, tolerance=0.0, threads=threads
        )


def shares_of_largest(costs: Ragged) -> Floats:
    """Costs of every pair as shares of its largest."""
    largest = np.maximum.reduceat(costs.data, costs.starts[:-1]) if len(costs) else costs.data
    return np.asarray(costs.data / np.repeat(np.where(largest > 0, largest, 1.0), costs.lengths))


class Grid(NamedTuple):
    """Which matrix, row and column every cell of row-major blocks belongs to.

    ``shapes`` are the rows and columns of every block, ``(pairs, 2)``; the others tell of every
    cell.
    """

    shapes: Ints
    pair: Ints
    row: Ints
    column: Ints

    @classmethod
    def of(cls, shapes: Ints) -> Grid:
        """The grid of blocks of the given shapes."""
        starts = boundaries(shapes.prod(axis=1))
        pair = np.repeat(np.arange(len(shapes)), np.diff(starts))
        row, column = np.divmod(np.arange(starts[-1]) - starts[pair], shapes[pair, 1])
        return cls(shapes, pair, row, column)


def log_kernel(costs: Floats, grid: Grid) -> Floats:
    """Logarithm of ``p exp((s - C) / temperature)``.

    With positions as shares of their sentence, ``i / n`` and ``j / m``, p is a bell curve of
    how far the cell lies from the diagonal, and s is large near it.
    """
    n, m = grid.shapes[grid.pair].T
    apart = grid.row / n - grid.column / m
    away = apart**2 / (1 / n**2 + 1 / m**2)
    bell = -away / (2 * WIDTH**2) - np.log(WIDTH * np.sqrt(2 * np.pi))
    near = INVERSE_DIFFERENCE / (apart**2 + 1)
    return np.asarray(bell + (near - costs) / TEMPERATURE)
