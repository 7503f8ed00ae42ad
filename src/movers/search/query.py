"""Queries: what any layout lists and compares for a sentence, in the order of bounds."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from movers.arrays import Floats, Ints
from movers.measures.sentences import WeightedSentences, joined
from movers.scorer import Scorer
from movers.search.corpus import Corpus
from movers.search.search_ranking import Pruning, SearchResult
from movers.search.walk import Nearest, walk

TOGETHER = 1024
"""Sentences compared with a query at a time."""


class Query(ABC):
    """One query against a corpus.

    ``compared`` counts sentences that were fully compared, ``far`` those whose vectors alone gave
    the distance; ``stage`` is the row of `STAGES` for those that bounds leave out.
    """

    stage: ClassVar[str]

    def __init__(self, corpus: Corpus[Any]) -> None:
        self.corpus = corpus
        self.compared = self.far = 0

    @abstractmethod
    def nearest(self, count: int) -> Nearest:
        """Return so many sentences with the lowest bounds."""

    @abstractmethod
    def compare(self, rows: Ints) -> Floats:
        """Return distances of rows."""

    def search(self, top_k: int, within: float, candidates: int | Ints | None) -> SearchResult:
        """Find the nearest sentences: exactly, with so many comparisons, or of some rows."""
        total = len(self.corpus)
        if isinstance(candidates, np.ndarray):
            listed = Nearest(candidates, np.full(len(candidates), -np.inf), np.inf)
            found = walk(lambda _: listed, self.compare, wanted=top_k, within=within)
            found = replace(found, certified=len(candidates) == total)
        else:
            found = walk(self.nearest, self.compare, wanted=top_k, within=within, budget=candidates)
        spared = {self.stage if found.certified else "left_out": total - self.compared - self.far}
        return replace(found, pruning=Pruning(total, solved=self.compared, far=self.far, **spared))


def distances_from(
    scorer: Scorer,
    query: WeightedSentences,
    rows: Ints,
    read: Callable[[Ints], WeightedSentences],
) -> Floats:
    """Return distances from a sentence to those of rows, which are read some at a time."""
    out = np.zeros(len(rows))
    for low in range(0, len(rows), TOGETHER):
        words = joined([query, read(rows[low : low + TOGETHER])])
        others = np.arange(1, len(words))
        pairs = np.stack([np.zeros_like(others), others], axis=1)
        out[low : low + TOGETHER] = distances_between(scorer, words, pairs)
    return out


def distances_between(scorer: Scorer, words: WeightedSentences, pairs: Ints) -> Floats:
    """Return distances of pairs of sentences by place, bit by bit those of `Scorer.matrix`."""
    texts = words.sentences
    places = {text: place for place, text in reversed([*enumerate(texts)])}
    first = np.array([places[text] for text in texts], np.int64)
    # The scorer knows every text once, and takes a sentence and itself for the same.
    return scorer.between(words, first[pairs])
