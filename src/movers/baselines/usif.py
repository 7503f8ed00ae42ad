"""Unsupervised SIF: normalised word vectors, and five components removed by their share."""

from __future__ import annotations

import numpy as np

from movers.arrays import Floats, Ints
from movers.baselines.removal import Removal, mean_vectors
from movers.measure.measured import Measured


def scaled_vectors(measured: Measured, picked: Ints) -> Floats:
    """Mean of weight times vector, each dimension first scaled to length 1 in the sentence."""
    from movers.baselines import kernels

    assert measured.vectors is not None
    means = mean_vectors(measured, picked)
    squares = np.zeros_like(means)
    kernels.pool_squares(measured.vectors.data, measured.vectors.starts, picked, squares)
    return np.asarray(means / np.sqrt(np.where(squares > 0, squares, 1.0)))


USIF = Removal("usif", 5, scaled_vectors)
fit, fitted, distances = USIF.fit, USIF.fitted, USIF.distances
