"""How words changed that moved: their vectors in two sentences, along given directions.

A vector from the middle of a transformer knows the company of its word: the *dog* that bites lies
elsewhere than the *dog* that is bitten.
"""

from __future__ import annotations

import numpy as np

from movers.arrays import Array, Floats, Ints, Ragged, boundaries
from movers.encode.kernels import product


def differences(vectors: Ragged, rows: Ints, shapes: Ints, plan: Floats) -> tuple[Ragged, Floats]:
    """Return the vector of every word that moved less that of the word it went to, and its mass.

    Parameters
    ----------
    vectors
        Vectors of the words of every sentence.
    rows : (pairs, 2)
        Sentences of the pairs.
    shapes, plan
        Words of both sides of every pair, and flat plans, one after another.
    """
    sources, targets, mass, starts = _moved(vectors.starts, rows, shapes, plan)
    return Ragged(vectors.data[sources] - vectors.data[targets], starts), mass


def principal(given: Array, count: int) -> Floats:
    """Return the directions, ``(count, dimensions)``, that vectors spread most along from zero."""
    spread = given.T @ given
    return np.asarray(np.linalg.eigh(spread.astype(float))[1].T[::-1][:count])


def shifts(
    directions: Floats,
    vectors: Ragged,
    rows: Ints,
    shapes: Ints,
    plan: Floats,
    *,
    threads: int | None = None,
) -> Floats:
    """Return how far the words of pairs shifted along directions, ``(pairs, directions)``.

    The root of the mean square over the words that moved; parameters as in `differences`.
    """
    sources, targets, mass, starts = _moved(vectors.starts, rows, shapes, plan)
    used, places = np.unique(np.concatenate([sources, targets]), return_inverse=True)
    along = product(vectors.data, directions.T, threads, picked=used)
    first, second = places.reshape(2, -1)
    return spreads(Ragged(along[first] - along[second], starts), mass)


def spreads(along: Ragged, mass: Floats) -> Floats:
    """Return the root of the mean square of every row of vectors, weighted by mass."""
    squares = Ragged(mass[:, None] * along.data**2, along.starts).sums()
    whole = Ragged(mass, along.starts).sums()
    return np.asarray(np.sqrt(squares / np.where(whole > 0, whole, 1.0)[:, None]))


def _moved(starts: Ints, rows: Ints, shapes: Ints, plan: Floats) -> tuple[Ints, Ints, Floats, Ints]:
    """Return the words that moved, where they went, and their mass; and where every pair starts."""
    blocks = boundaries(shapes.prod(axis=1))
    cells = np.flatnonzero(plan > 0)
    pair = np.searchsorted(blocks, cells, side="right") - 1
    row, column = np.divmod(cells - blocks[pair], shapes[pair, 1])
    first, second = starts[rows[pair].T]
    counts = np.bincount(pair, minlength=len(shapes))
    return first + row, second + column, plan[cells], boundaries(counts)
