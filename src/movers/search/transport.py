"""Measures of transport in an index: bounds exclude most sentences, the others are solved.

1. Some sentences whose mean vectors lie nearest are solved; the k-th best is the threshold.
2. Bounds from words and attention profiles are computed for all that the mean vectors leave.
3. In the order of their bounds sentences get a stronger bound under the heads where it gains
   most, and those it leaves are solved head by head, given up as soon as they cannot reach the
   threshold; and the threshold sinks.

Only what lies strictly above the threshold is dropped, so ties come out as in brute force.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from movers.arrays import Bools, Floats, Ints, Singles
from movers.errors import InputError
from movers.runtime.progress import progress_bar
from movers.scorer import Scorer
from movers.search.corpus import Corpus
from movers.search.query_bounds import (
    HeadOrder,
    centroid_lower,
    distances_within,
    shard_lower,
    transport_bound,
)
from movers.search.search_ranking import Pruning, SearchResult
from movers.search.shards import Shard, make_shard, some_of
from movers.search.walk import Best

FIRST = 32
"""Sentences solved before the first threshold is set, or the number wanted if that is more."""
BATCH = 2048
"""Sentences solved between two looks at the threshold."""


class TransportLayout:
    """How an index of a transport measure keeps and searches sentences."""

    kind = Shard
    hides = False
    name = "transport"
    block = 64
    """Sentences mined between two entries of the journal."""
    capacity = 4096
    """Sentences of a shard: about 100 MB, and what a broken-off build loses at most."""

    def __init__(self) -> None:
        self._order: HeadOrder | None = None

    def make(self, scorer: Scorer, chunk: Sequence[str], *, progress: bool = False) -> Shard:
        """Encode sentences into a shard."""
        weighed = scorer.weigh(chunk, progress=progress)
        return make_shard(weighed, list(chunk), transport_bound(scorer))

    def search(
        self,
        scorer: Scorer,
        corpus: Corpus[Shard],
        queries: Sequence[str],
        *,
        top_k: int,
        within: float,
        candidates: int | Ints | None = None,
    ) -> list[SearchResult]:
        """Search for every query; rows of `candidates` are all that is looked at if given."""
        if isinstance(candidates, int) and not scorer.measure.requirements.embeddings:
            raise InputError(
                f"{scorer.measure.name} has no word vectors to pick candidates by; pass their "
                "numbers, or search exactly"
            )
        scorer.weigh(queries)  # all of them in a few batches
        found = []
        for text in queries:
            query, best = self.make(scorer, [text]), Best(top_k, within)
            cascade = Cascade(scorer, query, corpus, best, HeadOrder.of(scorer))
            if candidates is None:
                pruning = cascade.run()
            elif isinstance(candidates, int):
                pruning = cascade.some(cascade.nearest_means(candidates))
            else:
                pruning = cascade.some(candidates)
            found.append(SearchResult(*best.ranked(), pruning, not pruning.left_out))
        return found

    def near(
        self,
        scorer: Scorer,
        corpus: Corpus[Shard],
        numbers: range,
        threshold: float,
        *,
        progress: bool = False,
    ) -> Iterator[tuple[int, int, float]]:
        """Yield pairs of these sentences with those behind them, by number, and their distances."""
        self._order = order = self._order or HeadOrder.of(scorer)
        with progress_bar("comparing", "sentences", len(numbers), progress=progress) as bar:
            for row in numbers:
                number = int(np.searchsorted(corpus.starts, row, side="right")) - 1
                rest = corpus.shards[number].take(slice(row - int(corpus.starts[number]), None))
                own, rest = rest.take(slice(1)), rest.take(slice(1, None))
                behind = [one for one in (rest, *corpus.shards[number + 1 :]) if len(one)]
                best = Best(len(corpus), threshold)
                Cascade(scorer, own, Corpus(behind), best, order).run()
                bar.update()
                for other, distance in zip(*best.ranked(), strict=True):
                    yield row, row + 1 + int(other), float(distance)


@dataclass
class Cascade:
    """One query, a shard of one sentence, against a corpus without gaps.

    ``order`` is what earlier queries taught about heads; ``given_up`` counts sentences that were
    not solved to the end.
    """

    scorer: Scorer
    query: Shard
    corpus: Corpus[Shard]
    best: Best
    order: HeadOrder
    given_up: int = 0

    def run(self) -> Pruning:
        """Find the best of all sentences."""
        bounds = (centroid_lower(self.scorer, self.query, shard) for shard in self.corpus.shards)
        centroid = np.concatenate([np.zeros(0), *bounds])
        size = max(FIRST, self.best.wanted)
        if centroid.any() and np.isinf(self.best.threshold):
            self._solve(np.sort(np.argsort(centroid, kind="stable")[:size]))
        done = np.zeros(len(centroid), np.bool_)
        done[self.best.rows] = True
        words, heads = self._bounds(~done & (centroid <= self.best.threshold))
        means = heads.mean(axis=1, dtype=np.float64)
        waiting = np.flatnonzero(~done & (means <= self.best.threshold))
        waiting = waiting[np.argsort(means[waiting], kind="stable")]
        while len(waiting):
            self._solve(np.sort(waiting[:size]), heads)
            waiting, size = waiting[size:], BATCH
            waiting = waiting[means[waiting] <= self.best.threshold]
        # the cheapest stage that settles a sentence; some that these would exclude were solved
        # before the threshold had sunk so far
        far = centroid > self.best.threshold
        by_words = ~far & np.isfinite(words) & (words > self.best.threshold)
        spared = len(centroid) - len(self.best.rows) - self.given_up
        first = min(int(far.sum()), spared)
        second = min(int(by_words.sum()), spared - first)
        return self._pruning(centroid=first, words=second, profile=spared - first - second)

    def some(self, rows: Ints) -> Pruning:
        """Find the best of some sentences, all of them solved or given up."""
        self._solve(np.sort(rows))
        return self._pruning(left_out=len(self.corpus) - len(rows))

    def nearest_means(self, wanted: int) -> Ints:
        """Return sentences whose mean vectors have the highest cosine with that of the query."""
        own, found = self.query.centroids[0], []
        for shard in self.corpus.shards:
            means = shard.centroids
            lengths = np.maximum(np.linalg.norm(means, axis=1), 1e-30)
            found.append(-np.nan_to_num(means @ own / lengths))
        return np.argsort(np.concatenate(found), kind="stable")[:wanted]

    def _solve(self, rows: Ints, heads: Singles | None = None) -> None:
        pieces = self.corpus.pieces(rows)
        both = some_of([(self.query, np.zeros(1, np.int64)), *pieces])
        if heads is None:
            bounds = shard_lower(self.scorer, self.query, both.take(slice(1, None)))[1]
        else:
            bounds = heads[rows]
        threshold = self.best.threshold
        found = distances_within(self.scorer, both, bounds, threshold, self.order)
        known = ~np.isposinf(found) | np.isinf(threshold)
        self.given_up += int((~known).sum())
        self.best.add(rows[known], found[known])

    def _bounds(self, wanted: Bools) -> tuple[Floats, Singles]:
        """Return bounds of the wanted sentences; infinite for the others."""
        words = np.full(len(wanted), np.inf)
        heads = np.full((len(wanted), self.order.heads), np.inf, np.float32)
        for shard, start in zip(self.corpus.shards, self.corpus.starts[:-1], strict=True):
            rows = np.flatnonzero(wanted[start : start + len(shard)])
            if len(rows):
                part = shard if len(rows) > len(shard) // 2 else shard.take(rows)
                found = shard_lower(self.scorer, self.query, part)
                here = rows if part is shard else slice(None)
                words[start + rows], heads[start + rows] = (one[here] for one in found)
        return words, heads

    def _pruning(self, **stages: int) -> Pruning:
        solved = {"heads": self.given_up, "solved": len(self.best.rows)}
        return Pruning(len(self.corpus), **stages, **solved)
