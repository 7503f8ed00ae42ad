"""What a judge looks at: numbers of a pair of sentences, from one forward pass.

Sentence vectors; words matched by the plan of the default measure, what these cost in the middle
and in the last layer, and words without a counterpart; order; the kinds of differences that are
told of the texts, and whether only members of a list changed places; what every attention head sees
broken; how far matched words shifted along the directions of the default measure. Most of it counts
once more while the sentences are near each other: what tells paraphrases from swaps says little of
other topics.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from movers.arrays import Floats, Ints, Ragged, boundaries
from movers.difference.finder import differences
from movers.difference.kinds import KINDS
from movers.difference.orders import effects_of_order
from movers.measures.default import DefaultMeasure
from movers.measures.parts.costs import norms_of, pair_costs
from movers.measures.sentences import WeightedSentences, sentence_distances

MATCHED = 0.5
"""Share of a word that a plan moves to another if the two are matched."""
NEARNESS = 3
"""How soon sentences that drift apart count as near no more."""
WHOLE = ("sentence vectors", "root of sentence vectors", "length", "uneven lengths")
LAYERED = (
    "mean cost", "nearest", "nearest over mean", "farthest nearest", "matched",
    "matched over mean", "worst match", "left over",
)  # fmt: skip
LAYERS = ("middle", "last")
ORDER = ("unmatched", "displaced", "neighbours parted", "inverted")
PRODUCTS = (
    ("broken", "sentence vectors"), ("broken", "broken"), ("broken", "unmatched"),
    ("sentence vectors", "unmatched"), ("broken", "length"), ("broken", "neighbours parted"),
)  # fmt: skip
"""Columns multiplied with each other; "broken" is the mean over all heads."""
TOLD = tuple(kind for kind in KINDS if kind != "removed")
"""Kinds of differences; what one text has and the other has not is "added" either way round."""
ORDERED = "order that words tell of"
PLAIN = (*WHOLE, *(f"{name}, {layer} layer" for layer in LAYERS for name in LAYERED), *ORDER)


def names_of(measure: DefaultMeasure) -> tuple[str, ...]:
    """Return what the columns of evidence are called; shifts are so along certain directions."""
    read = (f"head {layer}.{head}" for layer, head in measure.heads)
    known = measure.calibration
    pinned = known.digest_of_directions
    shifted = (f"shift {place + 1} of {pinned}" for place in range(len(known.directions)))
    seen = (*PLAIN, *TOLD, ORDERED, *read, *shifted)
    return (
        *seen,
        *(f"{name} while near" for name in seen),
        *(f"{name}, squared" for name in PLAIN),
        *(f"{name} x {other}" for name, other in PRODUCTS),
    )


def evidence(measure: DefaultMeasure, sentences: WeightedSentences, rows: Ints) -> Floats:
    """Return a row of numbers for every pair, in the order of `names_of`.

    The sentences must have been encoded just now, with vectors of the last layer. Where a side
    has no words, only vectors, lengths and differences tell something; the rest is 0.
    """
    lengths = sentences.weights.lengths[rows]
    total = np.maximum(1, lengths.sum(axis=1))
    apart = sentence_distances(sentences.pooled, rows)
    uneven = np.abs(lengths[:, 0] - lengths[:, 1]) / total
    plain = np.zeros((len(rows), len(PLAIN)))
    heads, directions = len(measure.heads), len(measure.calibration.directions)
    signs = np.zeros((len(rows), heads + directions))
    plain[:, : len(WHOLE)] = np.column_stack([apart, np.sqrt(apart), np.log1p(total), uneven])
    filled = np.flatnonzero(lengths.min(axis=1) > 0)
    if len(filled):
        plain[filled, len(WHOLE) :], signs[filled] = _words(measure, sentences, rows[filled])
    known = dict(zip(PLAIN, plain.T, strict=True))
    known["broken"] = signs[:, :heads].sum(axis=1) / max(1, heads)
    products = [known[name] * known[other] for name, other in PRODUCTS]
    near = np.maximum(0.0, 1.0 - apart / measure.calibration.chance) ** NEARNESS
    texts = sentences.sentences
    told = _differing(texts, rows), effects_of_order(texts, rows)
    seen = np.column_stack([plain, *told, signs])
    return np.column_stack([seen, near[:, None] * seen, plain**2, *products])


def _differing(texts: Sequence[str], rows: Ints) -> Floats:
    """Return 1 for every kind of difference between two texts, ``(pairs, kinds)``."""
    out = np.zeros((len(rows), len(TOLD)))
    for pair, places in zip(out, rows.tolist(), strict=True):
        source, target = sorted(texts[place] for place in places)  # the same both ways round
        for one in differences(source, target):
            pair[TOLD.index("added" if one.kind == "removed" else one.kind)] = 1.0
    return out


def _words(
    measure: DefaultMeasure, sentences: WeightedSentences, rows: Ints
) -> tuple[Floats, Floats]:
    """Return what words and their order tell, ``(pairs, columns)``, and all signs."""
    context = measure.context
    problems, solution, signs = measure.relations(sentences, rows)
    last = sentences.encoded.vectors[context.encoder.layers]
    final = pair_costs(measure.cost, last, norms_of(last), *rows.T, threads=context.threads)
    plans = Plans(problems.shapes, solution.plan)
    columns = [*plans.prices(problems.cost), *plans.prices(final.data), *plans.order()]
    return np.column_stack(columns), signs


@dataclass(frozen=True, eq=False)
class Plans:
    """Plans of pairs with shapes ``(pairs, 2)``, one flat block after another."""

    shapes: Ints
    plan: Floats

    @cached_property
    def starts(self) -> Ints:
        """Where every block starts, and the end of the last."""
        return boundaries(self.shapes.prod(axis=1))

    @cached_property
    def places(self) -> tuple[Ints, Ints, Ints]:
        """Pair, row and column of every cell."""
        pair = np.repeat(np.arange(len(self.shapes)), np.diff(self.starts))
        inside = np.arange(len(self.plan)) - self.starts[pair]
        row, column = np.divmod(inside, self.shapes[pair, 1])
        return pair, row, column

    @cached_property
    def _turned(self) -> Ints:
        """Where every cell stands if blocks are read column by column."""
        pair, row, column = self.places
        return np.asarray(self.starts[pair] + column * self.shapes[pair, 0] + row)

    def _lines(self, reduce: np.ufunc, values: Floats, side: int) -> Ragged:
        """Reduce every row (side 0) or column (1) to a number; those of a pair are a row."""
        if side:
            turned = np.empty_like(values)
            turned[self._turned] = values
            values = turned
        counts, width = self.shapes[:, side], self.shapes[:, 1 - side]
        lines = boundaries(counts)
        inside = np.arange(lines[-1]) - np.repeat(lines[:-1], counts)
        firsts = np.repeat(self.starts[:-1], counts) + inside * np.repeat(width, counts)
        return Ragged(reduce.reduceat(values, firsts), lines)

    @cached_property
    def stayed(self) -> tuple[Ragged, Ragged]:
        """Return how much of every word found no counterpart, for either side."""
        sides = (self._lines(np.add, self.plan, side) for side in (0, 1))
        first, second = (Ragged(np.maximum(0.0, 1.0 - one.data), one.starts) for one in sides)
        return first, second

    @cached_property
    def mass(self) -> Floats:
        """How many words of every pair moved."""
        return np.asarray(np.add.reduceat(self.plan, self.starts[:-1]))

    def prices(self, cost: Floats) -> Iterable[Floats]:
        """Yield what the words of pairs cost in one layer: the columns of `LAYERED`."""
        firsts = self.starts[:-1]
        mean = np.maximum(np.add.reduceat(cost, firsts) / self.shapes.prod(axis=1), 1e-9)
        near = [self._lines(np.minimum, cost, side) for side in (0, 1)]
        first, second = (one.sums() / one.lengths for one in near)
        both = np.asarray((first + second) / 2)
        paid = np.add.reduceat(self.plan * cost, firsts) / np.maximum(self.mass, 1e-9)
        pairs = zip(near, self.stayed, strict=True)
        yield from (mean, both, both / mean)
        yield np.maximum(*(_largest(one.data, one.starts) for one in near))
        yield from (paid, paid / mean)
        yield _largest(np.where(self.plan > 0, cost, 0.0), self.starts)
        yield np.maximum(*(_largest(one.data * home.data, one.starts) for one, home in pairs))

    def order(self) -> Iterable[Floats]:
        """Yield how much is unmatched, and how the matched words changed places: `ORDER`."""
        yield 1.0 - 2.0 * self.mass / self.shapes.sum(axis=1)
        chosen = np.flatnonzero(self.plan > MATCHED)
        pair, row, column = (place[chosen] for place in self.places)
        count = np.bincount(pair, minlength=len(self.shapes))
        shares = [place / self.shapes[pair, side] for side, place in ((0, row), (1, column))]
        apart = np.bincount(pair, np.abs(shares[0] - shares[1]), len(count))
        yield apart / np.maximum(1, count)
        rank = np.empty_like(column)
        rank[np.lexsort((column, pair))] = np.arange(len(pair))
        parted = (np.diff(pair) == 0) & (np.diff(rank) != 1)
        yield np.bincount(pair[1:], parted, len(count)) / np.maximum(1, count - 1)
        yield _inversions(rank, count)


def _largest(values: Floats, starts: Ints) -> Floats:
    return np.asarray(np.maximum.reduceat(values, starts[:-1]))


def _inversions(rank: Ints, count: Ints) -> Floats:
    """Return the root of the share of matched words that stand in another order, two by two."""
    out, starts = np.zeros(len(count)), boundaries(count)
    for size in np.unique(count[count > 1]).tolist():  # pairs of as many matches together
        same = np.flatnonzero(count == size)
        places = rank[starts[same][:, None] + np.arange(size)]
        above = np.triu(np.ones((size, size), bool), 1)
        turned = ((places[:, :, None] > places[:, None, :]) & above).sum(axis=(1, 2))
        out[same] = np.sqrt(turned / above.sum())
    return out
