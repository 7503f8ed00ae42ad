"""Compiled loops of `movers.measures.parts.costs` and `syntax`, and what they take and fill."""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np

from movers.arrays import Array, Floats, Ints
from movers.runtime.compiling import summing


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


class Between(NamedTuple):
    """Distances of all sub-trees of every pair with their row lengths, and `SubTrees` by word."""

    distances: Floats
    starts: Ints
    widths: Ints
    members: Ints
    member_starts: Ints
    pieces: Ints


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


@summing
def fill_subtrees(low: int, high: int, between: Between, cells: CostCells, apart: Floats) -> None:
    """Add to the pairs ``low .. high-1`` the mean distance between the sub-trees of two words."""
    a, b, shapes, starts, out = cells
    distances, distance_start, widths, members, member_start, pieces = between
    for p in range(low, high):
        cell = starts[p]
        for i in range(a[p], a[p] + shapes[p, 0]):
            for j in range(b[p], b[p] + shapes[p, 1]):
                total = 0.0
                for s in range(member_start[i], member_start[i + 1]):
                    row = distance_start[p] + members[s] * widths[p]
                    for t in range(member_start[j], member_start[j + 1]):
                        total += distances[row + members[t]]
                count = (member_start[i + 1] - member_start[i]) * (
                    member_start[j + 1] - member_start[j]
                )
                if count > 0:
                    out[cell] += total / count
                    apart[p] += (pieces[i] * pieces[j] - 1) * total / count
                cell += 1
