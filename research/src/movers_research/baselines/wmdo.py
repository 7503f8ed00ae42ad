"""Word mover's distance with a penalty for broken word order."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from movers.arrays import Floats, Ints, Ragged
from movers.measures.base import Measure
from movers.measures.parts.costs import pair_costs
from movers.measures.parts.word_tables import spelled
from movers.measures.sentences import WeightedSentences, renumbered
from movers.solve.batch import Problems, emd_batch
from movers.solve.solution import Many

SHARE = 0.2


@dataclass(frozen=True)
class OrderPenalty(Measure):
    """``EMD - 0.2 (1/2 - penalty)`` under cosine costs (Chow et al., 2019)."""

    symmetric: bool = False

    def distances(self, sentences: WeightedSentences, rows: Ints) -> Floats:
        """Return the cost of moving the words, with a penalty for broken order."""
        moved, costs = self._moved(sentences, rows)
        plans = Ragged(moved.plan, costs.starts)
        if self.context.recipe == "reference":
            penalties = self._as_coded(sentences, rows, plans)
        else:
            words = (spelled(sentences.encoded, row, "paper") for row in rows[:, 1].tolist())
            penalties = map(fragmentation, plans, words)
        penalty = np.fromiter(penalties, np.float64, len(rows))
        return np.asarray(moved.value[:, 0] - SHARE * (0.5 - penalty))

    def plan(self, sentences: WeightedSentences, rows: Ints) -> Floats:
        """Return which word of one pair went where, flat."""
        return self._moved(sentences, rows)[0].plan

    def _moved(self, sentences: WeightedSentences, rows: Ints) -> tuple[Many, Ragged]:
        assert sentences.vectors is not None and sentences.norms is not None
        words, threads = (sentences.vectors, sentences.norms.data), self.context.threads
        costs = pair_costs("cosine", *words, *rows.T, threads=threads)
        problems = Problems.between(sentences.weights, rows, costs)
        return emd_batch(problems, threads=threads, plans=True), costs

    def _as_coded(self, sentences: WeightedSentences, rows: Ints, plans: Ragged) -> Iterator[float]:
        """Yield penalties by the published code, which takes vocabulary numbers for places."""
        picked, pairs = renumbered(rows)
        texts = [sentences.sentences[row] for row in picked]
        pieces, ranges = self.context.locate(texts)
        for (source, target), flat in zip(pairs.tolist(), plans, strict=True):
            left, right = pieces[source], pieces[target]
            first, second = ranges[source][:, 0], ranges[target][:, 0]
            plan = np.zeros((len(left), len(right)))
            plan[np.ix_(first, second)] = flat.reshape(len(first), len(second))
            try:
                yield min(1.0, _coded_fragmentation(left, right, plan))
            except (IndexError, ZeroDivisionError):  # the published code has no penalty then
                yield 0.0


def fragmentation(plan: Floats, targets: Sequence[str]) -> float:
    """Chunks that source words map to in order, as a share of the words, at most 1.

    Each source word goes to the target word that gets most of its mass; where that word occurs
    several times, to the occurrence nearest to the last one. A chunk ends where the next word
    does not go to the next place.
    """
    chunks, current = 1, -1
    plan = plan.reshape(-1, len(targets))
    for best in plan.argmax(axis=1):
        places = [place for place, word in enumerate(targets) if word == targets[best]]
        found = nearest(places, current)
        chunks += found != current + 1
        current = found
    return min(1.0, chunks / len(plan))


def nearest(places: Sequence[int], place: int) -> int:
    """Of rising places the one nearest, the smaller of two."""
    above = bisect_left(places, place)
    if above in (0, len(places)):
        return places[0] if above == 0 else places[-1]
    before, after = places[above - 1], places[above]
    return after if after - place < place - before else before


def _coded_fragmentation(left: list[str], right: list[str], plan: Floats) -> float:
    vocabulary = sorted({piece.lower() for piece in (*left, *right)})
    numbers = {piece: number for number, piece in enumerate(vocabulary)}
    chunks, matched, current = 1, 0, -1
    for piece in left:
        number = numbers.get(piece)
        if number is None or not plan[number].any():
            continue
        # Equal flows tie here; in the published code rounding may set them apart.
        best = np.flatnonzero(plan[number] == plan[number].max())
        places = [
            nearest([k for k, other in enumerate(right) if other == vocabulary[place]], current)
            for place in best
        ]
        found = nearest(places, current)
        chunks += found != current + 1
        current = found
        matched += 1
    return chunks / matched
