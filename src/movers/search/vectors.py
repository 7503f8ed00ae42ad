"""Sentence vectors on disk, and cosines with them that are wrong by no more than they say.

A vector in single precision lies in two files' worth of halves: the upper 16 bits of every number,
rounded, and what is missing to the number itself. A search reads the upper halves alone, which
is half of the bytes, and takes off its bound how far they are from the vector; the few vectors
that matter are put together again, to the last bit. Vectors of one byte per number have no other
half.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from movers.arrays import Array, Bools, Floats, Ints, Rows, Singles
from movers.measures.sentences import WeightedSentences
from movers.search.corpus import Corpus, Shard, keys_of, stored, wordless
from movers.search.vector_kernels import halves_products, integer_products
from movers.search.walk import Nearest

Precision = Literal["float32", "int8"]

UNIT = 2.0**-24
"""Relative rounding of single precision."""
SPARE = 64
"""Roundings beside those of a sum: of the query, scales, errors and the bound itself."""
SHORTEST = 1e-18
"""Vectors below this length would lose digits; nothing is claimed about them."""


@dataclass(frozen=True)
class VectorShard(Shard):
    """Sentences with their vectors, and with their words if these are kept.

    ``coarse`` is what a search reads of the vectors, upper halves or integers, and ``fine`` lower
    halves, without columns where there are none. ``scales`` turn a product with a unit vector into
    a cosine, and ``errors`` tell how far the coarse vector is from the true one, as a share of its
    length; infinite where nothing is known.
    """

    coarse: Array
    fine: Array
    scales: Singles
    errors: Singles

    @property
    def whole(self) -> bool:
        """Whether the vectors can be put together to the last bit."""
        return self.coarse.dtype == np.int16

    def pooled(self, rows: Rows) -> Singles:
        """Return vectors of some sentences: as the encoder made them, or as the integers tell."""
        if self.whole:
            return put_together(self.coarse[rows], self.fine[rows])
        return np.asarray(self.coarse[rows], np.float32)

    def units(self) -> tuple[Singles, Singles]:
        """Return all vectors at length 1, and how far each may be off beside rounding."""
        vectors = self.pooled(slice(None))
        sound = np.isfinite(self.errors)
        with np.errstate(invalid="ignore", over="ignore"):
            units = np.where(sound[:, None], vectors * self.scales[:, None], np.float32(0))
        off = np.where(sound, 0.0, np.inf).astype(np.float32) if self.whole else self.errors
        return units, off

    def bounds(self, queries: Singles) -> Singles:
        """Return lower bounds of distances from unit vectors, ``(queries, sentences)``."""
        if len(queries) > 1:
            units, errors = self.units()
            cosines = queries @ units.T
        else:
            products, errors = halves_products if self.whole else integer_products, self.errors
            cosines = np.empty((1, len(self)), np.float32)
            products(self.coarse, np.ascontiguousarray(queries[0]), cosines[0])
            cosines *= self.scales
        bounds = np.float32(1.0 - rounding(self.coarse.shape[1])) - cosines - errors
        return np.where(np.isfinite(errors), bounds, np.float32(-np.inf))


def rounding(dimension: int) -> float:
    """Return how far single precision may move a cosine, whatever the order of the sum."""
    return (dimension + SPARE) * UNIT


def unit_vectors(vectors: Singles) -> tuple[Singles, Bools]:
    """Return vectors at length 1, and which of them have a direction at all."""
    wide = vectors.astype(np.float64)
    lengths = np.linalg.norm(wide, axis=1)
    sound = np.isfinite(lengths) & (lengths > SHORTEST)
    units = np.where(sound[:, None], wide, 0.0) / np.where(sound, lengths, 1.0)[:, None]
    return units.astype(np.float32), sound


def make_vectors(
    sentences: Sequence[str],
    pooled: Singles,
    precision: Precision,
    words: WeightedSentences | None = None,
) -> VectorShard:
    """Return a shard of sentences with their vectors, and their words if any are given."""
    if precision == "float32":
        (coarse, fine), steps = taken_apart(pooled), np.ones(len(pooled), np.float32)
    else:
        coarse, steps = to_integers(pooled.astype(np.float64))
        fine = np.zeros((len(pooled), 0), np.int16)
    wide, rounded = pooled.astype(np.float64), _widened(coarse).astype(np.float64) * steps[:, None]
    lengths = np.linalg.norm(wide, axis=1)
    sound = np.isfinite(lengths) & (lengths > SHORTEST) & np.isfinite(rounded).all(axis=1)
    safe = np.where(sound, lengths, 1.0)
    with np.errstate(invalid="ignore"):
        apart = np.linalg.norm(wide - rounded, axis=1) / safe
    errors = np.where(sound, apart * (1.0 + 2.0**-20), np.inf).astype(np.float32)
    errors = np.nextafter(errors, np.float32(np.inf))  # a little on the safe side
    scales = (steps / safe).astype(np.float32)
    kept = wordless(sentences) if words is None else stored(words, sentences)
    return VectorShard(kept, keys_of(sentences), coarse, fine, scales, errors)


def to_integers(values: Floats) -> tuple[Array, Singles]:
    """Round along the last axis to small integers; what is not finite makes its step NaN.

    Examples
    --------
    >>> integers, steps = to_integers(np.array([[0.5, -1.0, 0.25]]))
    >>> integers.tolist(), steps.round(4)
    ([[64, -127, 32]], array([0.0079], dtype=float32))
    """
    most = np.abs(values).max(axis=-1, initial=0.0)
    steps = (most / np.iinfo(np.int8).max).astype(np.float32)
    unit = np.where(np.isfinite(steps) & (steps > 0), steps, 1.0)
    return np.rint(np.nan_to_num(values) / unit[..., None]).astype(np.int8), steps


def taken_apart(numbers: Singles) -> tuple[NDArray[np.int16], NDArray[np.int16]]:
    """Return upper halves, rounded, and what to add to their bits for the numbers."""
    bits = np.ascontiguousarray(numbers).view(np.uint32)
    upper = ((bits + np.uint32(0x8000)) >> np.uint32(16)).astype(np.uint16)
    lower = bits - (upper.astype(np.uint32) << np.uint32(16))
    return upper.view(np.int16), lower.astype(np.uint16).view(np.int16)


def put_together(upper: NDArray[np.int16], lower: NDArray[np.int16]) -> Singles:
    """Return the numbers that `taken_apart` took apart.

    Examples
    --------
    >>> numbers = np.array([1.2345678, -3e-20], np.float32)
    >>> put_together(*taken_apart(numbers)).tolist() == numbers.tolist()
    True
    """
    bits = _widened(upper).view(np.uint32) + lower.astype(np.int32).view(np.uint32)
    return bits.view(np.float32)


def _widened(coarse: Array) -> Singles:
    """Return upper halves as numbers, or integers as they are."""
    if coarse.dtype != np.int16:
        return coarse.astype(np.float32)
    return (coarse.astype(np.int32) << np.int32(16)).view(np.float32)


def scan(corpus: Corpus[VectorShard], pooled: Singles, wanted: int) -> list[Nearest]:
    """Return the sentences with the lowest bounds for every query, one product per shard for all.

    Of every shard no more are held than are wanted, and one that tells what the others are above.

    Parameters
    ----------
    corpus
        The sentences; deleted ones are left out.
    pooled
        Vectors of the queries, ``(queries, dimension)``.
    wanted
        How many to return for each.
    """
    units, sound = unit_vectors(pooled)
    every: list[tuple[Ints, Singles]] = []
    for number, shard in enumerate(corpus.shards):
        bounds = shard.bounds(units)
        bounds[~sound] = -np.inf
        bounds[:, corpus.hidden_in(number)] = np.inf
        places = np.argpartition(bounds, min(wanted, len(shard) - 1), axis=1)[:, : wanted + 1]
        every.append((corpus.starts[number] + places, np.take_along_axis(bounds, places, axis=1)))
    rows, lowest = (np.concatenate(sides, axis=1) for sides in zip(*every, strict=True))
    order = np.lexsort((rows, lowest))
    nearest = []
    for query, first in enumerate(order[:, : wanted + 1]):
        values = lowest[query, first].astype(np.float64)
        there = np.searchsorted(values[:wanted], np.inf)  # deleted ones lie behind
        rest = float(values[wanted]) if len(values) > wanted else np.inf
        nearest.append(Nearest(rows[query, first[:there]], values[:there], rest))
    return nearest
