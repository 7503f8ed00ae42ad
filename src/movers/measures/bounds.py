"""Lower bounds of distances, by which a search leaves sentences out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from movers.arrays import Floats, Ragged, Singles
from movers.measures.sentences import WeightedSentences
from movers.solve.bounds import word_bounds

SINGLE = 1e-5
"""What single precision may add to a bound, as a share of the terms that it is made of; the
largest rounding errors seen are a hundredth of it."""
SLACK = 4e-6
"""Rounding of a dot product of normalised vectors in single precision, generously."""


@dataclass(frozen=True)
class CosineBound:
    """A distance never lies below one minus the cosine of the sentence vectors.

    ``settled`` takes these bounds and returns the distance where they alone give it, NaN where
    words have to be compared.
    """

    settled: Callable[[Floats], Floats]


@dataclass(frozen=True)
class WordBound:
    """A distance never lies below what the words of both sentences tell.

    ``lower`` bounds the distances from one sentence to many; minus infinity where one has no words.
    """

    lower: Callable[[WeightedSentences, WeightedSentences], Floats]


@dataclass(frozen=True)
class FeatureBound:
    """A distance never lies below what a few numbers of each sentence tell.

    ``features`` gives the texts of sentences a row of numbers each, float32, and ``lower`` bounds
    the distances from one such row to many.
    """

    features: Callable[[list[str]], Singles]
    lower: Callable[[Singles, Singles], Floats]


Bound = CosineBound | WordBound | FeatureBound


def relaxed_transport(
    cost: str | None,
    share: float,
    threads: int | None,
    one: WeightedSentences,
    many: WeightedSentences,
) -> Floats:
    """Bound what it costs to move the words of a sentence to those of others.

    Parameters
    ----------
    cost
        Row of `movers.measures.parts.costs.COSTS`; None if words cost nothing.
    share
        Factor of the word cost in the distance.
    threads
        Most threads to use.
    one, many
        A sentence, and others; those without words get minus infinity.
    """
    lower = np.zeros(len(many))
    if cost is not None and share and len(one.weights.data):
        costs, starts = _lower_costs(cost, one, many), many.weights.starts
        u, v = (side.weights.data.astype(np.float32) for side in (one, many))
        rounding = SINGLE * Ragged(costs.max(axis=0), starts).sums()
        lower = share * (word_bounds(costs, starts, u, v, threads=threads) - rounding)
    lower[(many.weights.lengths == 0) | (one.weights.lengths[0] == 0)] = -np.inf
    return lower


def _lower_costs(kind: str, one: WeightedSentences, many: WeightedSentences) -> Singles:
    """Return costs between words in single precision, never too high."""
    assert one.vectors is not None and many.vectors is not None
    assert one.norms is not None and many.norms is not None
    lengths, norms, vectors = one.norms.data, many.norms.data, many.vectors.data
    if kind == "l2":
        squares = lengths[:, None] ** 2 + norms**2
        squares *= 1.0 - SLACK
        squares -= 2.0 * (one.vectors.data @ vectors.T)
        return np.asarray(np.sqrt(np.maximum(squares, 0.0)), np.float32)
    with np.errstate(divide="ignore"):
        a, b = ((1.0 / side).astype(np.float32) for side in (lengths, norms))
    scaled = one.vectors.data * np.where(np.isfinite(a), a, 0)[:, None]
    cost: Singles = scaled @ vectors.T
    cost *= -np.where(np.isfinite(b), b, 0)
    cost += np.float32(1.0 - SLACK)
    np.maximum(cost, 0, out=cost)
    cost[~np.isfinite(a)] = 0  # a zero vector costs nothing
    cost[:, ~np.isfinite(b)] = 0
    return cost
