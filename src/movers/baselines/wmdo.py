"""Word mover's distance with a penalty for broken word order."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence

import numpy as np

from movers.arrays import Floats, Ints, Ragged
from movers.baselines import Scores, renumbered
from movers.measure.costs import pair_costs
from movers.measure.measured import Context, Measured
from movers.measure.wordtable import spelled
from movers.solve.batch import emd_batch
from movers.solve.problems import Problems

SHARE = 0.2


def distances(measured: Measured, rows: Ints, context: Context, *, plans: bool = False) -> Scores:
    """Find ``EMD - 0.2 (1/2 - penalty)`` under cosine costs."""
    assert measured.vectors is not None and measured.norms is not None
    words = measured.vectors, measured.norms.data
    costs = pair_costs("cosine", *words, *rows.T, threads=context.threads)
    problems = Problems.between(measured.weights, rows, costs)
    solved = emd_batch(problems, threads=context.threads, plans=True)
    found = Ragged(solved.plan, costs.starts)
    if context.recipe == "reference":
        penalties = _as_coded(measured, rows, context, found)
    else:
        sentences = (spelled(measured.encodings, row, "paper") for row in rows[:, 1].tolist())
        penalties = map(fragmentation, found, sentences)
    penalty = np.fromiter(penalties, np.float64, len(rows))
    return Scores(solved.value[:, 0] - SHARE * (0.5 - penalty), found.data if plans else None)


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


def _as_coded(measured: Measured, rows: Ints, context: Context, plans: Ragged) -> Iterator[float]:
    """Penalties by the published code, which takes vocabulary numbers for token places."""
    picked, pairs = renumbered(rows)
    pieces, ranges = context.locate([measured.encodings.sentences[row] for row in picked])
    for (source, target), flat in zip(pairs.tolist(), plans, strict=True):
        left, right = pieces[source], pieces[target]
        first, second = ranges[source][:, 0], ranges[target][:, 0]
        plan = np.zeros((len(left), len(right)))
        plan[np.ix_(first, second)] = flat.reshape(len(first), len(second))
        try:
            yield min(1.0, _coded_fragmentation(left, right, plan))
        except (IndexError, ZeroDivisionError):  # the published code has no penalty then
            yield 0.0


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
