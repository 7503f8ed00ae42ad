"""The default measure in an index: found by sentence vectors, decided by words.

Its distance is never below one minus the cosine of the sentence vectors, so sentences are walked
in order of cosine. Where these are as far apart as unrelated ones, structure does not count and
the vectors alone give the distance, to the last bit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

import numpy as np

from movers.arrays import Floats, Ints, Singles
from movers.encode.encoding_cache import Store
from movers.encode.encodings import Request
from movers.errors import InputError
from movers.measures.bounds import CosineBound, sentence_distances
from movers.measures.sentences import WeightedSentences, joined
from movers.scorer import Scorer
from movers.search.corpus import Corpus
from movers.search.search_ranking import Pruning, SearchResult
from movers.search.shards import some_of
from movers.search.vectors import Precision, VectorShard, make_vectors, rounding, scan, unit_vectors
from movers.search.walk import FIRST, FOLD, Nearest, walk

Keep = Literal["text", "words"]

CAPACITY: dict[Keep, int] = {"text": 16_384, "words": 1_024}
"""Sentences of a shard: about 30 and 90 MB, and what a broken-off build loses at most."""
STORE_BYTES = 1 << 28
"""What the sentences that were compared lately may take."""
QUERIES = 128
"""Queries that share one look at every vector."""
PROPOSED = 4_096
"""Pairs compared at a time when mining."""
TOGETHER = 1024
"""Sentences compared with a query at a time."""


class CosineLayout:
    """How an index of the default measure keeps and searches sentences.

    To ``keep`` "words" is what full comparisons need, 87 kB for 18 words; "text" encodes the few
    sentences that are compared when they are. The ``precision`` of vectors is "float32", or "int8"
    for a quarter of the bytes and a few more comparisons.
    """

    kind = VectorShard
    hides = True
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

    def make(self, scorer: Scorer, chunk: Sequence[str], *, progress: bool = False) -> VectorShard:
        """Encode sentences into a shard."""
        if self.keep == "text":
            vectors = pooled_vectors(scorer, chunk, progress=progress)
            return make_vectors(chunk, vectors, self.precision)
        words = scorer.weigh_each(chunk, Store(scorer.measure.requirements), progress=progress)
        return make_vectors(chunk, words.pooled, "float32", words)

    def search(
        self,
        scorer: Scorer,
        corpus: Corpus[VectorShard],
        queries: Sequence[str],
        *,
        top_k: int,
        within: float,
        candidates: int | Ints | None = None,
    ) -> list[SearchResult]:
        """Search for every query; rows of `candidates` are all that is looked at if given."""
        found = []
        for low in range(0, len(queries), QUERIES):
            texts = queries[low : low + QUERIES]
            words = scorer.weigh_each(texts)
            scanned: Sequence[Nearest | None] = [None] * len(texts)
            if len(texts) > 1 and candidates is None:
                scanned = scan(corpus, words.pooled, max(FIRST, 4 * top_k))
            for place, nearest in enumerate(scanned):
                own = words.take(slice(place, place + 1))
                query = CosineQuery(self, scorer, corpus, own, nearest)
                found.append(query.search(top_k, within, candidates))
        return found

    def near(
        self,
        scorer: Scorer,
        corpus: Corpus[VectorShard],
        numbers: range,
        threshold: float,
        *,
        progress: bool = False,
    ) -> Iterator[tuple[int, int, float]]:
        """Yield pairs of these sentences with those behind them, by number, and their distances."""
        rows = corpus.rows(np.arange(numbers.start, numbers.stop))
        pairs = np.concatenate([*_proposed(corpus, rows, threshold)])
        if self.precision == "float32":
            apart = [np.zeros(0), *map(partial(_vector_distances, corpus), _few(pairs))]
            pairs = pairs[np.concatenate(apart) * FOLD <= threshold]
        full = partial(self._distances, scorer, corpus, progress=progress)
        found = np.concatenate([np.zeros(0), *map(full, _few(pairs))])
        pairs, found = pairs[found <= threshold], found[found <= threshold]
        order = np.lexsort((pairs[:, 1], found, pairs[:, 0]))
        first, second = corpus.numbers(pairs[order].ravel()).reshape(-1, 2).T
        yield from zip(first.tolist(), second.tolist(), found[order].tolist(), strict=True)

    def _distances(
        self, scorer: Scorer, corpus: Corpus[VectorShard], pairs: Ints, *, progress: bool
    ) -> Floats:
        """Return full distances of pairs of rows."""
        rows, places = np.unique(pairs, return_inverse=True)
        words = self.words(scorer, corpus, rows, progress=progress)
        return distances_between(scorer, words, places.reshape(pairs.shape))

    def words(
        self, scorer: Scorer, corpus: Corpus[VectorShard], rows: Ints, *, progress: bool = False
    ) -> WeightedSentences:
        """Return the words of rows, read or encoded."""
        if self.keep == "words":
            found = some_of(corpus.pieces(rows))
            return replace(found.words, pooled=found.pooled(slice(None)))
        # the sentences that were compared lately; their vectors where the stored ones differ
        request = replace(scorer.measure.requirements, pooled=self.precision == "int8")
        if self.store is None or self.store.request != request:
            self.store = Store(request, limit=STORE_BYTES)
        texts = [corpus.text(row) for row in rows.tolist()]
        words = scorer.weigh_each(texts, self.store, progress=progress)
        # what was found by a vector is compared by it
        return words if request.pooled else replace(words, pooled=stored_vectors(corpus, rows))


@dataclass
class CosineQuery:
    """One query: lists the corpus in order of bounds, and compares what it is told to."""

    layout: CosineLayout
    scorer: Scorer
    corpus: Corpus[VectorShard]
    words: WeightedSentences
    scanned: Nearest | None = None
    compared: int = 0
    far: int = 0

    def search(self, top_k: int, within: float, candidates: int | Ints | None) -> SearchResult:
        """Find the nearest sentences: exactly, with so many comparisons, or of some rows."""
        total = len(self.corpus)
        if isinstance(candidates, np.ndarray):
            listed = Nearest(candidates, np.full(len(candidates), -np.inf), np.inf)
            found = walk(lambda _: listed, self.compare, wanted=top_k, within=within)
            stages = {"left_out": total - len(candidates)}
            found = replace(found, certified=len(candidates) == total)
        else:
            found = walk(self.nearest, self.compare, wanted=top_k, within=within, budget=candidates)
            stages = {
                "vectors" if found.certified else "left_out": total - self.compared - self.far
            }
        return replace(found, pruning=Pruning(total, solved=self.compared, far=self.far, **stages))

    def nearest(self, count: int) -> Nearest:
        """Return the sentences with the lowest bounds; those of stored vectors to the last bit."""
        known = self.scanned
        if known is None or (len(known.rows) < count and np.isfinite(known.rest)):
            known = self.scanned = scan(self.corpus, self.words.pooled, count)[0]
        if self.layout.precision == "int8":
            return known
        bounds = self.sentence(known.rows)
        order = np.lexsort((known.rows, bounds))
        return Nearest(known.rows[order], bounds[order], known.rest)

    def sentence(self, rows: Ints) -> Floats:
        """One minus the cosine with stored vectors, as the measure computes it."""
        found = [np.zeros(0)]
        for some in _few(rows):
            pooled = np.concatenate([self.words.pooled, stored_vectors(self.corpus, some)])
            found.append(sentence_distances(pooled, from_first(len(pooled))))
        return np.concatenate(found)

    def compare(self, rows: Ints) -> Floats:
        """Return distances of rows; where vectors alone give them, words are not looked at."""
        if self.layout.precision == "int8":
            return self._full(rows)
        sentence = self.sentence(rows)
        bound = self.scorer.measure.bound
        assert isinstance(bound, CosineBound)
        out = bound.settled(sentence)
        near = np.isnan(out)
        self.far += int((~near).sum())
        if near.any():
            out[near] = self._full(rows[near])
        return out

    def _full(self, rows: Ints) -> Floats:
        self.compared += len(rows)
        read = partial(self.layout.words, self.scorer, self.corpus)
        return distances_from(self.scorer, self.words, rows, read)


def _few(rows: Ints) -> Iterator[Ints]:
    """Yield rows or pairs of them, some thousand at a time."""
    for low in range(0, len(rows), PROPOSED):
        yield rows[low : low + PROPOSED]


def stored_vectors(corpus: Corpus[VectorShard], rows: Ints) -> Singles:
    """Stored vectors of rows."""
    shards = np.searchsorted(corpus.starts, rows, side="right") - 1
    out = np.empty((len(rows), corpus.shards[0].coarse.shape[1]), np.float32)
    for number in np.unique(shards).tolist():
        own = shards == number
        out[own] = corpus.shards[number].pooled(rows[own] - corpus.starts[number])
    return out


def _vector_distances(corpus: Corpus[VectorShard], pairs: Ints) -> Floats:
    """One minus the cosine of stored vectors, for pairs of rows."""
    rows, places = np.unique(pairs, return_inverse=True)
    return sentence_distances(stored_vectors(corpus, rows), places.reshape(-1, 2))


def _proposed(corpus: Corpus[VectorShard], rows: Ints, threshold: float) -> Iterator[Ints]:
    """Yield pairs of rows with those behind them whose vectors are near enough, shard by shard."""
    yield np.zeros((0, 2), np.int64)
    if not len(rows):
        return
    (own, sound), error = (
        unit_vectors(stored_vectors(corpus, rows)),
        0.0,
    )  # how far these may be off
    if not sound.all():
        error = np.inf
    elif not corpus.shards[0].whole:
        places = map(corpus.place, rows.tolist())
        error = max(float(shard.errors[place]) for shard, place in places)
    first = int(np.searchsorted(corpus.starts, rows[0], side="right")) - 1
    for number in range(first, len(corpus.shards)):
        start = int(corpus.starts[number])
        others, off = corpus.shards[number].units()
        least = 1.0 - threshold - rounding(own.shape[1]) - error - off * (1.0 + error)
        near = own @ others.T >= np.nextafter(least.astype(np.float32), np.float32(-np.inf))
        near[:, corpus.hidden_in(number)] = False
        left, right = np.nonzero(near)
        pairs = np.stack([rows[left], start + right], axis=1)
        yield pairs[pairs[:, 0] < pairs[:, 1]]


def pooled_vectors(scorer: Scorer, texts: Sequence[str], *, progress: bool = False) -> Singles:
    """Return vectors of distinct sentences and nothing else."""
    request = Request((), (), scorer.measure.requirements.rules, True)
    return scorer.encoder.encode(list(texts), request, progress=progress).pooled


def distances_between(scorer: Scorer, words: WeightedSentences, pairs: Ints) -> Floats:
    """Return distances of pairs of sentences by place, bit by bit those of `Scorer.matrix`."""
    texts = words.sentences
    places = {text: place for place, text in reversed([*enumerate(texts)])}
    first = np.array([places[text] for text in texts], np.int64)
    # The scorer knows every text once, and takes a sentence and itself for the same.
    return scorer.between(words, first[pairs])


def from_first(count: int) -> Ints:
    """Return pairs of the first of so many sentences with every other."""
    return np.stack([np.zeros(count - 1, np.int64), np.arange(1, count)], axis=1)


def distances_from(
    scorer: Scorer,
    query: WeightedSentences,
    rows: Ints,
    read: Callable[[Ints], WeightedSentences],
) -> Floats:
    """Return distances from a sentence to others, which are read a few at a time."""
    found = [np.zeros(0)]
    for low in range(0, len(rows), TOGETHER):
        words = joined([query, read(rows[low : low + TOGETHER])])
        found.append(distances_between(scorer, words, from_first(len(words.sentences))))
    return np.concatenate(found)
