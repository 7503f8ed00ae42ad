"""Unsupervised SIF: normalised word vectors, and five components removed by their share."""

from __future__ import annotations

import numpy as np

from movers.arrays import Floats, Ints
from movers.baselines import Blocks, Scores, cosine_distances
from movers.baselines.average import renumbered
from movers.baselines.removal import (
    components_of,
    key,
    mean_vectors,
    principal,
    without,
    word_by_word,
)
from movers.measure.measured import Context, Measured

NAME = "usif"
COMPONENTS = 5


def fit(blocks: Blocks, context: Context, layer: int) -> dict[str, Floats]:
    """Find the five directions the sentence vectors share most."""
    vectors = mean_vectors if context.recipe == "reference" else _vectors
    return {key(NAME, layer, context.recipe): principal(vectors, blocks, COMPONENTS)}


def fitted(context: Context, layer: int) -> Floats | None:
    """The components in use."""
    return context.statistics.arrays.get(key(NAME, layer, context.recipe))


def distances(measured: Measured, rows: Ints, context: Context, *, plans: bool = False) -> Scores:
    """Compare sentence vectors, less a part of each component as large as its share."""
    if context.recipe == "reference":
        return word_by_word(NAME, measured, rows, context)
    picked, pairs = renumbered(rows)
    components = components_of(NAME, measured, context)
    vectors = without(_vectors(measured, picked), components, context.threads)
    return Scores(cosine_distances(vectors, pairs))


def _vectors(measured: Measured, picked: Ints) -> Floats:
    """Mean of weight times vector, each dimension first scaled to length 1 in the sentence."""
    from movers.baselines import kernels

    assert measured.vectors is not None
    means = mean_vectors(measured, picked)
    squares = np.zeros_like(means)
    kernels.pool_squares(measured.vectors.data, measured.vectors.starts, picked, squares)
    return np.asarray(means / np.sqrt(np.where(squares > 0, squares, 1.0)))
