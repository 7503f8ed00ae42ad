"""Indexes of measures that bound their own distances, by words or by a few numbers of a sentence.

The bounds of all sentences are computed for every query, and sentences are compared in their order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from movers.arrays import Floats, Ints, Singles
from movers.encode.encodings import Store
from movers.errors import InputError
from movers.measures.bounds import FeatureBound, WordBound
from movers.runtime.progress import progress_bar
from movers.scorer import Scorer
from movers.search.corpus import Corpus, Shard, keys_of, stored, wordless
from movers.search.search_ranking import SearchResult
from movers.search.walk import Nearest, distances_from, find_rows

Asked = tuple[Floats, Callable[[Ints], Floats]]
"""Bounds of all rows from a sentence, and what compares it with some."""


@dataclass(frozen=True)
class FeatureShard(Shard):
    """Sentences with the numbers that bound their distances, ``(sentences, numbers)``."""

    features: Singles


@dataclass(frozen=True)
class BoundedLayout:
    """A layout of an index of a measure with a bound: keeps its sentences and searches them.

    ``capacity`` is how many sentences a shard has, and a broken-off build loses at most; ``block``
    how many are mined between two entries of the journal. ``make`` makes a shard of sentences;
    ``ask`` prepares to search a corpus for a text, or for the sentence of a row.
    """

    name: str
    kind: type[Shard]
    capacity: int
    block: int
    make: Callable[..., Shard]
    ask: Callable[[Scorer, Corpus[Any], str | int], Asked]

    def search(
        self,
        scorer: Scorer,
        corpus: Corpus[Any],
        queries: Sequence[str],
        *,
        top_k: int,
        within: float,
        candidates: int | Ints | None = None,
    ) -> list[SearchResult]:
        """Search for every query; rows of `candidates` are all that is looked at if given."""
        measure = scorer.measure
        by_words = isinstance(measure.bound, WordBound)
        if isinstance(candidates, int) and by_words and not measure.requirements.embeddings:
            raise InputError(
                f"{measure.name} has no word vectors to pick candidates by; pass their numbers, "
                "or search exactly"
            )
        scorer.weigh(queries)  # all of them in a few batches
        limits: dict[str, Any] = {"top_k": top_k, "within": within, "candidates": candidates}
        results = []
        for text in queries:
            bounds, compare = self.ask(scorer, corpus, text)
            source = partial(_lowest, bounds, len(corpus))
            results.append(find_rows(corpus, source, compare, stage="words", **limits))
        return results

    def near(
        self,
        scorer: Scorer,
        corpus: Corpus[Any],
        numbers: range,
        threshold: float,
        *,
        progress: bool = False,
    ) -> Iterator[tuple[int, int, float]]:
        """Yield pairs of these sentences with those behind them, by number, and their distances."""
        with progress_bar("comparing", "sentences", len(numbers), progress=progress) as bar:
            for number, row in zip(numbers, corpus.rows(np.array(numbers)).tolist(), strict=True):
                bounds, compare = self.ask(scorer, corpus, row)
                rows = row + 1 + np.flatnonzero(bounds[row + 1 :] <= threshold)
                distances = compare(rows)
                for place in np.argsort(distances, kind="stable"):
                    if distances[place] <= threshold:
                        other = int(corpus.numbers(rows[place]))
                        yield number, other, float(distances[place])
                bar.update()


def make_words(scorer: Scorer, chunk: Sequence[str], *, progress: bool = False) -> Shard:
    """Encode sentences into a shard of their words, with all that comparing them takes."""
    words = scorer.weigh_each(chunk, Store(scorer.measure.requirements), progress=progress)
    return Shard(stored(words, chunk), keys_of(chunk))


def ask_words(scorer: Scorer, corpus: Corpus[Any], asked: str | int) -> Asked:
    """Prepare to search by words for a text, or for the sentence of a row."""
    if isinstance(asked, str):
        words = scorer.weigh_each([asked])
    else:
        words = corpus.take(np.array([asked])).words
    words, bound = replace(words, pooled=words.pooled[:, :0]), scorer.measure.bound
    assert isinstance(bound, WordBound)

    def compare(rows: Ints) -> Floats:
        return distances_from(scorer, words, rows, lambda some: corpus.take(some).words)

    return _bounds((bound.lower(words, shard.words) for shard in corpus.shards), corpus), compare


def make_features(scorer: Scorer, chunk: Sequence[str], *, progress: bool = False) -> FeatureShard:
    """Make a shard of sentences and the numbers that their measure asks for."""
    features = _features(scorer, list(chunk))
    return FeatureShard(wordless(chunk), keys_of(chunk), features)


def ask_features(scorer: Scorer, corpus: Corpus[Any], asked: str | int) -> Asked:
    """Prepare to search by numbers for a text, or for the sentence of a row; words are encoded."""
    query, bound = asked if isinstance(asked, str) else corpus.text(asked), scorer.measure.bound
    assert isinstance(bound, FeatureBound)
    (features,) = _features(scorer, [query])

    def compare(rows: Ints) -> Floats:
        texts = [corpus.text(row) for row in rows.tolist()]
        sentences = scorer.weigh([query, *texts])
        targets = sentences.numbers(texts)
        sources = np.repeat(sentences.numbers([query]), len(targets))
        return scorer.between(sentences, np.stack([sources, targets], axis=1))

    bounds = (bound.lower(features, shard.features) for shard in corpus.shards)
    return _bounds(bounds, corpus), compare


def _features(scorer: Scorer, texts: list[str]) -> Singles:
    bound = scorer.measure.bound
    assert isinstance(bound, FeatureBound)
    return np.asarray(bound.features(texts), np.float32)


WORDS = BoundedLayout("transport", Shard, 4096, 64, make_words, ask_words)
FEATURES = BoundedLayout("features", FeatureShard, 16_384, 256, make_features, ask_features)


def _bounds(bounds: Iterable[Floats | Singles], corpus: Corpus[Any]) -> Floats:
    """Return the bounds of all rows, shard after shard; deleted sentences are infinitely far."""
    every = np.concatenate([*bounds]).astype(np.float64)
    every[corpus.hidden] = np.inf
    return every


def _lowest(bounds: Floats, total: int, count: int) -> Nearest:
    """Return the sentences with the lowest bounds, in corpus order where these are the same."""
    order = np.argsort(bounds, kind="stable")[:total]
    rest = bounds[order[count]] if count < len(order) else np.inf
    return Nearest(order[:count], bounds[order[:count]], float(rest))
