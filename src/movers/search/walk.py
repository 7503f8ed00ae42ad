"""Exact answers from any source that lists a corpus in order of a lower bound.

Candidates are compared in that order. As soon as the next bound lies above the k-th best distance,
no sentence that was not compared can be nearer: the answer is certified. Only what lies strictly
above is left out, so ties come out as in brute force.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

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


def find_rows(
    corpus: Corpus[Any],
    source: Callable[[int], Nearest],
    compare: Callable[[Ints], Floats],
    *,
    stage: str,
    top_k: int,
    within: float,
    candidates: int | Ints | None = None,
    settle: Callable[[Ints], Floats] | None = None,
) -> SearchResult:
    """Find the nearest sentences of a corpus: exactly, with so many comparisons, or of some rows.

    Parameters
    ----------
    corpus
        The sentences.
    source, compare
        As in `walk`.
    stage
        Row of `STAGES` for the sentences that bounds leave out.
    top_k, within
        How many to find, and the largest distance of interest.
    candidates
        Most sentences to compare, or all rows to look at; None leaves it to certainty.
    settle
        Gives distances of rows that are known without comparing, NaN for the others.
    """
    total, solved, far = len(corpus), 0, 0

    def measured(rows: Ints) -> Floats:
        nonlocal solved, far
        out = np.full(len(rows), np.nan) if settle is None else settle(rows)
        left = np.isnan(out)
        solved, far = solved + int(left.sum()), far + int((~left).sum())
        out[left] = compare(rows[left])
        return out

    find = partial(walk, compare=measured, wanted=top_k, within=within)
    if isinstance(candidates, np.ndarray):
        listed = Nearest(candidates, np.full(len(candidates), -np.inf), np.inf)
        result = replace(find(lambda _: listed), certified=len(candidates) == total)
    else:
        result = find(source, budget=candidates)
    spared = {stage if result.certified else "left_out": total - solved - far}
    return replace(result, pruning=Pruning(total, solved=solved, far=far, **spared))


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
