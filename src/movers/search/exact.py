"""Distances to those sentences that bounds cannot exclude: solved exactly, or given up early.

A distance is the mean over heads. As soon as the heads solved so far and the bounds of the
others add up to more than the threshold, the rest need not be solved. What is solved goes
through the same functions, in the same precision, as `Scorer.matrix`: the same bits come out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from movers.arrays import Floats, Ints, Singles
from movers.measure.measured import Bags
from movers.pipeline import pose
from movers.scorer import Scorer
from movers.search.shards import Shard
from movers.search.walk import from_first
from movers.solve.batch import emd_batch, fgw_batch
from movers.solve.bounds import pairing_bounds
from movers.solve.kernels import LANES
from movers.solve.problems import Problems

TOGETHER = 2
"""Heads solved at once: they share the solution of the word cost they all start from."""
PAIRED = 2 / 3
"""Share of the heads that get the stronger bound: the others hardly gain from it."""
FOLD = 1.0 - 1e-9
"""Sums of solved heads and bounds are taken a little lower, for their own rounding."""


@dataclass
class HeadOrder:
    """Which heads to bound better, and in which order to solve them, learned as we go.

    ``gain`` is by how much the stronger bound of a head exceeds the first one, on average, and
    ``excess`` by how much its values exceed its bounds.
    """

    heads: int
    gain: Floats | None = None
    excess: Floats | None = None

    @property
    def paired(self) -> Ints:
        """Heads that gain most from the stronger bound; all of them while nothing is known."""
        if self.gain is None:
            return np.arange(self.heads)
        lanes = LANES * max(1, round(PAIRED * self.heads / LANES))
        return np.sort(np.argsort(self.gain)[::-1][:lanes])

    def groups(self) -> list[Ints]:
        """Heads to solve one after another; all at once while nothing is known."""
        if self.excess is None:
            return [np.arange(self.heads)]
        groups = np.split(np.arange(self.heads), range(TOGETHER, self.heads, TOGETHER))
        excess = [float(self.excess[heads].mean()) for heads in groups]
        return [groups[place] for place in np.argsort(excess)[::-1]]


def distances_within(
    scorer: Scorer, both: Shard, bounds: Singles, threshold: float, order: HeadOrder
) -> tuple[Floats, int]:
    """Distances from a query to sentences; infinite beyond the threshold.

    ``both`` are the query, then the sentences; ``bounds`` are head by head, minus infinity for
    sentences that may be undefined. Also tells how many of the infinite ones a bound excluded
    before any was solved.
    """
    pairs = from_first(len(both))
    odd = ~np.isfinite(bounds).all(axis=1)
    out = np.empty(len(pairs))
    out[odd] = scorer.solve(both.words, pairs[odd]).mean(axis=1)
    out[~odd], paired = _plain(scorer, both.words, pairs[~odd], bounds[~odd], threshold, order)
    return out, paired


def _plain(
    scorer: Scorer, bags: Bags, pairs: Ints, bounds: Singles, threshold: float, order: HeadOrder
) -> tuple[Floats, int]:
    """Distances of pairs that are known to have one."""
    out = np.full(len(pairs), np.inf)
    if not len(pairs):
        return out, 0
    method = scorer.method
    problems = pose(method, bags, pairs, threads=scorer.threads)
    if not method.needs_attention:
        return np.asarray(emd_batch(problems, threads=scorer.threads).value.mean(axis=1)), 0
    share = scorer.share
    if method.reports == "value" and np.isfinite(threshold):
        _tighten(problems, share, bounds, order, scorer.threads)
    values = np.zeros((len(pairs), order.heads))
    least = bounds.sum(axis=1, dtype=np.float64)
    alive = np.flatnonzero(least * FOLD <= threshold * order.heads)
    paired = len(pairs) - len(alive)
    for heads in order.groups():
        solved = fgw_batch(problems.take(alive, heads), mix=share, threads=scorer.threads)
        values[alive[:, None], heads] = found = getattr(solved, method.reports)
        replaced = bounds[alive[:, None], heads].sum(axis=1, dtype=np.float64)
        least[alive] += found.sum(axis=1) - replaced
        alive = alive[least[alive] * FOLD <= threshold * order.heads]
    fit = alive[np.isfinite(bounds[alive]).all(axis=1) & np.isfinite(values[alive]).all(axis=1)]
    if order.excess is None and len(fit):
        order.excess = (values[fit] - bounds[fit]).mean(axis=0)
    out[alive] = values[alive].mean(axis=1)
    return out, paired


def _tighten(
    problems: Problems, share: float, bounds: Singles, order: HeadOrder, threads: int | None
) -> None:
    """Raise the bounds of those heads that gain from it."""
    heads = order.paired
    found = pairing_bounds(problems, mix=share, heads=heads, threads=threads)
    if order.gain is None:
        order.gain = np.maximum(found - bounds, 0.0).mean(axis=0)
    bounds[:, heads] = np.fmax(bounds[:, heads], found)
