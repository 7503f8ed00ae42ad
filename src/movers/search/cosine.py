"""The default measure in an index: found by sentence vectors, decided by words.

Its distance is never below one minus the cosine of the sentence vectors, so sentences are walked
in order of cosine. Where these are as far apart as unrelated ones, structure does not count and
the vectors alone give the distance, to the last bit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal

import numpy as np

from movers.arrays import Floats, Ints, Singles
from movers.encode.encodings import Request, Store
from movers.errors import InputError
from movers.measures.bounds import CosineBound
from movers.measures.sentences import WeightedSentences, sentence_distances
from movers.scorer import Scorer
from movers.search.corpus import Corpus, Shard
from movers.search.search_ranking import SearchResult
from movers.search.vectors import Precision, StoredVectors, rounding, unit_vectors
from movers.search.walk import (
    FIRST,
    FOLD,
    Nearest,
    distances_between,
    distances_from,
    find_rows,
    from_first,
)

Keep = Literal["text", "words"]

CAPACITY: dict[Keep, int] = {"text": 16_384, "words": 1_024}
"""Sentences of a shard: about 30 and 90 MB, and what a broken-off build loses at most."""
STORE_BYTES = 1 << 28
"""What the sentences that were compared lately may take."""
QUERIES = 128
"""Queries that share one look at every vector."""
PROPOSED = 4_096
"""Pairs compared at a time when mining."""
UNSEEN = Nearest(np.zeros(0, np.int64), np.zeros(0), -np.inf)
"""What is known before any vector is looked at."""


class CosineLayout:
    """The layout of an index of the default measure: keeps sentences and searches them.

    To ``keep`` "words" is what full comparisons need, 87 kB for 18 words; "text" encodes the few
    sentences that are compared when they are. The ``precision`` of vectors is "float32", or "int8"
    for a quarter of the bytes and a few more comparisons.
    """

    block = 1_024
    """Sentences mined at a time."""

    def __init__(self, keep: Keep = "text", precision: Precision = "float32") -> None:
        if keep not in ("text", "words") or precision not in ("float32", "int8"):
            raise InputError(
                f"keep is 'text' or 'words' and vectors 'float32' or 'int8', got {keep!r} and "
                f"{precision!r}"
            )
        if (keep, precision) == ("words", "int8"):
            raise InputError("keep='words' needs the vectors as they are: vectors='float32'")
        self.keep, self.precision = keep, precision
        self.name, self.capacity = f"cosine-{keep}-{precision}", CAPACITY[keep]
        self.store: Store | None = None

    def make(self, scorer: Scorer, chunk: Sequence[str], *, progress: bool = False) -> Shard:
        """Encode sentences into a shard."""
        if self.keep == "text":
            pooled = pooled_vectors(scorer, chunk, progress=progress)
            return Shard.of(chunk, vectors=StoredVectors.of(pooled, self.precision))
        words = scorer.weigh_each(chunk, Store(scorer.measure.requirements), progress=progress)
        return Shard.of(chunk, words=words, vectors=StoredVectors.of(words.pooled))

    def search(
        self,
        scorer: Scorer,
        corpus: Corpus,
        queries: Sequence[str],
        top_k: int,
        within: float,
        candidates: int | Ints | None = None,
    ) -> list[SearchResult]:
        """Search for every query; the limits are those of `find_rows`."""
        results = []
        for low in range(0, len(queries), QUERIES):
            words = scorer.weigh_each(queries[low : low + QUERIES])
            listed = isinstance(candidates, np.ndarray)  # no others are looked at
            first = max(FIRST, 4 * top_k)
            scanned = [UNSEEN] * len(words) if listed else scan(corpus, words.pooled, first)
            for place, nearest in enumerate(scanned):
                query = words.take(slice(place, place + 1))
                limits = top_k, within, candidates
                results.append(self._search_for(query, nearest, scorer, corpus, *limits))
        return results

    def _search_for(
        self,
        query: WeightedSentences,
        scanned: Nearest,
        scorer: Scorer,
        corpus: Corpus,
        *limits: Any,
    ) -> SearchResult:
        """Search for one query; where vectors alone give a distance, words are not looked at."""

        def nearest(count: int) -> Nearest:
            """Return the lowest bounds; those of stored vectors to the last bit."""
            nonlocal scanned
            if len(scanned.rows) < count and scanned.rest < np.inf:
                (scanned,) = scan(corpus, query.pooled, count)
            if self.precision == "int8":
                return scanned
            bounds = vector_distances(corpus, scanned.rows, query.pooled)
            order = np.lexsort((scanned.rows, bounds))
            return Nearest(scanned.rows[order], bounds[order], scanned.rest)

        def settle(rows: Ints) -> Floats:
            bound = scorer.measure.bound
            assert isinstance(bound, CosineBound)
            return bound.settled(vector_distances(corpus, rows, query.pooled))

        compare = partial(distances_from, scorer, query, read=partial(self.words, scorer, corpus))
        known = settle if self.precision == "float32" else None
        return find_rows(len(corpus), nearest, compare, *limits, stage="vectors", settle=known)

    def near(
        self,
        scorer: Scorer,
        corpus: Corpus,
        numbers: range,
        threshold: float,
        *,
        progress: bool = False,
    ) -> Iterator[tuple[int, int, float]]:
        """Yield pairs of these sentences with those behind them, by number, and their distances."""
        rows = corpus.rows(np.arange(numbers.start, numbers.stop))
        pairs = np.concatenate([*_proposed(corpus, rows, threshold)])
        if self.precision == "float32":
            pairs = pairs[vector_distances(corpus, pairs) * FOLD <= threshold]
        apart = np.empty(len(pairs))
        for low in range(0, len(pairs), PROPOSED):
            rows, places = np.unique(pairs[low : low + PROPOSED], return_inverse=True)
            words = self.words(scorer, corpus, rows, progress=progress)
            apart[low : low + PROPOSED] = distances_between(scorer, words, places.reshape(-1, 2))
        pairs, apart = pairs[apart <= threshold], apart[apart <= threshold]
        order = np.lexsort((pairs[:, 1], apart, pairs[:, 0]))
        first, second = corpus.numbers(pairs[order].ravel()).reshape(-1, 2).T
        yield from zip(first.tolist(), second.tolist(), apart[order].tolist(), strict=True)

    def words(
        self, scorer: Scorer, corpus: Corpus, rows: Ints, *, progress: bool = False
    ) -> WeightedSentences:
        """Return the words of rows, read or encoded."""
        if self.keep == "words":
            return replace(corpus.take(rows).words, pooled=stored_vectors(corpus, rows))
        # the sentences that were compared lately; their vectors where the stored ones differ
        request = replace(scorer.measure.requirements, pooled=self.precision == "int8")
        if self.store is None or self.store.request != request:
            self.store = Store(request, limit=STORE_BYTES)
        texts = [corpus.text(row) for row in rows.tolist()]
        words = scorer.weigh_each(texts, self.store, progress=progress)
        # what was found by a vector is compared by it
        return words if request.pooled else replace(words, pooled=stored_vectors(corpus, rows))


def scan(corpus: Corpus, pooled: Singles, wanted: int) -> list[Nearest]:
    """Return the sentences with the lowest bounds for every query, one product per shard for all.

    Of every shard no more are held than are wanted, and one that tells what the others are above.

    Parameters
    ----------
    corpus
        The sentences; deleted ones are left out.
    pooled
        Vectors of the queries, ``(queries, dimension)``.
    wanted
        How many to return for each.
    """
    units, sound = unit_vectors(pooled)
    every: list[tuple[Ints, Singles]] = []
    for number, shard in enumerate(corpus.shards):
        assert shard.vectors is not None
        bounds = shard.vectors.bounds(units)
        bounds[~sound] = -np.inf
        bounds[:, corpus.hidden_in(number)] = np.inf
        places = np.argpartition(bounds, min(wanted, len(shard) - 1), axis=1)[:, : wanted + 1]
        every.append((corpus.starts[number] + places, np.take_along_axis(bounds, places, axis=1)))
    rows, lowest = (np.concatenate(sides, axis=1) for sides in zip(*every, strict=True))
    order = np.lexsort((rows, lowest))
    nearest = []
    for query, first in enumerate(order[:, : wanted + 1]):
        values = lowest[query, first].astype(np.float64)
        there = np.searchsorted(values[:wanted], np.inf)  # deleted ones lie behind
        rest = float(values[wanted]) if len(values) > wanted else np.inf
        nearest.append(Nearest(rows[query, first[:there]], values[:there], rest))
    return nearest


def stored_vectors(corpus: Corpus, rows: Ints) -> Singles:
    """Return stored vectors of rows."""
    some, places = np.unique(rows, return_inverse=True)
    parts = []
    for shard, inside in corpus.pieces(some):
        assert shard.vectors is not None
        parts.append(shard.vectors.pooled(inside))
    return np.concatenate(parts)[places]


def vector_distances(corpus: Corpus, rows: Ints, query: Singles | None = None) -> Floats:
    """Return one minus the cosine of stored vectors, as the measure computes it.

    From the vector of a query, ``(1, dimension)``, to those of rows; without one, of pairs of rows.
    """
    out = np.empty(len(rows))
    for low in range(0, len(rows), PROPOSED):
        if query is None:
            some, pairs = np.unique(rows[low : low + PROPOSED], return_inverse=True)
            pooled, pairs = stored_vectors(corpus, some), pairs.reshape(-1, 2)
        else:
            pooled = np.concatenate([query, stored_vectors(corpus, rows[low : low + PROPOSED])])
            pairs = from_first(len(pooled))
        out[low : low + PROPOSED] = sentence_distances(pooled, pairs)
    return out


def _proposed(corpus: Corpus, rows: Ints, threshold: float) -> Iterator[Ints]:
    """Yield pairs of rows with those behind them whose vectors are near enough, shard by shard."""
    yield np.zeros((0, 2), np.int64)
    if not len(rows):
        return
    units, sound = unit_vectors(stored_vectors(corpus, rows))
    error = 0.0 if sound.all() else np.inf  # how far these may be off
    for shard, inside in corpus.pieces(rows):
        assert shard.vectors is not None
        if not shard.vectors.whole:
            error = max(error, float(shard.vectors.errors[inside].max()))
    first = int(np.searchsorted(corpus.starts, rows[0], side="right")) - 1
    for number, shard in enumerate(corpus.shards[first:], first):
        assert shard.vectors is not None
        others, off = shard.vectors.units()
        least = 1.0 - threshold - rounding(units.shape[1]) - error - off * (1.0 + error)
        near = units @ others.T >= np.nextafter(least.astype(np.float32), np.float32(-np.inf))
        near[:, corpus.hidden_in(number)] = False
        left, right = np.nonzero(near)
        pairs = np.stack([rows[left], corpus.starts[number] + right], axis=1)
        yield pairs[pairs[:, 0] < pairs[:, 1]]


def pooled_vectors(scorer: Scorer, texts: Sequence[str], *, progress: bool = False) -> Singles:
    """Return vectors of distinct sentences and nothing else."""
    request = Request((), (), scorer.measure.requirements.rules, True)
    return scorer.encoder.encode(list(texts), request, progress=progress).pooled
