"""How well distances agree with gold values, and how sure that is.

Similarity is the negative distance; ties count half in the area under the ROC curve and share
their average rank in Spearman's correlation. Intervals and tests come from the bootstrap: pairs are
drawn with replacement, and every method sees the same draws.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from movers.agreement import METRICS, TITLES, draw_weights
from movers.arrays import Floats
from movers.errors import InputError
from movers.evaluate.labelled import Empty

RESAMPLES = 1000
LEVEL = 0.95


@dataclass(frozen=True)
class DefinedPairs:
    """The pairs of a data set that count for a method, or for several with a row of distances each.

    Of the pairs without a distance, so many are ``dropped``.
    """

    gold: Floats
    distances: Floats
    dropped: int


@dataclass(frozen=True)
class Estimate:
    """A metric and its 95 % interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class EstimatedDifference(Estimate):
    """The lead of one method over another: its interval and two-sided p-value."""

    p: float


def apply_empty_policy(gold: ArrayLike, distances: ArrayLike, empty: Empty) -> DefinedPairs:
    """Decide about pairs without a distance, which is NaN there.

    With ``"drop"``, a pair that any of the methods cannot compare counts for none. With
    ``"least"``, it gets the largest distance of the method that lacks one.

    Examples
    --------
    >>> apply_empty_policy([1, 0, 1], [0.2, 0.7, float("nan")], "least").distances.tolist()
    [0.2, 0.7, 0.7]
    >>> apply_empty_policy([1, 0, 1], [0.2, 0.7, float("nan")], "drop").gold.tolist()
    [1.0, 0.0]
    """
    truth, apart = np.asarray(gold, dtype=float), np.asarray(distances, dtype=float)
    if apart.shape[-1:] != truth.shape:
        raise InputError(f"{apart.shape[-1]} distances while there are {len(truth)} gold values")
    lacking = np.isnan(apart)
    anywhere = lacking.reshape(-1, len(truth)).any(axis=0)
    count = int(anywhere.sum())
    if count == len(truth):
        raise InputError("no pair has a distance; are all sentences empty without stop words?")
    if empty == "drop":
        return DefinedPairs(truth[~anywhere], apart[..., ~anywhere], count)
    largest = np.nanmax(apart, axis=-1, keepdims=True)
    return DefinedPairs(truth, np.where(lacking, largest, apart), 0)


def score(metric: str, gold: ArrayLike, distances: ArrayLike) -> float:
    """Return the value of a metric: auc, ap, spearman or pearson.

    The area under the ROC curve tells how often a paraphrase is nearer than another pair; the
    correlations of gold values and similarity are NaN where all distances are the same.

    Examples
    --------
    >>> score("auc", [1, 1, 0, 0], [0.1, 0.5, 0.5, 0.9])
    0.875
    """
    truth, similarities = _check(metric, gold, distances)
    once = np.ones((1, len(truth)), dtype=np.uint8)
    return float(METRICS[metric](truth, similarities, once)[0])


def estimate(
    metric: str, gold: ArrayLike, distances: ArrayLike, *, resamples: int = RESAMPLES, seed: int = 0
) -> Estimate:
    """Return a metric with its percentile interval over bootstrap resamples of the pairs."""
    values = _resampled(metric, gold, distances, resamples, seed)
    return Estimate(score(metric, gold, distances), *interval(values))


def compare(
    metric: str,
    gold: ArrayLike,
    first: ArrayLike,
    second: ArrayLike,
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> EstimatedDifference:
    """Test whether one method is better than another on the same pairs.

    The p-value is twice the share of resamples in which the difference has the other sign or
    vanishes: below 0.05 just when the interval excludes zero, up to the correction that keeps it
    above zero.

    Parameters
    ----------
    metric
        auc, ap, spearman or pearson.
    gold, first, second
        Labels or scores of the pairs, and the distances of both methods.
    resamples, seed
        How many times to draw pairs, and where to begin.
    """
    sides = [_resampled(metric, gold, side, resamples, seed) for side in (first, second)]
    differences = sides[0] - sides[1]
    differences = differences[np.isfinite(differences)]
    fewer = min((differences <= 0).sum(), (differences >= 0).sum())
    p = min(1.0, 2 * (fewer + 1) / (len(differences) + 1))
    value = score(metric, gold, first) - score(metric, gold, second)
    return EstimatedDifference(value, *interval(differences), float(p))


def _resampled(
    metric: str, gold: ArrayLike, distances: ArrayLike, resamples: int, seed: int
) -> Floats:
    truth, similarities = _check(metric, gold, distances)
    return _draw(metric, truth.tobytes(), similarities.tobytes(), resamples, seed)


@lru_cache(maxsize=64)
def _draw(metric: str, gold: bytes, similarities: bytes, resamples: int, seed: int) -> Floats:
    """Return the metric in every resample; kept, for a method is compared with several others."""
    truth, alike = np.frombuffer(gold), np.frombuffer(similarities)
    return METRICS[metric](truth, alike, draw_weights(len(truth), resamples, seed))


def interval(values: Floats) -> tuple[float, float]:
    """Return percentiles of the resamples in which the metric exists; NaN without any."""
    values = values[np.isfinite(values)]
    if not len(values):
        return np.nan, np.nan
    tail = 50 * (1 - LEVEL)
    low, high = np.percentile(values, [tail, 100 - tail])
    return float(low), float(high)


def _check(metric: str, gold: ArrayLike, distances: ArrayLike) -> tuple[Floats, Floats]:
    """Return gold values and similarities."""
    if metric not in METRICS:
        raise InputError(f"no metric {metric!r}; there are: {', '.join(METRICS)}")
    truth, apart = np.asarray(gold, dtype=float), np.asarray(distances, dtype=float)
    if truth.shape != apart.shape or truth.ndim != 1:
        raise InputError(f"gold has shape {truth.shape} while distances have {apart.shape}")
    if not np.isfinite(apart).all():
        raise InputError(f"{(~np.isfinite(apart)).sum()} pairs have no distance; settle them first")
    if not len(truth) or (truth == truth[0]).all():
        raise InputError(f"all {len(truth)} gold values are the same; nothing can agree with them")
    if metric in ("auc", "ap") and not np.isin(truth, (0, 1)).all():
        raise InputError(f"{TITLES[metric]} needs gold values 0 and 1; take spearman for scores")
    return truth, -apart
