"""Exact answers from any source that lists a corpus in order of a lower bound.

Candidates are compared in that order. As soon as the next bound lies above the k-th best distance,
no sentence that was not compared can be nearer: the answer is certified. Only what lies strictly
above is left out, so ties come out as in brute force.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from movers.arrays import Floats, Ints
from movers.measures.sentences import WeightedSentences, joined
from movers.scorer import Scorer
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
    nearer than ``rest``.
    """

    rows: Ints
    bounds: Floats
    rest: float


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
    rows, distances, threshold = np.zeros(0, np.int64), np.zeros(0), within
    offered, asked, most = 0, max(FIRST, 4 * wanted), np.inf if budget is None else budget
    while True:
        nearest = source(int(min(asked, most)))
        fresh = ~np.isin(nearest.rows, rows)
        ahead, bounds = nearest.rows[fresh], nearest.bounds[fresh] * FOLD
        passed, missing = 0, wanted - len(rows)
        size, step = (missing, STEP // 2) if missing > 0 else (STEP, STEP)
        while True:
            size = int(min(size, most - len(rows)))
            count = int(np.searchsorted(bounds[passed:][:size], threshold, side="right"))
            if not count:
                break
            some = ahead[passed : passed + count]
            rows = np.concatenate([rows, some])
            distances = np.concatenate([distances, compare(some)])
            threshold, passed = _last_of(distances, wanted, within), passed + count
            size = step = min(2 * step, LONGEST)
        bound = min(nearest.rest * FOLD, *bounds[passed : passed + 1].tolist(), np.inf)
        certified = bool(bound > threshold or np.isposinf(bound))
        # All that may be compared has been offered, though the rest may seem to be as near.
        if certified or asked >= most or len(nearest.rows) <= offered:
            break
        offered, asked = len(nearest.rows), asked * GROWTH
    best = np.lexsort((rows, distances))[:wanted]
    if np.isfinite(within):  # else undefined ones may be among them, the last
        best = best[distances[best] <= within]
    found = SearchResult(rows[best], distances[best], certified=certified)
    return found if certified else replace(found, bound=bound)


def _last_of(distances: Floats, wanted: int, within: float) -> float:
    """Return how far the last of so many sentences is; what is farther need not be looked at."""
    finite = distances[np.isfinite(distances)]
    if len(finite) < wanted:
        return within
    return min(within, float(np.partition(finite, wanted - 1)[wanted - 1]))


def find_rows(
    total: int,
    source: Callable[[int], Nearest],
    compare: Callable[[Ints], Floats],
    top_k: int,
    within: float,
    candidates: int | Ints | None,
    *,
    stage: str,
    settle: Callable[[Ints], Floats] | None = None,
) -> SearchResult:
    """Find the nearest sentences of a corpus: exactly, with so many comparisons, or of some rows.

    Parameters
    ----------
    total
        How many sentences there are.
    source, compare
        As in `walk`.
    top_k, within
        How many to find, and the largest distance of interest.
    candidates
        Most sentences to compare, or all rows to look at; None leaves it to certainty.
    stage
        Row of `STAGES` for the sentences that bounds leave out.
    settle
        Gives distances of rows that are known without comparing, NaN for the others.
    """
    solved = far = 0

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
        out[low : low + TOGETHER] = distances_between(scorer, words, from_first(len(words)))
    return out


def distances_between(scorer: Scorer, words: WeightedSentences, pairs: Ints) -> Floats:
    """Return distances of pairs of sentences by place, bit by bit those of `Scorer.matrix`."""
    texts = words.sentences
    places = {text: place for place, text in reversed([*enumerate(texts)])}
    first = np.array([places[text] for text in texts], np.int64)
    # The scorer knows every text once, and takes a sentence and itself for the same.
    return scorer.between(words, first[pairs])


def from_first(count: int) -> Ints:
    """Return the pairs of the first of so many sentences with each of the others, by place."""
    others = np.arange(1, count)
    return np.stack([np.zeros_like(others), others], axis=1)
