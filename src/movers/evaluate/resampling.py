"""Metrics under many weightings of the same pairs: what a bootstrap needs.

Every metric takes gold values, similarities and weights of shape ``(resamples, pairs)``, and gives
a value per resample, NaN in one that has none.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from movers.arrays import Floats, Ints
from movers.errors import InputError

Weights = NDArray[np.uint8]
Ends = tuple[Ints, Ints]
"""For each place in sorted order, where its group begins and ends."""

TIE = 1e-9
NOISE = 1e-12
BLOCK = 1 << 16
"""Weights that are looked at together, so that what they become stays in the processor's cache."""


@lru_cache(maxsize=8)
def draw_weights(pairs: int, resamples: int, seed: int) -> Weights:
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
    """Area under the ROC curve of each resample; NaN in one without both labels."""
    order, ends = _sort_groups(similarities)
    truth = gold[order, None]

    def value(drawn: Weights) -> Floats:
        positives = drawn[order] * truth
        count = positives.sum(axis=0)
        won = _sum_products(positives, _ranks(drawn[order], ends)) - count**2 / 2
        return np.asarray(won / (count * (len(gold) - count)))

    return _by_block(value, weights)


def resample_precision(gold: Floats, similarities: Floats, weights: Weights) -> Floats:
    """Average precision of each resample; NaN in one without paraphrases."""
    order, (_, end) = _sort_groups(-similarities)
    truth = gold[order, None]

    def value(drawn: Weights) -> Floats:
        positives = drawn[order] * truth
        found, seen = _cumulate(positives)[end], _cumulate(drawn[order])[end]
        precision = found / np.maximum(seen, 1.0)  # what is not drawn may have nothing before it
        return np.asarray(_sum_products(positives, precision) / positives.sum(axis=0))

    return _by_block(value, weights)


def resample_spearman(gold: Floats, similarities: Floats, weights: Weights) -> Floats:
    """Spearman's correlation in each resample, ranked anew; NaN in a constant one."""
    sides = [_sort_groups(values) for values in (gold, similarities)]

    def value(drawn: Weights) -> Floats:
        left, right = (
            _ranks(drawn[order], ends)[np.argsort(order)] - len(gold) / 2 for order, ends in sides
        )
        weighted = drawn * left
        spreads = _sum_products(weighted, left) * _sum_products(drawn * right, right)
        return np.asarray(_sum_products(weighted, right) / np.sqrt(spreads))

    return _by_block(value, weights)


def resample_pearson(gold: Floats, similarities: Floats, weights: Weights) -> Floats:
    """Pearson's correlation in each resample; NaN in a constant one."""
    x, y = gold - gold.mean(), similarities - similarities.mean()
    columns = np.stack([x, y, x * x, y * y, x * y])

    def value(drawn: Weights) -> Floats:
        a, b, aa, bb, ab = columns @ drawn
        left, right = aa - a * a / len(x), bb - b * b / len(x)
        constant = (left <= NOISE * aa) | (right <= NOISE * bb)
        return np.where(constant, np.nan, (ab - a * b / len(x)) / np.sqrt(left * right))

    return _by_block(value, weights)


def _by_block(value: Callable[[Weights], Floats], weights: Weights) -> Floats:
    """Compute the values of a few resamples at a time, from weights ``(pairs, resamples)``."""
    rows = max(1, BLOCK // weights.shape[1])
    blocks = (weights[start : start + rows].T.copy() for start in range(0, len(weights), rows))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.concatenate([value(block) for block in blocks])


def _sort_groups(values: Floats) -> tuple[Ints, Ends]:
    """The order of values, and the ends of their groups: those that differ by noise are equal."""
    scale = np.abs(values).max() or 1.0
    rounded = np.round(values / scale / TIE)
    order = np.argsort(rounded, kind="stable")
    ordered = rounded[order]
    return order, (np.searchsorted(ordered, ordered), np.searchsorted(ordered, ordered, "right"))


def _ranks(weights: Weights, ends: Ends) -> Floats:
    """For every place in order the weight of the groups below its own, and half of its own's."""
    sums = _cumulate(weights)
    return (sums[ends[0]] + sums[ends[1]]) / 2


def _cumulate(weights: Floats | Weights) -> Floats:
    """Return the weight before every place in order, and at last that of all."""
    sums = np.zeros((len(weights) + 1, weights.shape[1]))
    np.cumsum(weights, axis=0, out=sums[1:])
    return sums


def _sum_products(first: Floats, second: Floats) -> Floats:
    """Sums of products, column by column."""
    return np.asarray(np.einsum("ij,ij->j", first, second))
