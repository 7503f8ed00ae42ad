"""The nearest sentences of a corpus, exactly, solving as few transport problems as possible.

1. Some sentences whose mean vectors lie nearest are solved; the k-th best is the threshold.
2. Bounds from words and attention profiles are computed for all that the mean vectors leave.
3. In the order of their bounds sentences get a stronger bound under the heads where it gains
   most, and those it leaves are solved head by head, given up as soon as they cannot reach the
   threshold; and the threshold sinks.

Only what lies strictly above the threshold is dropped, so ties come out as in brute force.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from movers.arrays import Bools, Floats, Ints, Singles
from movers.scorer import Scorer
from movers.search.corpus import Corpus
from movers.search.exact import HeadOrder, distances_within
from movers.search.lower import Query, centroid_lower, shard_lower
from movers.search.results import Pruning
from movers.search.shards import Shard, some_of
from movers.search.walk import Best

FIRST = 32
"""Sentences solved before the first threshold is set, or the number wanted if that is more."""
BATCH = 2048
"""Sentences solved between two looks at the threshold."""


class Cascade:
    """One query against the shards of an index.

    Distances above ``within`` are of no interest; ``order`` is what earlier queries taught about
    heads.
    """

    def __init__(
        self,
        scorer: Scorer,
        query: Query,
        shards: Sequence[Shard],
        *,
        wanted: int,
        within: float = np.inf,
        order: HeadOrder | None = None,
    ) -> None:
        self.scorer, self.query, self.corpus = scorer, query, Corpus(shards)
        self.shards, self.starts = self.corpus.shards, self.corpus.starts
        self.best = Best(wanted, threshold=within)
        self.order = order or HeadOrder(max(1, len(scorer.heads)))
        self.paired = self.given_up = 0

    def run(self) -> Pruning:
        """Find the best of all sentences."""
        corpus = int(self.starts[-1])
        centroid = np.concatenate(
            [np.zeros(0), *(centroid_lower(self.query, shard) for shard in self.shards)]
        )
        if centroid.any() and np.isinf(self.best.threshold):
            first = np.argsort(centroid, kind="stable")[: max(FIRST, self.best.wanted)]
            self._solve(np.sort(first))
        done = np.zeros(corpus, np.bool_)
        done[self.best.seen] = True
        words, heads = self._bounds(~done & (centroid <= self.best.threshold))
        means = heads.mean(axis=1, dtype=np.float64)
        waiting = np.flatnonzero(~done & (means <= self.best.threshold))
        waiting = waiting[np.argsort(means[waiting], kind="stable")]
        size = max(FIRST, self.best.wanted)
        while len(waiting):
            self._solve(np.sort(waiting[:size]), heads)
            waiting, size = waiting[size:], BATCH
            waiting = waiting[means[waiting] <= self.best.threshold]
        return self._report(centroid, words)

    def some(self, rows: Ints) -> Pruning:
        """Find the best of some sentences, all of them solved or given up."""
        self._solve(np.sort(rows))
        corpus = int(self.starts[-1])
        return Pruning(
            corpus,
            pairing=self.paired,
            heads=self.given_up,
            left_out=corpus - len(rows),
            solved=len(self.best.seen),
        )

    def _solve(self, rows: Ints, heads: Singles | None = None) -> None:
        both = self._gather(rows)
        bounds = (
            shard_lower(self.query, both.take(slice(1, None))).heads
            if heads is None
            else heads[rows]
        )
        threshold = self.best.threshold
        found, paired = distances_within(self.scorer, both, bounds, threshold, self.order)
        known = ~np.isposinf(found) | np.isinf(threshold)
        self.paired += paired
        self.given_up += int((~known).sum()) - paired
        self.best.add(rows[known], found[known])

    def _gather(self, rows: Ints) -> Shard:
        """Copy the query and some sentences together, wherever they are."""
        return some_of([(self.query.shard, np.zeros(1, np.int64)), *self.corpus.pieces(rows)])

    def _bounds(self, wanted: Bools) -> tuple[Floats, Singles]:
        """Bounds of the wanted sentences; infinite for the others."""
        words = np.full(len(wanted), np.inf)
        heads = np.full((len(wanted), self.order.heads), np.inf, np.float32)
        for shard, start in zip(self.shards, self.starts[:-1], strict=True):
            rows = np.flatnonzero(wanted[start : start + len(shard)])
            if len(rows):
                part = shard if len(rows) > len(shard) // 2 else shard.take(rows)
                lower = shard_lower(self.query, part)
                here = rows if part is shard else slice(None)
                words[start + rows], heads[start + rows] = lower.words[here], lower.heads[here]
        return words, heads

    def _report(self, centroid: Floats, words: Floats) -> Pruning:
        """Name for every sentence the cheapest stage that settles it."""
        corpus, solved = len(centroid), len(self.best.seen)
        far = centroid > self.best.threshold
        by_words = ~far & np.isfinite(words) & (words > self.best.threshold)
        dropped = {"centroid": int(far.sum()), "words": int(by_words.sum())}
        spared = corpus - solved - self.paired - self.given_up
        # some that these stages would exclude were solved before the threshold had sunk so far
        centroid_count = min(dropped["centroid"], spared)
        words_count = min(dropped["words"], spared - centroid_count)
        return Pruning(
            corpus,
            centroid=centroid_count,
            words=words_count,
            profile=spared - centroid_count - words_count,
            pairing=self.paired,
            heads=self.given_up,
            solved=solved,
        )
