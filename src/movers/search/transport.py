"""Measures of transport in an index: bounds exclude most sentences, the others are solved."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from movers.arrays import Ints
from movers.errors import InputError
from movers.runtime.progress import progress_bar
from movers.scorer import Scorer
from movers.search.cascade import Cascade
from movers.search.corpus import Corpus
from movers.search.exact import HeadOrder
from movers.search.lower import Query
from movers.search.results import Found
from movers.search.shards import Shard, make_shard

CAPACITY = 4096
"""Sentences of a shard: about 100 MB, and what a broken-off build loses at most."""
BLOCK = 64
"""Sentences mined between two entries of the journal."""


class TransportLayout:
    """How an index of a transport measure keeps and searches sentences."""

    kind = Shard
    hides = False
    name = "transport"

    @property
    def block(self) -> int:
        """Sentences mined at a time."""
        return BLOCK

    @property
    def capacity(self) -> int:
        """Most sentences of a shard."""
        return CAPACITY

    def __init__(self) -> None:
        self._order: HeadOrder | None = None

    def make(self, scorer: Scorer, chunk: Sequence[str], *, progress: bool = False) -> Shard:
        """Encode sentences into a shard."""
        measured = scorer.measure(chunk, progress=progress)
        return make_shard(measured, list(chunk), scorer.method)

    def search(
        self,
        scorer: Scorer,
        corpus: Corpus[Shard],
        queries: Sequence[str],
        *,
        top_k: int,
        within: float,
        candidates: int | Ints | None = None,
    ) -> list[Found]:
        """Search for every query; rows of `candidates` are all that is looked at if given."""
        scorer.measure(queries)  # all of them in a few batches
        return [self._one(scorer, corpus, query, top_k, within, candidates) for query in queries]

    def _one(
        self,
        scorer: Scorer,
        corpus: Corpus[Shard],
        text: str,
        top_k: int,
        within: float,
        candidates: int | Ints | None,
    ) -> Found:
        query = Query.of(self.make(scorer, [text]), scorer)
        cascade = Cascade(scorer, query, corpus.shards, wanted=top_k, within=within)
        if candidates is None:
            pruning = cascade.run()
        elif isinstance(candidates, np.ndarray):
            pruning = cascade.some(candidates)
        else:
            if not scorer.method.needs_vectors:
                raise InputError(
                    f"{scorer.method.name} has no word vectors to pick candidates by; pass their "
                    "numbers, or search exactly"
                )
            pruning = cascade.some(nearest_means(query, corpus.shards, candidates))
        rows, distances = cascade.best.ranked()
        if np.isfinite(within):
            rows, distances = rows[distances <= within], distances[distances <= within]
        return Found(rows, distances, pruning, certified=not pruning.left_out)

    def near(
        self,
        scorer: Scorer,
        corpus: Corpus[Shard],
        numbers: range,
        threshold: float,
        *,
        progress: bool = False,
    ) -> Iterator[tuple[int, int, float]]:
        """Pairs of these sentences with those behind them, by number, and their distances."""
        self._order = order = self._order or HeadOrder(max(1, len(scorer.heads)))
        with progress_bar("comparing", "sentences", len(numbers), progress=progress) as bar:
            for row in numbers:
                own, *behind = _from(corpus.shards, row)
                query = Query.of(own.take(slice(1)), scorer)
                near = [*([own.take(slice(1, None))] if len(own) > 1 else []), *behind]
                wanted = len(corpus)
                cascade = Cascade(scorer, query, near, wanted=wanted, within=threshold, order=order)
                cascade.run()
                bar.update()
                for place, distance in zip(*cascade.best.ranked(), strict=True):
                    if distance <= threshold:
                        yield row, row + 1 + int(place), float(distance)


def _from(shards: Sequence[Shard], row: int) -> Iterator[Shard]:
    """The sentences from a row on."""
    for shard in shards:
        if row < len(shard):
            yield shard.take(slice(max(row, 0), None))
        row -= len(shard)


def nearest_means(query: Query, shards: Sequence[Shard], wanted: int) -> Ints:
    """Sentences whose mean vectors have the highest cosine with that of the query."""
    own = query.shard.centroids[0]
    found = []
    for shard in shards:
        means = shard.centroids
        lengths = np.maximum(np.linalg.norm(means, axis=1), 1e-30)
        found.append(-np.nan_to_num(means @ own / lengths))
    return np.argsort(np.concatenate(found), kind="stable")[:wanted]
