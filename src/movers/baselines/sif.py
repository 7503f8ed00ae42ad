"""Smooth inverse frequency: weighted means without their first common component."""

from __future__ import annotations

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

NAME = "sif"


def fit(blocks: Blocks, context: Context, layer: int) -> dict[str, Floats]:
    """Find the direction all sentence vectors share."""
    return {key(NAME, layer, context.recipe): principal(mean_vectors, blocks, 1)}


def fitted(context: Context, layer: int) -> Floats | None:
    """The components in use."""
    return context.statistics.arrays.get(key(NAME, layer, context.recipe))


def distances(measured: Measured, rows: Ints, context: Context, *, plans: bool = False) -> Scores:
    """Compare weighted means, less their component along the shared direction."""
    if context.recipe == "reference":
        return word_by_word(NAME, measured, rows, context)
    picked, pairs = renumbered(rows)
    components = components_of(NAME, measured, context)
    vectors = without(mean_vectors(measured, picked), components, context.threads)
    return Scores(cosine_distances(vectors, pairs))
