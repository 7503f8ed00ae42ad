"""Compiled loops of the measures in this folder."""

from __future__ import annotations

import numpy as np

from movers.arrays import Array, Floats, Ints
from movers.runtime.compiling import entry, summing


@entry
def pool(vectors: Array, weights: Floats, starts: Ints, picked: Ints, out: Floats) -> None:
    """Add the weighted word vectors of every picked sentence."""
    for place in range(len(picked)):
        for t in range(starts[picked[place]], starts[picked[place] + 1]):
            for k in range(vectors.shape[1]):
                out[place, k] += weights[t] * np.float64(vectors[t, k])


@summing
def match(
    low: int,
    high: int,
    vectors: Array,
    scale: Floats,
    starts: Ints,
    rows: Ints,
    forth_starts: Ints,
    back_starts: Ints,
    forth: Floats,
    back: Floats,
    chosen: Ints,
) -> None:
    """Find the best match of every word in the pairs ``low .. high-1``.

    Similarity is the dot product times the scales of both words. ``forth`` gets the best of
    each source word and ``chosen`` where it stands in the target, ``back`` the best of each
    target word.
    """
    for p in range(low, high):
        a, b = starts[rows[p, 0]], starts[rows[p, 1]]
        n, m = starts[rows[p, 0] + 1] - a, starts[rows[p, 1] + 1] - b
        for j in range(m):
            back[back_starts[p] + j] = -np.inf
        for i in range(n):
            best, where = -np.inf, 0
            for j in range(m):
                total = 0.0
                for k in range(vectors.shape[1]):
                    total += np.float64(vectors[a + i, k]) * np.float64(vectors[b + j, k])
                total *= scale[a + i] * scale[b + j]
                if total > best:
                    best, where = total, j
                if total > back[back_starts[p] + j]:
                    back[back_starts[p] + j] = total
            forth[forth_starts[p] + i] = best
            chosen[forth_starts[p] + i] = where
