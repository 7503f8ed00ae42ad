"""Exact answers from any source that lists a corpus in order of a lower bound.

Candidates are compared in that order. As soon as the next bound lies above the k-th best distance,
no sentence that was not compared can be nearer: the answer is certified. Only what lies strictly
above is left out, so ties come out as in brute force.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from movers.arrays import Floats, Ints

FIRST = 64
"""Candidates asked for at first, or four times the number wanted."""
GROWTH = 8
"""How many times more are asked for when they do not suffice."""
STEP = 4
"""Candidates compared after the first, before another look at the threshold; doubles."""
LONGEST = 512
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


class Source(Protocol):
    """A corpus that knows lower bounds of the distances to one query."""

    def nearest(self, count: int) -> Nearest:
        """At least so many candidates with the lowest bounds, or all there are."""
        ...


@dataclass(frozen=True)
class Walked:
    """What a walk found.

    Ties are in order of rows. ``certified`` tells whether no other sentence can be among them; none
    that was not looked at is nearer than ``bound``.
    """

    rows: Ints
    distances: Floats
    certified: bool
    bound: float


@dataclass
class Best:
    """The best distances so far, and how far the k-th of them is."""

    wanted: int
    threshold: float = np.inf
    rows: list[Ints] = field(default_factory=list)
    distances: list[Floats] = field(default_factory=list)

    def add(self, rows: Ints, distances: Floats) -> None:
        """Take in compared sentences and lower the threshold."""
        self.rows.append(rows)
        self.distances.append(distances)
        found = np.concatenate(self.distances)
        found = found[np.isfinite(found)]
        if len(found) >= self.wanted:
            last = float(np.partition(found, self.wanted - 1)[self.wanted - 1])
            self.threshold = min(self.threshold, last)

    @property
    def seen(self) -> Ints:
        """Rows that were compared."""
        return np.concatenate([np.zeros(0, np.int64), *self.rows])

    def ranked(self) -> tuple[Ints, Floats]:
        """Rows and distances, nearest first, ties in corpus order, undefined ones last."""
        rows = self.seen
        distances = np.concatenate([np.zeros(0), *self.distances])
        by_row = np.argsort(rows)
        rows, distances = rows[by_row], distances[by_row]
        best = np.argsort(distances, kind="stable")[: self.wanted]
        return rows[best], distances[best]


def walk(
    source: Source,
    compare: Callable[[Ints], Floats],
    *,
    wanted: int,
    within: float = np.inf,
    budget: int | None = None,
) -> Walked:
    """Find the nearest sentences.

    ``compare`` gives the distances of rows; those above ``within`` are of no interest, however few
    lie below. At most ``budget`` sentences are compared; None is as many as certainty takes.
    """
    best, asked = Best(wanted, within), max(FIRST, 4 * wanted)
    while True:
        nearest = source.nearest(asked if budget is None else min(asked, budget))
        fresh = ~np.isin(nearest.rows, best.seen)
        rows, bounds = nearest.rows[fresh], nearest.bounds[fresh] * FOLD
        left = None if budget is None else budget - len(best.seen)
        behind = _compared(rows[:left], bounds[:left], best, compare)
        bound = min(nearest.rest * FOLD, *bounds[behind : behind + 1].tolist(), np.inf)
        certified = bound > best.threshold or np.isposinf(bound)
        if certified or not nearest.more:
            break
        # All that may be compared has been offered, though the rest may seem to be as near.
        if budget is not None and left is not None and (behind >= left or asked >= budget):
            break
        asked *= GROWTH
    found, distances = best.ranked()
    near = distances <= within if np.isfinite(within) else np.ones(len(found), np.bool_)
    return Walked(found[near], distances[near], bool(certified), bound)


def _compared(rows: Ints, bounds: Floats, best: Best, compare: Callable[[Ints], Floats]) -> int:
    """Compare candidates in order as long as one may be among the best; how many are behind."""
    behind = 0
    for step in _steps(best.wanted - len(best.seen)):
        ahead = bounds[behind : behind + step]
        count = int(np.searchsorted(ahead, best.threshold, side="right"))
        if not count:
            return behind
        here = rows[behind : behind + count]
        best.add(here, compare(here))
        behind += count
    raise AssertionError("steps do not end")


def _steps(first: int) -> Iterator[int]:
    """How many to compare before another look at the threshold."""
    step = STEP
    if first > 0:
        yield first
    while True:
        yield step
        step = min(2 * step, LONGEST)
