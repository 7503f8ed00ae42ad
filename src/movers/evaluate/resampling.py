"""Metrics under many weightings of the same pairs: what a bootstrap needs, without sorting twice.

Every function takes gold values, similarities and weights of shape ``(resamples, pairs)``, and
gives a value per resample.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from movers.arrays import Floats, Ints
from movers.errors import InputError
from movers.runtime.compiling import entry, kernel

Weights = NDArray[np.uint8]

TIE = 1e-9
NOISE = 1e-12


@lru_cache(maxsize=8)
def draw_weights(pairs: int, resamples: int, seed: int) -> Weights:
    """How often each resample draws each pair, shape ``(resamples, pairs)``.

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


def _groups(values: Floats) -> Ints:
    """Number the distinct values in order; those that differ by noise share a number."""
    scale = np.abs(values).max() or 1.0
    return np.unique(np.round(values / scale / TIE), return_inverse=True)[1].astype(np.int64)


def resample_auc(gold: Floats, similarities: Floats, weights: Weights) -> Floats:
    """Area under the ROC curve of each resample; NaN in one without both labels."""
    groups, values = _groups(similarities), np.empty(len(weights))
    _auc(gold, groups, weights, np.empty((2, groups.max() + 1)), values)
    return values


def resample_precision(gold: Floats, similarities: Floats, weights: Weights) -> Floats:
    """Average precision of each resample; NaN in one without paraphrases."""
    groups, values = _groups(similarities), np.empty(len(weights))
    _precision(gold, groups, weights, np.empty((2, groups.max() + 1)), values)
    return values


def resample_spearman(gold: Floats, similarities: Floats, weights: Weights) -> Floats:
    """Spearman's correlation in each resample, ranked anew; NaN in a constant one."""
    left, right, values = _groups(gold), _groups(similarities), np.empty(len(weights))
    ranks = np.empty(left.max() + 1), np.empty(right.max() + 1)
    _spearman(left, right, weights, *ranks, values)
    return values


def resample_pearson(gold: Floats, similarities: Floats, weights: Weights) -> Floats:
    """Pearson's correlation in each resample; NaN in a constant one."""
    values = np.empty(len(weights))
    _pearson(gold - gold.mean(), similarities - similarities.mean(), weights, values)
    return values


@entry
def _auc(gold: Floats, groups: Ints, weights: Weights, masses: Floats, values: Floats) -> None:
    for draw in range(len(weights)):
        masses[:] = 0.0
        for pair in range(len(gold)):
            masses[int(gold[pair]), groups[pair]] += weights[draw, pair]
        below = positives = won = 0.0
        for group in range(masses.shape[1]):
            won += masses[1, group] * (below + masses[0, group] / 2)
            below += masses[0, group]
            positives += masses[1, group]
        values[draw] = won / (positives * below)


@entry
def _precision(
    gold: Floats, groups: Ints, weights: Weights, masses: Floats, values: Floats
) -> None:
    for draw in range(len(weights)):
        masses[:] = 0.0
        for pair in range(len(gold)):
            masses[int(gold[pair]), groups[pair]] += weights[draw, pair]
        found = seen = total = 0.0
        for group in range(masses.shape[1] - 1, -1, -1):
            positives = masses[1, group]
            found += positives
            seen += positives + masses[0, group]
            if positives > 0:
                total += positives * found / seen
        values[draw] = total / found if found > 0 else np.nan


@entry
def _spearman(
    left: Ints,
    right: Ints,
    weights: Weights,
    left_ranks: Floats,
    right_ranks: Floats,
    values: Floats,
) -> None:
    for draw in range(len(weights)):
        left_ranks[:] = 0.0
        right_ranks[:] = 0.0
        for pair in range(len(left)):
            left_ranks[left[pair]] += weights[draw, pair]
            right_ranks[right[pair]] += weights[draw, pair]
        spread = _rank(left_ranks, len(left)) * _rank(right_ranks, len(left))
        shared = 0.0
        for pair in range(len(left)):
            shared += weights[draw, pair] * left_ranks[left[pair]] * right_ranks[right[pair]]
        values[draw] = shared / np.sqrt(spread)


@kernel
def _rank(masses: Floats, total: int) -> float:
    """Replace the mass of each group by its average rank around zero; return their spread."""
    below = spread = 0.0
    for group in range(len(masses)):
        mass = masses[group]
        masses[group] = below + (mass - total) / 2
        spread += mass * masses[group] ** 2
        below += mass
    return spread


@entry
def _pearson(left: Floats, right: Floats, weights: Weights, values: Floats) -> None:
    for draw in range(len(weights)):
        a = b = aa = bb = ab = 0.0
        for pair in range(len(left)):
            weight, x, y = weights[draw, pair], left[pair], right[pair]
            a += weight * x
            b += weight * y
            aa += weight * x * x
            bb += weight * y * y
            ab += weight * x * y
        left_spread, right_spread = aa - a * a / len(left), bb - b * b / len(left)
        if left_spread <= NOISE * aa or right_spread <= NOISE * bb:
            values[draw] = np.nan
        else:
            values[draw] = (ab - a * b / len(left)) / np.sqrt(left_spread * right_spread)
