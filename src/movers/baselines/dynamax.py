"""DynaMax-Jaccard: fuzzy sets of words over a universe made of the two sentences."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from movers.arrays import Floats, Ints, Ragged
from movers.baselines import Scores
from movers.baselines.average import renumbered
from movers.baselines.matching import best_matches
from movers.measure.measured import Context, Measured

TINY = 1e-30


def distances(measured: Measured, rows: Ints, context: Context, *, plans: bool = False) -> Scores:
    """Compare how far each sentence contains the words of both.

    A sentence contains a word as far as the largest dot product of its own words with it, if
    that is positive. The similarity is the Jaccard index of the two memberships.
    """
    picked, pairs = renumbered(rows)
    own = best_matches(
        measured, np.stack([picked, picked], axis=1), cosine=False, threads=context.threads
    ).forth
    other = best_matches(measured, rows, cosine=False, threads=context.threads)
    halves = [
        _memberships(own.take(pairs[:, 0]), other.forth),
        _memberships(own.take(pairs[:, 1]), other.back),
    ]
    common, whole = (sum(part) for part in zip(*halves, strict=True))
    return Scores(np.asarray(1.0 - common / (whole + TINY)))


def _memberships(one: Ragged, other: Ragged) -> tuple[Floats, Floats]:
    """Sums over words of the smaller and of the larger membership, one per pair."""
    inside, outside = np.maximum(one.data, 0.0), np.maximum(other.data, 0.0)
    parts = np.minimum(inside, outside), np.maximum(inside, outside)
    smaller, larger = (replace(one, data=part).sums() for part in parts)
    return smaller, larger
