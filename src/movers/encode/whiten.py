"""Whitening of token vectors: fitted once on sentences, frozen, applied to every word vector."""

from __future__ import annotations

from collections.abc import Mapping
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
        Also add up all rows in single precision and in the order of the sentences, as the
        published code does: the rounding error of its mean is visible in scores.
    """

    def __init__(self, dimension: int, *, ordered: bool = False) -> None:
        self.count = 0.0
        self.origin: Floats | None = None
        self.first: Floats = np.zeros(dimension)
        self.second: Floats = np.zeros((dimension, dimension))
        self.ordered = ordered
        self.total: NDArray[np.float32] = np.zeros((0, dimension), np.float32)
        self.waiting: list[tuple[NDArray[np.int64], NDArray[np.float32]]] = []

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
            self.waiting.append((sentences[repeated], np.asarray(vectors, np.float32)[repeated]))

    def settle(self) -> None:
        """Add up, sentence by sentence, the rows that came since the last call.

        A batch holds sentences of one length; only when the last of some sentences is there can
        their rows be put in order.
        """
        if self.waiting:
            sentences, vectors = (np.concatenate(part) for part in zip(*self.waiting, strict=True))
            rows = vectors[np.argsort(sentences, kind="stable")]
            self.total = np.concatenate([self.total, rows]).sum(axis=0, keepdims=True)
            self.waiting = []

    def state(self) -> dict[str, NDArray[Any]]:
        """All sums as arrays; `from_state` goes on from there."""
        assert self.origin is not None and not self.waiting
        return {
            "count": np.array([self.count]),
            "origin": self.origin,
            "first": self.first,
            "second": self.second,
            "total": self.total,
        }

    @classmethod
    def from_state(cls, state: Mapping[str, NDArray[Any]]) -> Moments:
        """Take up the sums that `state` returned."""
        moments = cls(len(state["first"]), ordered=len(state["total"]) > 0)
        moments.count = float(state["count"][0])
        moments.origin, moments.first = np.array(state["origin"]), np.array(state["first"])
        moments.second, moments.total = np.array(state["second"]), np.array(state["total"])
        return moments

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
        """Mean vector in single precision, from rows added up in order if that was asked for."""
        if not len(self.total):
            return self.mean.astype(np.float32)
        return np.asarray(self.total[0] / np.float32(self.count))

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
