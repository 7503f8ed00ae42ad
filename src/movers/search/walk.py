"""Exact answers from any source that lists a corpus in order of a lower bound.

Candidates are compared in that order. As soon as the next bound lies above the k-th best distance,
no sentence that was not compared can be nearer: the answer is certified. Only what lies strictly
above is left out, so ties come out as in brute force.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np

from movers.arrays import Floats, Ints
from movers.measures.sentences import WeightedSentences, joined
from movers.scorer import Scorer
from movers.search.corpus import Corpus
from movers.search.search_ranking import Pruning, SearchResult

FIRST = 64
"""Candidates asked for at first, or four times the number wanted."""
GROWTH = 8
"""How many times more are asked for when they do not suffice."""
STEP = 4
"""Candidates compared after the first, before another look at the threshold; doubles."""
LONGEST = 512
TOGETHER = 1024
"""Sentences compared with a query at a time."""
FOLD = 1.0 - 1e-12
"""Distances are means of numbers of at least the bound, and may round below it."""


@dataclass(frozen=True)
class Nearest:
    """The candidates with the lowest bounds.

    In ascending order of ``bounds``, which do not exceed their distances. No other sentence is
    nearer than ``rest``; ``more`` tells whether there is any point in asking for more.
    """

    rows: Ints
    bounds: Floats
    rest: float
    more: bool = True


class Best:
    """The best distances so far, and how far the k-th of them is; none above ``within`` counts."""

    def __init__(self, wanted: int, within: float = np.inf) -> None:
        self.wanted, self.within, self.threshold = wanted, within, within
        self.rows, self.distances = np.zeros(0, np.int64), np.zeros(0)

    def add(self, rows: Ints, distances: Floats) -> None:
        """Take in compared sentences and lower the threshold."""
        self.rows = np.concatenate([self.rows, rows])
        self.distances = np.concatenate([self.distances, distances])
        finite = self.distances[np.isfinite(self.distances)]
        if len(finite) >= self.wanted:
            last = float(np.partition(finite, self.wanted - 1)[self.wanted - 1])
            self.threshold = min(self.threshold, last)

    def ranked(self) -> tuple[Ints, Floats]:
        """Return rows and distances, nearest first, ties in corpus order, undefined ones last."""
        best = np.lexsort((self.rows, self.distances))[: self.wanted]
        if np.isfinite(self.within):
            best = best[self.distances[best] <= self.within]
        return self.rows[best], self.distances[best]


def walk(
    source: Callable[[int], Nearest],
    compare: Callable[[Ints], Floats],
    *,
    wanted: int,
    within: float = np.inf,
    budget: int | None = None,
) -> SearchResult:
    """Find the nearest sentences.

    Parameters
    ----------
    source
        Lists so many candidates with the lowest bounds, or all there are.
    compare
        Gives the distances of rows.
    wanted
        How many to find.
    within
        Distances above are of no interest, however few lie below.
    budget
        Most sentences to compare; None is as many as certainty takes.
    """
    best, asked = Best(wanted, within), max(FIRST, 4 * wanted)
    while True:
        nearest = source(asked if budget is None else min(asked, budget))
        fresh = ~np.isin(nearest.rows, best.rows)
        rows, bounds = nearest.rows[fresh], nearest.bounds[fresh] * FOLD
        left = None if budget is None else budget - len(best.rows)
        behind = _compared(rows[:left], bounds[:left], best, compare)
        bound = min(nearest.rest * FOLD, *bounds[behind : behind + 1].tolist(), np.inf)
        certified = bool(bound > best.threshold or np.isposinf(bound))
        # All that may be compared has been offered, though the rest may seem to be as near.
        spent = budget is not None and max(asked, len(best.rows)) >= budget
        if certified or spent or not nearest.more:
            return SearchResult(
                *best.ranked(), certified=certified, bound=None if certified else bound
            )
        asked *= GROWTH


def _compared(rows: Ints, bounds: Floats, best: Best, compare: Callable[[Ints], Floats]) -> int:
    """Compare candidates in order as long as one may be among the best; how many are behind."""
    behind, missing = 0, best.wanted - len(best.rows)
    size, step = (missing, STEP // 2) if missing > 0 else (STEP, STEP)
    while count := int(np.searchsorted(bounds[behind:][:size], best.threshold, side="right")):
        here = rows[behind : behind + count]
        best.add(here, compare(here))
        behind += count
        size = step = min(2 * step, LONGEST)
    return behind


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
        find = partial(walk, compare=self.compare, wanted=top_k, within=within)
        if isinstance(candidates, np.ndarray):
            listed = Nearest(candidates, np.full(len(candidates), -np.inf), np.inf)
            result = replace(find(lambda _: listed), certified=len(candidates) == total)
        else:
            result = find(self.nearest, budget=candidates)
        spared = {self.stage if result.certified else "left_out": total - self.compared - self.far}
        return replace(result, pruning=Pruning(total, solved=self.compared, far=self.far, **spared))


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
