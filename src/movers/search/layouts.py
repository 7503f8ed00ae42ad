"""How an index keeps the sentences of a measure and searches them; what makes the measure again.

Measures that bound their own distances, by words or by a few numbers of a sentence, have the bounds
of all sentences computed for every query, and sentences are compared in their order. Those of the
default measure are in `movers.search.cosine`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from movers.arrays import Floats, Ints, Singles
from movers.encode.encodings import Store
from movers.encode.models import EMBEDDED
from movers.errors import Choose, InputError
from movers.measures.bounds import CosineBound, FeatureBound, WordBound
from movers.runtime.progress import progress_bar
from movers.scorer import Scorer
from movers.search.corpus import Corpus, Shard
from movers.search.cosine import CosineLayout, Keep
from movers.search.search_ranking import SearchResult
from movers.search.vectors import Precision
from movers.search.walk import Nearest, distances_from, find_rows
from movers.settings import table

Asked = tuple[Floats, Callable[[Ints], Floats]]
"""Bounds of all rows from a sentence, and what compares it with some."""


@dataclass(frozen=True)
class BoundedLayout:
    """A layout of an index of a measure with a bound: keeps its sentences and searches them.

    ``capacity`` is how many sentences a shard has, and a broken-off build loses at most; ``block``
    how many are mined between two entries of the journal. ``make`` makes a shard of sentences;
    ``ask`` prepares to search a corpus for a text, or for the sentence of a row.
    """

    name: str
    capacity: int
    block: int
    make: Callable[..., Shard]
    ask: Callable[[Scorer, Corpus, str | int], Asked]

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
        measure, by_words = scorer.measure, isinstance(scorer.measure.bound, WordBound)
        if isinstance(candidates, int) and by_words and not measure.requirements.embeddings:
            raise InputError(
                f"{measure.name} has no word vectors to pick candidates by; pass their numbers, "
                "or search exactly"
            )
        scorer.weigh(queries)  # all of them in a few batches
        results = []
        for text in queries:
            bounds, compare = self.ask(scorer, corpus, text)
            source = partial(_lowest, bounds, len(corpus))
            limits = top_k, within, candidates
            results.append(find_rows(len(corpus), source, compare, *limits, stage="words"))
        return results

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
    store = Store(scorer.measure.requirements)
    return Shard.of(chunk, words=scorer.weigh_each(chunk, store, progress=progress))


def ask_words(scorer: Scorer, corpus: Corpus, asked: str | int) -> Asked:
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


def make_features(scorer: Scorer, chunk: Sequence[str], *, progress: bool = False) -> Shard:
    """Make a shard of sentences and the numbers that their measure asks for."""
    return Shard.of(chunk, features=_features(_feature_bound(scorer), chunk))


def ask_features(scorer: Scorer, corpus: Corpus, asked: str | int) -> Asked:
    """Prepare to search by numbers for a text, or for the sentence of a row; words are encoded."""
    query, bound = asked if isinstance(asked, str) else corpus.text(asked), _feature_bound(scorer)
    (features,) = _features(bound, [query])

    def compare(rows: Ints) -> Floats:
        texts = [corpus.text(row) for row in rows.tolist()]
        sentences = scorer.weigh([query, *texts])
        targets = sentences.numbers(texts)
        sources = np.repeat(sentences.numbers([query]), len(targets))
        return scorer.between(sentences, np.stack([sources, targets], axis=1))

    known = (shard.features for shard in corpus.shards if shard.features is not None)
    return _bounds((bound.lower(features, some) for some in known), corpus), compare


def _feature_bound(scorer: Scorer) -> FeatureBound:
    bound = scorer.measure.bound
    assert isinstance(bound, FeatureBound)
    return bound


def _features(bound: FeatureBound, texts: Sequence[str]) -> Singles:
    return np.asarray(bound.features([*texts]), np.float32)


WORDS = BoundedLayout("transport", 4096, 64, make_words, ask_words)
FEATURES = BoundedLayout("features", 16_384, 256, make_features, ask_features)


def _bounds(bounds: Iterable[Floats | Singles], corpus: Corpus) -> Floats:
    """Return the bounds of all rows, shard after shard; deleted sentences are infinitely far."""
    every = np.concatenate([*bounds]).astype(np.float64)
    every[corpus.hidden] = np.inf
    return every


def _lowest(bounds: Floats, total: int, count: int) -> Nearest:
    """Return the sentences with the lowest bounds, in corpus order where these are the same."""
    order = np.argsort(bounds, kind="stable")[:total]
    rest = bounds[order[count]] if count < len(order) else np.inf
    return Nearest(order[:count], bounds[order[:count]], float(rest))


Layout = CosineLayout | BoundedLayout

LAYOUTS: dict[str, Callable[[], Layout]] = {
    "transport": lambda: WORDS,
    "cosine-text-float32": CosineLayout,
    "cosine-text-int8": lambda: CosineLayout(precision="int8"),
    "cosine-words-float32": lambda: CosineLayout("words"),
    "features": lambda: FEATURES,
}


def make_layout(scorer: Scorer, keep: Keep | None, vectors: Precision | None) -> Layout:
    """Return the layout for the measure of a scorer; one without a bound is refused."""
    bound = scorer.measure.bound
    if scorer.settings.empty == "raise":
        raise InputError(
            "an index cannot raise for single pairs",
            Choose("empty", "nan"),
            Choose("empty", "keep"),
        )
    if isinstance(bound, CosineBound):
        return CosineLayout(keep or "text", vectors or "float32")
    if keep not in (None, "words") or vectors is not None:
        raise InputError(
            f"an index of {scorer.measure.name} keeps the words of every sentence; keep= and "
            "vectors= are for method='movers'"
        )
    return FEATURES if isinstance(bound, FeatureBound) else WORDS


def find_layout(name: Any) -> Layout:
    """Return the layout that a manifest names."""
    if name not in LAYOUTS:
        raise InputError(
            f"the index has the layout {name!r}, which this version does not know; build it again"
        )
    return LAYOUTS[name]()


def load_arguments(scorer: Scorer) -> dict[str, Any]:
    """Return settings of `movers.load` that make a scorer again, statistics and device aside."""
    settings, encoder = scorer.settings, scorer.encoder
    folder = None if encoder.name == EMBEDDED else encoder.folder
    pinned = {  # what was asked for loosely, as it was found to be
        "model": encoder.name if folder is None else str(folder.resolve()),
        **scorer.measure.pinned_heads,
        "dtype": encoder.dtype,
    }
    return {
        name: facts.write(pinned.get(name, getattr(settings, name)))
        for name, facts in table(type(settings)).items()
        if facts.write is not None
    }
