"""Whitening of token vectors: fitted once on sentences, frozen, applied to every word vector."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import Literal

import numpy as np

from movers.arrays import Array, Floats, Ints, Ragged, Singles, boundaries
from movers.encode.kernels import product
from movers.errors import Choose, Do, InputError

WhiteningKind = Literal["clean", "as-coded"]

NOISE = 1e-10
"""Directions with less variance than this share of the largest are rounding noise."""

ROWS = 4096
TOGETHER = 512


class Moments:
    """Running mean and covariance of token vectors, in double precision.

    The first rows seen fix an origin close to the mean; sums are taken around it, so that the
    covariance is not the small difference of two large numbers.
    """

    def __init__(self, dimension: int) -> None:
        self.count = 0.0
        self.origin: Floats | None = None
        self.first: Floats = np.zeros(dimension)
        self.second: Floats = np.zeros((dimension, dimension))

    def add(self, vectors: Array, weights: Array, sentences: Ints | None = None) -> None:
        """Add rows of vectors, each as often as its weight says, from numbered sentences."""
        rows = np.asarray(vectors, np.float64)
        if self.origin is None:
            self.origin = rows.mean(axis=0)
        centred = rows - self.origin
        weighted = centred * weights[:, None]
        self.count += float(weights.sum())
        self.first += weighted.sum(axis=0)
        self.second += weighted.T @ centred

    def complete(self, sentences: int) -> None:
        """Hear that the rows of so many sentences, numbered from 0, are complete."""

    @property
    def mean(self) -> Floats:
        """Mean vector."""
        assert self.origin is not None
        return np.asarray(self.origin + self.first / self.count)

    @property
    def covariance(self) -> Floats:
        """Unbiased covariance matrix."""
        first = self.first / self.count
        scatter = self.second - self.count * np.outer(first, first)
        return np.asarray(scatter / (self.count - 1))


class OrderedMoments(Moments):
    """Moments that also keep all rows in single precision, by sentence.

    The published code adds rows up in single precision and in the order of the file, and takes
    the covariance of differences rounded to single precision. Both roundings are visible in
    scores, and the second needs every row again once the mean is known.
    """

    def __init__(self, dimension: int) -> None:
        super().__init__(dimension)
        self.order: Sequence[int] | None = None
        """The sentences in the order they came in; None has each repeat follow the first."""
        self.kept: list[tuple[Ragged, Ints]] = []
        """Rows by sentence, and how often each sentence counts, for every call of `complete`."""
        self._waiting: list[tuple[Ints, Array, Array]] = []

    def add(self, vectors: Array, weights: Array, sentences: Ints | None = None) -> None:
        """Add rows of vectors, each as often as its weight says, from numbered sentences."""
        super().add(vectors, weights)
        assert sentences is not None
        self._waiting.append((sentences, np.asarray(vectors, np.float32), weights))

    def complete(self, sentences: int) -> None:
        """Put the rows that came since the last call in order; batches go by length."""
        if not self._waiting:
            return
        numbers, rows, weights = map(np.concatenate, zip(*self._waiting, strict=True))
        place = np.argsort(numbers, kind="stable")
        times = np.ones(sentences, np.int64)
        times[numbers] = weights
        starts = boundaries(np.bincount(numbers, minlength=sentences))
        self.kept.append((Ragged(rows[place], starts), times))
        self._waiting = []

    def rounded(self) -> tuple[Singles, Floats]:
        """Return mean in single precision, and covariance of the differences from it, rounded too.

        Rows go by in the order of the sentences, so it does not matter in which batches, or in
        how many parts of a corpus, they came.
        """
        total = np.zeros((0, len(self.first)), np.float32)
        for rows in self._blocks():
            total = np.concatenate([total, rows]).sum(axis=0, keepdims=True)
        mean = np.asarray(total[0] / np.float32(self.count))
        apart = Moments(len(self.first))
        for rows in self._blocks():
            apart.add(rows - mean, np.ones(len(rows)))
        return mean, apart.covariance

    def _blocks(self) -> Iterator[Singles]:
        """Yield all rows in order, some sentences at a time."""
        sentences = [row for rows, _ in self.kept for row in rows]
        times = np.concatenate([times for _, times in self.kept])
        order = np.repeat(np.arange(len(times)), times) if self.order is None else self.order
        for low in range(0, len(order), TOGETHER):
            yield np.concatenate([sentences[number] for number in order[low : low + TOGETHER]])


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
        one by construction). ``"as-coded"`` keeps them and centres in single precision, as the
        published code does; that noise is visible in scores, at the input layer above all.
        """
        dimension = len(moments.first)
        if moments.count < 2 * dimension:
            raise InputError(
                f"whitening needs at least {2 * dimension} tokens for {dimension}-dimensional "
                f"vectors, got {moments.count:.0f}",
                Do("fit on more sentences"),
                Choose("whitening", "none"),
            )
        mean, covariance = moments.mean, moments.covariance
        if kind == "as-coded":
            if not isinstance(moments, OrderedMoments):
                raise InputError("as-coded whitening needs moments that keep rows in their order")
            single, covariance = moments.rounded()
            mean = single.astype(np.float64)
        directions, variances, _ = np.linalg.svd(covariance, hermitian=True)
        scales = np.zeros(dimension)
        kept = variances > (0 if kind == "as-coded" else NOISE * variances[0])
        scales[kept] = variances[kept] ** -0.5
        return cls(mean, directions * scales, kind, int(moments.count))

    def apply(self, vectors: Singles, threads: int | None = None) -> None:
        """Whiten rows in place, in double precision; as-coded differences are rounded to single.

        No bit of a row depends on its company, nor on the processor.
        """
        precision = np.float32 if self.kind == "as-coded" else np.float64
        for start in range(0, len(vectors), ROWS):
            block = vectors[start : start + ROWS]
            centred = np.asarray(block, precision) - self.mean.astype(precision)
            block[:] = product(centred, self.matrix, threads)
