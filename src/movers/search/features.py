"""A measure with a bound of its own in an index: a few numbers of each sentence rule most out.

The numbers lie beside the texts. Sentences are walked in order of what the numbers tell, and those
that may be among the nearest are encoded and compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from movers.arrays import Floats, Ints, Singles
from movers.measures.bounds import FeatureBound
from movers.runtime.progress import progress_bar
from movers.scorer import Scorer
from movers.search.corpus import Corpus
from movers.search.search_ranking import Pruning, SearchResult
from movers.search.shards import Sentences, StoredLines
from movers.search.vectors import wordless
from movers.search.walk import Nearest, walk


@dataclass(frozen=True)
class FeatureShard(Sentences):
    """Sentences with the numbers that bound their distances, ``(sentences, numbers)``."""

    features: Singles


def feature_bound(scorer: Scorer) -> FeatureBound:
    """Return the bound of the measure, which is one of features."""
    bound = scorer.measure.bound
    assert isinstance(bound, FeatureBound)
    return bound


class FeatureLayout:
    """How an index of a measure with a bound of its own keeps and searches sentences."""

    kind = FeatureShard
    hides = False
    name = "features"
    block = 256
    """Sentences mined between two entries of the journal."""
    capacity = 16_384
    """Sentences of a shard, and what a broken-off build loses at most."""

    def make(self, scorer: Scorer, chunk: Sequence[str], *, progress: bool = False) -> FeatureShard:
        """Make a shard of sentences."""
        words = replace(wordless(chunk), sentences=StoredLines.of(chunk))
        features = feature_bound(scorer).features(list(chunk))
        return FeatureShard(words, np.asarray(features, np.float32))

    def search(
        self,
        scorer: Scorer,
        corpus: Corpus[FeatureShard],
        queries: Sequence[str],
        *,
        top_k: int,
        within: float,
        candidates: int | Ints | None = None,
    ) -> list[SearchResult]:
        """Search for every query; rows of `candidates` are all that is looked at if given."""
        answers, total = [], len(corpus)
        for query in queries:
            lower = _lower(scorer, corpus, query)
            if isinstance(candidates, np.ndarray):
                rows, budget = np.sort(candidates), None
            else:
                rows, budget = np.arange(total), candidates
            compared: list[int] = []

            def compare(some: Ints, query: str = query, compared: list[int] = compared) -> Floats:
                compared.append(len(some))
                return _distances(scorer, corpus, query, some)

            def nearest(count: int, rows: Ints = rows, lower: Floats = lower) -> Nearest:
                order = rows[np.argsort(lower[rows], kind="stable")]
                rest = lower[order[count]] if count < len(order) else np.inf
                return Nearest(order[:count], lower[order[:count]], float(rest))

            found = walk(nearest, compare, wanted=top_k, within=within, budget=budget)
            certified = found.certified and len(rows) == total
            stage = "vectors" if certified else "left_out"
            pruning = Pruning(total, solved=sum(compared), **{stage: total - sum(compared)})
            answers.append(replace(found, certified=certified, pruning=pruning))
        return answers

    def near(
        self,
        scorer: Scorer,
        corpus: Corpus[FeatureShard],
        numbers: range,
        threshold: float,
        *,
        progress: bool = False,
    ) -> Iterator[tuple[int, int, float]]:
        """Yield pairs of these sentences with those behind them, by number, with distances."""
        with progress_bar("comparing", "sentences", len(numbers), progress=progress) as bar:
            for row in numbers:
                query = corpus.text(row)
                behind = np.flatnonzero(_lower(scorer, corpus, query) <= threshold)
                behind = behind[behind > row]
                distances = _distances(scorer, corpus, query, behind)
                for place in np.argsort(distances, kind="stable"):
                    if distances[place] <= threshold:
                        yield row, int(behind[place]), float(distances[place])
                bar.update()


def _lower(scorer: Scorer, corpus: Corpus[FeatureShard], query: str) -> Floats:
    """Return what no distance from a query to the sentences of a corpus lies below."""
    bound = feature_bound(scorer)
    asked = np.asarray(bound.features([query]), np.float32)[0]
    bounds = (bound.lower(asked, shard.features) for shard in corpus.shards)
    return np.concatenate([np.zeros(0), *bounds])


def _distances(scorer: Scorer, corpus: Corpus[FeatureShard], query: str, rows: Ints) -> Floats:
    """Return the distances from a query to sentences by row."""
    texts = [corpus.text(row) for row in rows.tolist()]
    sentences = scorer.weigh([query, *texts])
    targets = sentences.numbers(texts)
    sources = np.repeat(sentences.numbers([query]), len(targets))
    return scorer.between(sentences, np.stack([sources, targets], axis=1))
