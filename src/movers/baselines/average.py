"""Weighted mean of the word vectors, compared by cosine."""

from __future__ import annotations

import numpy as np

from movers.arrays import Floats, Ints
from movers.baselines import Scores, cosine_distances
from movers.measure.measured import Context, Measured


def distances(measured: Measured, rows: Ints, context: Context, *, plans: bool = False) -> Scores:
    """Compare the mean vectors of the sentences."""
    picked, pairs = renumbered(rows)
    return Scores(cosine_distances(pooled(measured, measured.weights.data, picked), pairs))


def renumbered(rows: Ints) -> tuple[Ints, Ints]:
    """The sentences that occur in pairs, and the pairs in terms of these."""
    picked, numbers = np.unique(rows, return_inverse=True)
    return picked, numbers.reshape(rows.shape)


def pooled(measured: Measured, weights: Floats, picked: Ints) -> Floats:
    """Weighted sum of the word vectors of some sentences, shape ``(picked, dimension)``."""
    from movers.baselines import kernels

    vectors = measured.vectors
    assert vectors is not None
    out = np.zeros((len(picked), vectors.data.shape[1]))
    kernels.pool(vectors.data, weights, vectors.starts, picked, out)
    return out
