"""Sentence vectors on disk, and cosines with them that are wrong by no more than they say.

A vector in single precision lies in two files' worth of halves: the upper 16 bits of every number,
rounded, and what is missing to the number itself. A search reads the upper halves alone, which
is half of the bytes, and takes off its bound how far they are from the vector; the few vectors
that matter are put together again, to the last bit. Vectors of one byte per number have no other
half.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from movers.arrays import Array, Bools, Floats, Rows, Singles
from movers.search.vector_kernels import halves_products, integer_products

Precision = Literal["float32", "int8"]

UNIT = 2.0**-24
"""Relative rounding of single precision."""
SPARE = 64
"""Roundings beside those of a sum: of the query, scales, errors and the bound itself."""
SHORTEST = 1e-18
"""Vectors below this length would lose digits; nothing is claimed about them."""


@dataclass(frozen=True)
class StoredVectors:
    """Sentence vectors as a shard keeps them.

    ``coarse`` is what a search reads of the vectors, upper halves or integers, and ``fine`` lower
    halves, without columns where there are none. ``scales`` turn a product with a unit vector into
    a cosine, and ``errors`` tell how far the coarse vector is from the true one, as a share of its
    length; infinite where nothing is known.
    """

    coarse: Array
    fine: Array
    scales: Singles
    errors: Singles

    @classmethod
    def of(cls, pooled: Singles, precision: Precision = "float32") -> StoredVectors:
        """Take vectors as the encoder made them."""
        wide = pooled.astype(np.float64)
        if precision == "float32":
            (coarse, fine), steps = taken_apart(pooled), np.ones(len(pooled), np.float32)
        else:
            (coarse, steps), fine = to_integers(wide), np.zeros((len(pooled), 0), np.int16)
        rounded = _widened(coarse).astype(np.float64) * steps[:, None]
        lengths, sound = _measured(wide)
        sound &= np.isfinite(rounded).all(axis=1)
        with np.errstate(invalid="ignore"):
            apart = np.linalg.norm(wide - rounded, axis=1) / lengths
        errors = np.where(sound, apart * (1.0 + 2.0**-20), np.inf).astype(np.float32)
        errors = np.nextafter(errors, np.float32(np.inf))  # a little on the safe side
        return cls(coarse, fine, (steps / lengths).astype(np.float32), errors)

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
            cosines = np.empty((1, len(errors)), np.float32)
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
    lengths, sound = _measured(wide)
    return (np.where(sound[:, None], wide, 0.0) / lengths[:, None]).astype(np.float32), sound


def _measured(wide: Floats) -> tuple[Floats, Bools]:
    """Return lengths of vectors, and which are sound; the length of others is given as 1."""
    lengths = np.linalg.norm(wide, axis=1)
    sound = np.isfinite(lengths) & (lengths > SHORTEST)
    return np.where(sound, lengths, 1.0), sound


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
    bits = (upper.astype(np.int32) << np.int32(16)) + lower.astype(np.int32)
    return bits.view(np.float32)


def _widened(coarse: Array) -> Singles:
    """Return upper halves as numbers, or integers as they are."""
    if coarse.dtype != np.int16:
        return coarse.astype(np.float32)
    return (coarse.astype(np.int32) << np.int32(16)).view(np.float32)
