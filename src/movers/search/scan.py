"""The sentences with the lowest bounds, found by looking at every stored vector."""

from __future__ import annotations

import numpy as np

from movers.arrays import Singles
from movers.search.corpus import Corpus
from movers.search.vectors import VectorShard, unit_vectors
from movers.search.walk import Nearest

SLACK = 4
"""How many times more candidates are held than are wanted, before the others are dropped."""


class Lowest:
    """The lowest bounds of one query, as they come along.

    Memory does not depend on the corpus: what cannot be among the lowest is dropped.
    """

    def __init__(self, wanted: int) -> None:
        self.wanted = wanted
        self.rows, self.bounds = np.zeros(0, np.int64), np.zeros(0, np.float32)
        self.rest = np.inf

    def add(self, start: int, bounds: Singles) -> None:
        """Look at the bounds of rows from one on; infinite ones are not there."""
        near = np.flatnonzero(bounds < self.rest)
        if not len(near):
            return
        self.rows = np.concatenate([self.rows, start + near])
        self.bounds = np.concatenate([self.bounds, bounds[near]])
        if len(self.rows) > SLACK * self.wanted:
            self._drop()

    def _drop(self) -> None:
        if len(self.rows) <= self.wanted:
            return
        order = np.argpartition(self.bounds, self.wanted)
        self.rest, kept = float(self.bounds[order[self.wanted]]), order[: self.wanted]
        self.rows, self.bounds = self.rows[kept], self.bounds[kept]

    def nearest(self) -> Nearest:
        """The lowest of all."""
        self._drop()
        order = np.lexsort((self.rows, self.bounds))
        return Nearest(self.rows[order], self.bounds[order].astype(np.float64), self.rest)


def scan(corpus: Corpus[VectorShard], pooled: Singles, wanted: int) -> list[Nearest]:
    """The sentences with the lowest bounds for every query, one product per shard for all.

    ``pooled`` are the vectors of the queries, ``(queries, dimension)``.
    """
    units, sound = unit_vectors(pooled)
    lowest = [Lowest(wanted) for _ in units]
    for number, shard in enumerate(corpus.shards):
        bounds = shard.bounds(units)
        bounds[~sound] = -np.inf
        bounds[:, corpus.hidden_in(number)] = np.inf
        for held, row in zip(lowest, bounds, strict=True):
            held.add(int(corpus.starts[number]), row)
    return [held.nearest() for held in lowest]
