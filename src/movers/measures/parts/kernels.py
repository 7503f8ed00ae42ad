"""Compiled loops of the measures, and what they take and fill."""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np

from movers.arrays import Array, Floats, Ints
from movers.runtime.compiling import entry, summing


class CostCells(NamedTuple):
    """Which rows of a store of words a pair compares, and where the numbers of it go.

    Pair p compares the words from ``a[p]`` and from ``b[p]`` on, as many as ``shapes[p]`` says,
    and fills ``out`` from ``starts[p]`` on.
    """

    a: Ints
    b: Ints
    shapes: Ints
    starts: Ints
    out: Floats


@summing
def fill_norms(vectors: Array, out: Floats) -> None:
    """Fill in the Euclidean length of every row."""
    for i in range(len(vectors)):
        total = 0.0
        for k in range(vectors.shape[1]):
            x = np.float64(vectors[i, k])
            total += x * x
        out[i] = sqrt(total)


@summing
def euclidean(low: int, high: int, vectors: Array, lengths: Floats, cells: CostCells) -> None:
    """Fill the pairs ``low .. high-1`` with Euclidean distances.

    Differences, not the expanded square: equal vectors are at distance 0 exactly.
    """
    a, b, shapes, starts, out = cells
    for p in range(low, high):
        cell = starts[p]
        for i in range(a[p], a[p] + shapes[p, 0]):
            for j in range(b[p], b[p] + shapes[p, 1]):
                total = 0.0
                for k in range(vectors.shape[1]):
                    x = np.float64(vectors[i, k]) - np.float64(vectors[j, k])
                    total += x * x
                out[cell] = sqrt(total)
                cell += 1


@summing
def cosine(low: int, high: int, vectors: Array, lengths: Floats, cells: CostCells) -> None:
    """Fill the pairs ``low .. high-1`` with one minus the cosine, not below 0.

    A zero vector costs nothing, as in the published code.
    """
    a, b, shapes, starts, out = cells
    for p in range(low, high):
        cell = starts[p]
        for i in range(a[p], a[p] + shapes[p, 0]):
            for j in range(b[p], b[p] + shapes[p, 1]):
                total = 0.0
                for k in range(vectors.shape[1]):
                    total += np.float64(vectors[i, k]) * np.float64(vectors[j, k])
                length = lengths[i] * lengths[j]
                out[cell] = max(0.0, 1.0 - total / length) if length > 0.0 else 0.0
                cell += 1


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
