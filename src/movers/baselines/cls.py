"""The vector of the special token at the start, compared by cosine."""

from __future__ import annotations

import numpy as np

from movers.arrays import Floats, Ints
from movers.baselines import Scores, cosine_distances
from movers.baselines.average import renumbered
from movers.measure.measured import Context, Measured

BEFORE_WORDS = "<s>"
"""The published code drops RoBERTa's start token with all that lacks a word-start marker."""


def distances(measured: Measured, rows: Ints, context: Context, *, plans: bool = False) -> Scores:
    """Compare the last layer at the first token.

    The reference recipe compares RoBERTa's first piece of text instead, as the published code
    does.
    """
    picked, pairs = renumbered(rows)
    return Scores(cosine_distances(_first(measured, picked, context.recipe), pairs))


def _first(measured: Measured, picked: Ints, recipe: str) -> Floats:
    vectors = measured.vectors
    assert vectors is not None
    places = vectors.starts[picked]
    if recipe == "reference":
        spellings = measured.encodings.spellings
        places = places + np.array([spellings[row][0] == BEFORE_WORDS for row in picked], np.int64)
    return np.asarray(vectors.data[places], np.float64)
