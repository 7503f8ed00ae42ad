"""Indexes of measures that bound their own distances, by words or by a few numbers of a sentence.

The bounds of all sentences are computed for every query, and sentences are compared in their order.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np

from movers.arrays import Floats, Ints, Singles
from movers.encode.encoding_cache import Store
from movers.errors import InputError
from movers.measures.bounds import FeatureBound, WordBound
from movers.runtime.progress import progress_bar
from movers.scorer import Scorer
from movers.search.corpus import Corpus, Shard, stored, wordless
from movers.search.search_ranking import SearchResult
from movers.search.walk import Nearest, distances_from, find_rows

Asked = tuple[Floats, Callable[[Ints], Floats]]
"""Bounds of all rows from a sentence, and what compares it with some."""


class BoundedLayout(ABC):
    """A layout of an index of a measure with a bound: keeps its sentences and searches them."""

    name: ClassVar[str]
    kind: ClassVar[type[Shard]]
    block: ClassVar[int]
    """Sentences mined between two entries of the journal."""
    capacity: ClassVar[int]
    """Sentences of a shard, and what a broken-off build loses at most."""

    @abstractmethod
    def make(self, scorer: Scorer, chunk: Sequence[str], *, progress: bool = False) -> Shard:
        """Make a shard of sentences."""

    @abstractmethod
    def ask(self, scorer: Scorer, corpus: Corpus[Any], asked: str | int) -> Asked:
        """Prepare to search for a text, or for the sentence of a row."""

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


class WordLayout(BoundedLayout):
    """A layout that keeps the words of every sentence with all that comparing them takes."""

    name, kind, block, capacity = "transport", Shard, 64, 4096

    def make(self, scorer: Scorer, chunk: Sequence[str], *, progress: bool = False) -> Shard:
        """Encode sentences into a shard."""
        words = scorer.weigh_each(chunk, Store(scorer.measure.requirements), progress=progress)
        return Shard(stored(words, chunk))

    def ask(self, scorer: Scorer, corpus: Corpus[Any], asked: str | int) -> Asked:
        """Prepare to search for a text, or for the sentence of a row."""
        bound = scorer.measure.bound
        assert isinstance(bound, WordBound)
        if isinstance(asked, str):
            words = scorer.weigh_each([asked])
        else:
            words = corpus.take(np.array([asked])).words
        words = replace(words, pooled=words.pooled[:, :0])
        bounds = (bound.lower(words, shard.words) for shard in corpus.shards)

        def compare(rows: Ints) -> Floats:
            return distances_from(scorer, words, rows, lambda some: corpus.take(some).words)

        return _joined(bounds, corpus), compare


@dataclass(frozen=True)
class FeatureShard(Shard):
    """Sentences with the numbers that bound their distances, ``(sentences, numbers)``."""

    features: Singles


class FeatureLayout(BoundedLayout):
    """A layout that keeps texts and the numbers its measure asks for; encodes what is compared."""

    name, kind, block, capacity = "features", FeatureShard, 256, 16_384

    def make(self, scorer: Scorer, chunk: Sequence[str], *, progress: bool = False) -> FeatureShard:
        """Make a shard of sentences."""
        features = _features(scorer).features(list(chunk))
        return FeatureShard(wordless(chunk), np.asarray(features, np.float32))

    def ask(self, scorer: Scorer, corpus: Corpus[Any], asked: str | int) -> Asked:
        """Prepare to search for a text, or for the sentence of a row."""
        query = asked if isinstance(asked, str) else corpus.text(asked)
        bound = _features(scorer)
        features = np.asarray(bound.features([query]), np.float32)[0]
        bounds = (bound.lower(features, shard.features) for shard in corpus.shards)

        def compare(rows: Ints) -> Floats:
            texts = [corpus.text(row) for row in rows.tolist()]
            sentences = scorer.weigh([query, *texts])
            targets = sentences.numbers(texts)
            sources = np.repeat(sentences.numbers([query]), len(targets))
            return scorer.between(sentences, np.stack([sources, targets], axis=1))

        return _joined(bounds, corpus), compare


def _joined(bounds: Iterable[Floats | Singles], corpus: Corpus[Any]) -> Floats:
    """Return the bounds of all rows, shard after shard; deleted sentences are infinitely far."""
    every = np.concatenate([*bounds]).astype(np.float64)
    every[corpus.hidden] = np.inf
    return every


def _lowest(bounds: Floats, total: int, count: int) -> Nearest:
    """Return the sentences with the lowest bounds, in corpus order where these are the same."""
    order = np.argsort(bounds, kind="stable")[:total]
    rest = bounds[order[count]] if count < len(order) else np.inf
    return Nearest(order[:count], bounds[order[:count]], float(rest))


def _features(scorer: Scorer) -> FeatureBound:
    bound = scorer.measure.bound
    assert isinstance(bound, FeatureBound)
    return bound
