"""Weighted mean of the word vectors, compared by cosine."""

from __future__ import annotations

import numpy as np

from movers.baselines import Floats, Ints, Scores, cosine_distances
from movers.encode.ragged import Ragged
from movers.measure.measured import Context, Measured


def distances(measured: Measured, rows: Ints, context: Context, *, plans: bool = False) -> Scores:
    """Compare the mean vectors of the sentences."""
    return Scores(cosine_distances(means(measured), rows))


def means(measured: Measured) -> Floats:
    """Weighted mean vector of every sentence, shape ``(sentences, dimension)``."""
    assert measured.vectors is not None
    weighted = measured.vectors.data.astype(np.float64) * measured.weights.data[:, None]
    return Ragged(weighted, measured.vectors.starts).sums()
