"""Order-preserving Wasserstein distance: transport that prefers to keep positions.

Su and Hua (2019); the constants are those of Yamagiwa et al. (2023), whose published rows,
however, are plain word mover's distances: the reference recipe has a row of its own for that.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from movers.baselines import Floats, Ints, Scores
from movers.baselines.grid import Grid
from movers.encode.ragged import Ragged
from movers.measure.costs import pair_costs
from movers.measure.measured import Context, Measured
from movers.solve.entropic import sinkhorn_batch

INVERSE_DIFFERENCE = 10.0
TEMPERATURE = 0.03
WIDTH = 10.0
ITERATIONS = 20


@dataclass(frozen=True)
class OrderPreserving:
    """The measure with one of the costs of `movers.measure.costs`."""

    cost: str

    def distances(
        self, measured: Measured, rows: Ints, context: Context, *, plans: bool = False
    ) -> Scores:
        """Find ``<C, P>`` for the plan that 20 rounds of Sinkhorn reach."""
        assert measured.vectors is not None and measured.norms is not None
        sources, targets = rows.T
        costs = pair_costs(self.cost, measured.vectors, measured.norms.data, sources, targets)
        weights = measured.weights
        u_start, v_start = np.ascontiguousarray(weights.starts[rows].T)
        grid = Grid.of(weights.lengths[rows])
        found = sinkhorn_batch(
            grid.shapes,
            log_kernel(costs.data, grid),
            weights.data,
            weights.data,
            u_start=u_start,
            v_start=v_start,
            iterations=ITERATIONS,
            tolerance=0.0,
        ).plans
        return Scores(Ragged(costs.data * found, costs.starts).sums(), found if plans else None)


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


l2 = OrderPreserving("l2")
cosine = OrderPreserving("cosine")
