"""How well similarities agree with labels, under many weightings of the same pairs.

Every metric takes gold values, similarities and weights of shape ``(resamples, pairs)``, and gives
a value per resample, NaN in one that has none. Similarities that differ by less than a billionth
of the largest tie, so that rounding decides nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from movers.arrays import Floats, Ints
from movers.errors import InputError

Weights = NDArray[Any]
Agreement = Callable[[Floats, Floats, Weights], Floats]

TIE = 1e-9
NOISE = 1e-12
BLOCK = 1 << 19
"""Weights that are looked at together."""


@lru_cache(maxsize=8)
def draw_weights(pairs: int, resamples: int, seed: int) -> NDArray[np.uint8]:
    """Return how often each resample draws each pair, shape ``(resamples, pairs)``.

    The same arguments give the same draws, which is what makes comparisons paired.
    """
    if resamples < 1:
        raise InputError(f"resamples must be at least 1, got {resamples}")
    random = np.random.default_rng(seed)
    # More than 255 draws of one pair out of more than 255 do not happen.
    weights = np.empty((resamples, pairs), dtype=np.uint8)
    for row in weights:
        row[:] = np.bincount(random.integers(pairs, size=pairs), minlength=pairs)
    weights.setflags(write=False)
    return weights


def resample_auc(gold: Floats, similarities: Floats, weights: Weights) -> Floats:
    """Return the area under the ROC curve of each resample; NaN in one without both labels."""
    levels = _levels(similarities)

    def value(drawn: Weights) -> Floats:
        yes, no = _by_level(drawn * gold, levels), _by_level(drawn * (1.0 - gold), levels)
        below = np.cumsum(no, axis=1) - no / 2
        return np.asarray((yes * below).sum(axis=1) / (yes.sum(axis=1) * no.sum(axis=1)))

    return _by_block(value, weights)


def resample_precision(gold: Floats, similarities: Floats, weights: Weights) -> Floats:
    """Return the average precision of each resample; NaN in one without paraphrases."""
    levels = _levels(-similarities)

    def value(drawn: Weights) -> Floats:
        yes, every = _by_level(drawn * gold, levels), _by_level(drawn, levels)
        # what is not drawn may have nothing before it
        precision = np.cumsum(yes, axis=1) / np.maximum(np.cumsum(every, axis=1), 1.0)
        return np.asarray((yes * precision).sum(axis=1) / yes.sum(axis=1))

    return _by_block(value, weights)


def resample_spearman(gold: Floats, similarities: Floats, weights: Weights) -> Floats:
    """Return Spearman's correlation in each resample, ranked anew; NaN in a constant one."""
    sides = [_levels(values) for values in (gold, similarities)]

    def value(drawn: Weights) -> Floats:
        ranks = []
        for levels in sides:
            every = _by_level(drawn, levels)
            middle = np.cumsum(every, axis=1) - (every + drawn.sum(axis=1, keepdims=True)) / 2
            ranks.append(middle[:, levels])
        left, right = ranks
        spreads = (drawn * left**2).sum(axis=1) * (drawn * right**2).sum(axis=1)
        return np.asarray((drawn * left * right).sum(axis=1) / np.sqrt(spreads))

    return _by_block(value, weights)


def resample_pearson(gold: Floats, similarities: Floats, weights: Weights) -> Floats:
    """Return Pearson's correlation in each resample; NaN in a constant one."""
    x, y = gold - gold.mean(), similarities - similarities.mean()
    columns = np.stack([x, y, x * x, y * y, x * y], axis=1)

    def value(drawn: Weights) -> Floats:
        a, b, aa, bb, ab = (drawn @ columns).T
        total = drawn.sum(axis=1)
        left, right = aa - a * a / total, bb - b * b / total
        constant = (left <= NOISE * aa) | (right <= NOISE * bb)
        return np.where(constant, np.nan, (ab - a * b / total) / np.sqrt(left * right))

    return _by_block(value, weights)


def _by_block(value: Callable[[Weights], Floats], weights: Weights) -> Floats:
    """Return the values of all resamples, a block of them at a time."""
    rows = max(1, BLOCK // weights.shape[1])
    starts = range(0, len(weights), rows)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.concatenate([value(weights[at : at + rows].astype(float)) for at in starts])


def _levels(values: Floats) -> Ints:
    """Return the place of every value among the distinct ones, in their order."""
    rounded = np.round(values / (np.abs(values).max() or 1.0) / TIE)
    return np.unique(rounded, return_inverse=True)[1]


def _by_level(weights: Floats, levels: Ints) -> Floats:
    """Sum weights of pairs that tie, ``(resamples, levels)``."""
    order = np.argsort(levels, kind="stable")
    starts = np.searchsorted(levels[order], np.arange(levels.max() + 1))
    return np.asarray(np.add.reduceat(weights[:, order], starts, axis=1))


METRICS: dict[str, Agreement] = {
    "auc": resample_auc,
    "ap": resample_precision,
    "spearman": resample_spearman,
    "pearson": resample_pearson,
}
TITLES = {
    "auc": "AUC",
    "ap": "average precision",
    "spearman": "Spearman's ρ",
    "pearson": "Pearson's r",
}
