"""Whitening of token vectors: fitted once on sentences, frozen, applied to every word vector."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from movers.errors import InputError

Floats = NDArray[np.float64]
WhiteningKind = Literal["clean", "as-coded"]

NOISE = 1e-10
"""Directions with less variance than this share of the largest are rounding noise."""

ROWS = 4096


class Moments:
    """Running mean and covariance of token vectors, in double precision.

    The first rows seen fix an origin close to the mean; sums are taken around it, so that the
    covariance is not the small difference of two large numbers.

    Parameters
    ----------
    dimension
        Length of a vector.
    ordered
        Keep all rows, so that their mean can also be taken in single precision and in the order
        of the sentences, as the published code does: its rounding error is visible in scores.
    """

    def __init__(self, dimension: int, *, ordered: bool = False) -> None:
        self.count = 0.0
        self.origin: Floats | None = None
        self.first: Floats = np.zeros(dimension)
        self.second: Floats = np.zeros((dimension, dimension))
        self.ordered = ordered
        self.rows: list[tuple[NDArray[np.int64], NDArray[np.float32]]] = []

    def add(
        self,
        vectors: NDArray[Any],
        weights: NDArray[Any],
        sentences: NDArray[np.int64] | None = None,
    ) -> None:
        """Add rows of vectors, each as often as its weight says, from numbered sentences."""
        rows = np.asarray(vectors, np.float64)
        if self.origin is None:
            self.origin = rows.mean(axis=0)
        centred = rows - self.origin
        weighted = centred * weights[:, None]
        self.count += float(weights.sum())
        self.first += weighted.sum(axis=0)
        self.second += weighted.T @ centred
        if self.ordered:
            assert sentences is not None
            repeated = np.repeat(np.arange(len(vectors)), weights)
            self.rows.append((sentences[repeated], np.asarray(vectors, np.float32)[repeated]))

    def merge(self, other: Moments) -> None:
        """Add the rows that another has seen, without seeing them again."""
        if self.ordered or other.ordered:
            raise InputError("moments that keep the order of their rows cannot be merged")
        if other.origin is None:
            return
        if self.origin is None:
            self.origin = other.origin
        shift = other.origin - self.origin
        cross = np.outer(other.first, shift)
        self.first += other.first + other.count * shift
        self.second += other.second + cross + cross.T + other.count * np.outer(shift, shift)
        self.count += other.count

    @property
    def mean(self) -> Floats:
        """Mean vector."""
        assert self.origin is not None
        return np.asarray(self.origin + self.first / self.count)

    @property
    def single(self) -> NDArray[np.float32]:
        """Mean vector in single precision, added up row by row if these are kept in order."""
        if not self.rows:
            return self.mean.astype(np.float32)
        sentences, vectors = (np.concatenate(part) for part in zip(*self.rows, strict=True))
        return np.asarray(vectors[np.argsort(sentences, kind="stable")].mean(axis=0))

    @property
    def covariance(self) -> Floats:
        """Unbiased covariance matrix."""
        first = self.first / self.count
        scatter = self.second - self.count * np.outer(first, first)
        return np.asarray(scatter / (self.count - 1))


@dataclass(frozen=True)
class Whitening:
    """An affine map that gives token vectors zero mean and unit covariance.

    ``matrix`` is square; a dropped direction is a zero column, so shapes never change.
    """

    mean: Floats
    matrix: Floats
    kind: WhiteningKind
    tokens: int

    @cached_property
    def digest(self) -> str:
        """Eight hex digits that pin the map."""
        return sha256(self.mean.tobytes() + self.matrix.tobytes()).hexdigest()[:8]

    @classmethod
    def fit(cls, moments: Moments, kind: WhiteningKind = "clean") -> Whitening:
        """Fit on accumulated moments.

        ``"clean"`` drops directions that hold only rounding noise (a layer-normalised model has
        one by construction). ``"as-coded"`` keeps them and centres with a single-precision mean,
        as the published code does; at the input layer that noise is visible in the scores.
        """
        dimension = len(moments.first)
        if moments.count < 2 * dimension:
            raise InputError(
                f"whitening needs at least {2 * dimension} tokens for {dimension}-dimensional "
                f"vectors, got {moments.count:.0f}; fit on more sentences or pass whitening='none'"
            )
        directions, variances, _ = np.linalg.svd(moments.covariance, hermitian=True)
        scales = np.zeros(dimension)
        kept = variances > (0 if kind == "as-coded" else NOISE * variances[0])
        scales[kept] = variances[kept] ** -0.5
        mean = moments.single.astype(np.float64) if kind == "as-coded" else moments.mean
        return cls(mean, directions * scales, kind, int(moments.count))

    def apply(self, vectors: NDArray[np.float32]) -> None:
        """Whiten rows in place, in double precision."""
        for start in range(0, len(vectors), ROWS):
            block = vectors[start : start + ROWS]
            # einsum without BLAS would be slow and BLAS picks other kernels for few rows; a
            # floor on the rows keeps a row's result independent of its company.
            padded = np.zeros((max(len(block), 32), block.shape[1]))
            padded[: len(block)] = block - self.mean
            block[:] = (padded @ self.matrix)[: len(block)]
