"""Conceptor negation: weighted means, damped where all vectors lie."""

from __future__ import annotations

import numpy as np

from movers.arrays import Floats, Ints
from movers.baselines import Scores, cosine_distances
from movers.baselines.average import pooled, renumbered
from movers.encode.products import product
from movers.errors import Do
from movers.measure.measured import Context, Measured
from movers.runtime.notices import UnfittedWarning, notify

APERTURE = 2.0


def distances(measured: Measured, rows: Ints, context: Context, *, plans: bool = False) -> Scores:
    """Compare weighted means under ``I - C``, where ``C = R (R + aperture**-2 I)**-1``.

    R is the mean outer product of all token vectors, which the fitted whitening implies. The
    reference recipe computes C and never applies it, as the published code does.
    """
    picked, pairs = renumbered(rows)
    vectors = pooled(measured, measured.weights.data, picked)
    if context.recipe == "paper":
        vectors = product(vectors, negation(measured, context), context.threads)
    return Scores(cosine_distances(vectors, pairs))


def fitted(context: Context, layer: int) -> Floats | None:
    """The moments in use, by way of the whitening that implies them."""
    white = context.statistics.whitening.get(layer)
    return None if white is None or context.recipe == "reference" else white.matrix


def negation(measured: Measured, context: Context) -> Floats:
    """The matrix ``I - C``, by the formula it reduces to: ``(aperture**2 R + I)**-1``."""
    assert measured.embedding is not None and measured.vectors is not None
    white = context.statistics.whitening.get(measured.embedding)
    if white is None:
        notify(
            "conceptor needs the moments of token vectors, and those of embedding layer "
            f"{measured.embedding} are not known: nothing is damped",
            UnfittedWarning,
            Do("fit"),
        )
        return np.eye(measured.vectors.data.shape[1])
    squares = np.einsum("ij,ij->j", white.matrix, white.matrix)
    kept = white.matrix[:, squares > 0] / squares[squares > 0]  # directions times variance ** 0.5
    moments = kept @ kept.T + np.outer(white.mean, white.mean)
    return np.asarray(np.linalg.inv(APERTURE**2 * moments + np.eye(len(moments))))
