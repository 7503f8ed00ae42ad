"""Smooth inverse frequency: weighted means without their first common component."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from movers.baselines import Floats, Ints, Scores, cosine_distances
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

NAME = "sif"


def fit(measured: Measured, counts: Sequence[int], context: Context) -> dict[str, Floats]:
    """Find the direction all sentence vectors share."""
    vectors = mean_vectors(measured, np.arange(len(counts)))
    return {key(NAME, measured.embedding, context.recipe): principal(vectors, counts, 1)}


def fitted(context: Context, layer: int) -> Floats | None:
    """The components in use."""
    return context.statistics.arrays.get(key(NAME, layer, context.recipe))


def distances(measured: Measured, rows: Ints, context: Context, *, plans: bool = False) -> Scores:
    """Compare weighted means, less their component along the shared direction."""
    if context.recipe == "reference":
        return word_by_word(NAME, measured, rows, context)
    picked, pairs = renumbered(rows)
    vectors = without(mean_vectors(measured, picked), components_of(NAME, measured, context))
    return Scores(cosine_distances(vectors, pairs))
