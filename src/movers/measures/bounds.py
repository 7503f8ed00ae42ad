"""Lower bounds of distances, by which a search leaves sentences out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from movers.arrays import Floats, Ints, Singles
from movers.measures.sentences import WeightedSentences
from movers.solve.problems import Problems

NEAR = 128
"""Pairs of sentence vectors that stay near the processor together."""


def sentence_distances(pooled: Singles, rows: Ints) -> Floats:
    """Return one minus the cosine of the vectors of two sentences, for every pair.

    Half the squared distance of unit vectors: 0 exactly for the same vector, never below.
    """
    out = np.empty(len(rows))
    for start in range(0, len(rows), NEAR):
        place = slice(start, start + NEAR)
        vectors = pooled[rows[place]].astype(np.float64)
        lengths = np.sqrt(np.square(vectors).sum(axis=2, keepdims=True))
        units = vectors / np.where(lengths > 0, lengths, 1.0)
        out[place] = np.square(units[:, 0] - units[:, 1]).sum(axis=1) / 2
    return out


@dataclass(frozen=True)
class CosineBound:
    """A distance never lies below one minus the cosine of the sentence vectors.

    ``settled`` takes these bounds and returns the distance where they alone give it, NaN where
    words have to be compared.
    """

    settled: Callable[[Floats], Floats]


@dataclass(frozen=True)
class TransportBound:
    """A distance is what words, and structure beside them, cost under the best plan.

    Parameters
    ----------
    cost
        Row of `movers.measures.parts.costs.COSTS`; None if words cost nothing.
    words
        Factor of the word cost in the distance.
    structure
        Factor of the structural part in the distance; None where there is none, and 0 where it
        makes the plan but is not paid.
    scaled
        Whether structure is brought to the scale of the cost, by the factor k.
    pose
        Poses the problems of pairs, from sentences and rows.
    move
        Solves problems; returns the distance of every pair under every head.
    """

    cost: str | None
    words: float
    structure: float | None
    scaled: bool
    pose: Callable[[WeightedSentences, Ints], Problems]
    move: Callable[[Problems], Floats]


@dataclass(frozen=True)
class FeatureBound:
    """A distance never lies below what a few numbers of each sentence tell.

    ``features`` gives the texts of sentences a row of numbers each, float32, and ``lower`` bounds
    the distances from one such row to many.
    """

    features: Callable[[list[str]], Singles]
    lower: Callable[[Singles, Singles], Floats]


Bound = CosineBound | TransportBound | FeatureBound
