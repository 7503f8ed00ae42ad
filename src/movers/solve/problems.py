"""What solvers take: ragged batches of transport problems, as flat arrays."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from movers.arrays import Floats, Ints, Ragged, Singles, boundaries, places
from movers.solve.kernels.batches import Batch, Structures


@dataclass(frozen=True, slots=True, eq=False)
class Problems:
    """Transport problems between small weighted sets, with or without structure.

    Parameters
    ----------
    shapes : (pairs, 2)
        Sizes n, m of every pair.
    cost : flat
        Row-major n x m blocks, one after another.
    u, v : flat
        Weights; pair p uses ``u[u_start[p]:][:n]`` and ``v[v_start[p]:][:m]``. Both may be the
        same array. Only proportions matter: each side is taken to sum to one.
    structure : flat, float32 or float64
        Blocks (heads, n, n) of every sentence; pair p compares those at ``a_start[p]`` and
        ``b_start[p]``.
    scale : (pairs, heads)
        Factor of the structural part.
    """

    shapes: Ints
    cost: Floats
    u: Floats
    v: Floats
    u_start: Ints
    v_start: Ints
    structure: Singles | Floats = field(default_factory=lambda: np.zeros(0, np.float32))
    a_start: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    b_start: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    scale: Floats = field(default_factory=lambda: np.zeros((0, 0)))

    @classmethod
    def between(
        cls,
        weights: Ragged,
        rows: Ints,
        costs: Ragged,
        structure: Ragged | None = None,
        scale: Floats | None = None,
    ) -> Problems:
        """Pose the problems of pairs of sentences, given by their rows among the weights.

        With structure, one row of it per sentence.
        """
        u_start, v_start = np.ascontiguousarray(weights.starts[rows].T)
        data = weights.data
        linear = weights.lengths[rows], costs.data, data, data, u_start, v_start
        if structure is None or scale is None:
            return cls(*linear)
        a_start, b_start = np.ascontiguousarray(structure.starts[rows].T)
        return cls(*linear, structure.data, a_start, b_start, scale)

    def __len__(self) -> int:
        return len(self.shapes)

    @property
    def heads(self) -> int:
        """Structures that every pair is compared by."""
        return int(self.scale.shape[1])

    @property
    def costs(self) -> Ragged:
        """Cost matrices, one flat row per pair."""
        return Ragged(self.cost, boundaries(self.shapes.prod(axis=1)))

    def take(self, pairs: Ints, heads: Ints) -> Problems:
        """Some of the pairs under some heads, which lie one after another."""
        kept = self.shapes[pairs]
        cells = places(boundaries(self.shapes.prod(axis=1)), pairs)
        return replace(
            self,
            shapes=kept,
            cost=self.cost if len(pairs) == len(self) else self.cost[cells],
            u_start=self.u_start[pairs],
            v_start=self.v_start[pairs],
            a_start=self.a_start[pairs] + heads[0] * kept[:, 0] ** 2,
            b_start=self.b_start[pairs] + heads[0] * kept[:, 1] ** 2,
            scale=np.ascontiguousarray(self.scale[pairs[:, None], heads]),
        )

    @property
    def batch(self) -> Batch:
        """The linear part as kernels take it."""
        start = self.costs.starts[:-1]
        return Batch(self.shapes, self.cost, start, self.u, self.u_start, self.v, self.v_start)

    @property
    def structures(self) -> Structures:
        """The structural part as kernels take it: in one type, so as to compile once."""
        wide = self.structure.dtype != np.float32
        single = np.asarray(self.structure[:0] if wide else self.structure, np.float32)
        double = np.asarray(self.structure if wide else self.structure[:0], np.float64)
        return Structures(single, double, self.a_start, self.b_start, self.scale)
