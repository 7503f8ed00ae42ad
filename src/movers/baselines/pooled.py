"""One vector for every sentence, compared by cosine: means of words, or the start token."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from movers.arrays import Floats, Ints
from movers.baselines import Blocks, Scores, cosine_distances, kernels, renumbered
from movers.encode.products import product
from movers.errors import Do
from movers.measure.measured import Context, Measured
from movers.runtime.notices import UnfittedWarning, notify

APERTURE = 2.0
BEFORE_WORDS = "<s>"
"""The published code drops RoBERTa's start token with all that lacks a word-start marker."""


class Pooled:
    """Weighted means of the word vectors; other sentence vectors are subclasses."""

    def vectors(self, measured: Measured, picked: Ints, context: Context) -> Floats:
        """Vectors of some sentences, shape ``(picked, dimension)``."""
        return pooled(measured, measured.weights.data, picked)

    def distances(
        self, measured: Measured, rows: Ints, context: Context, *, plans: bool = False
    ) -> Scores:
        """Compare the vectors of the sentences."""
        picked, pairs = renumbered(rows)
        return Scores(cosine_distances(self.vectors(measured, picked, context), pairs))


def pooled(measured: Measured, weights: Floats, picked: Ints) -> Floats:
    """Weighted sum of the word vectors of some sentences, shape ``(picked, dimension)``."""
    vectors = measured.vectors
    assert vectors is not None
    out = np.zeros((len(picked), vectors.data.shape[1]))
    kernels.pool(vectors.data, weights, vectors.starts, picked, out)
    return out


class Start(Pooled):
    """The last layer at the special token at the start.

    The reference recipe compares RoBERTa's first piece of text instead, as the published code
    does.
    """

    def vectors(self, measured: Measured, picked: Ints, context: Context) -> Floats:
        """Vectors of some sentences, shape ``(picked, dimension)``."""
        assert measured.vectors is not None
        places = measured.vectors.starts[picked]
        if context.recipe == "reference":
            words = measured.encodings.spellings
            places = places + np.array([words[row][0] == BEFORE_WORDS for row in picked], np.int64)
        return np.asarray(measured.vectors.data[places], np.float64)


class Conceptor(Pooled):
    """Weighted means, damped where all vectors lie: under ``I - C``.

    ``C = R (R + aperture**-2 I)**-1``, where R is the mean outer product of all token vectors,
    which the fitted whitening implies. The reference recipe computes C and never applies it, as
    the published code does.
    """

    def vectors(self, measured: Measured, picked: Ints, context: Context) -> Floats:
        """Vectors of some sentences, shape ``(picked, dimension)``."""
        means = super().vectors(measured, picked, context)
        if context.recipe == "reference":
            return means
        return product(means, self.negation(measured, context), context.threads)

    def fitted(self, context: Context, layer: int) -> Floats | None:
        """The moments in use, by way of the whitening that implies them."""
        white = context.statistics.whitening.get(layer)
        return None if white is None or context.recipe == "reference" else white.matrix

    def negation(self, measured: Measured, context: Context) -> Floats:
        """The matrix ``I - C``, by the formula it reduces to: ``(aperture**2 R + I)**-1``."""
        assert measured.embedding is not None and measured.vectors is not None
        white = context.statistics.whitening.get(measured.embedding)
        if white is None:
            notify(
                "conceptor needs the moments of token vectors, and those of embedding layer "
                f"{measured.embedding} are not known: nothing is damped",
                UnfittedWarning,
                Do("fit"),
            )
            return np.eye(measured.vectors.data.shape[1])
        squares = np.einsum("ij,ij->j", white.matrix, white.matrix)
        kept = white.matrix[:, squares > 0] / squares[squares > 0]  # direction * variance ** 0.5
        moments = kept @ kept.T + np.outer(white.mean, white.mean)
        return np.asarray(np.linalg.inv(APERTURE**2 * moments + np.eye(len(moments))))


@dataclass(frozen=True)
class Removal(Pooled):
    """Weighted means, less a part of each shared component as large as its share.

    ``number`` components are removed, kept under the ``name`` of the measure; with ``scaled``,
    each dimension is first scaled to length 1 in the sentence. The reference recipe does not, and
    removes components from every word vector, times the word's share of the weights, as the
    published code does: the sentence loses about one n-th of them.
    """

    name: str
    number: int
    scaled: bool = False

    def fit(self, blocks: Blocks, context: Context, layer: int) -> dict[str, Floats]:
        """Find the directions the sentence vectors share most, shape ``(number, dimension)``.

        These are right singular vectors of the uncentred matrix, each scaled by the square root of
        ``lambda_i = sigma_i**2 / sum(sigma**2)``, the sum running over the ``number`` largest.
        """
        gram: Floats | float = 0.0
        for measured, rows, counts in blocks:
            vectors = self._means(measured, rows, context)
            gram = gram + vectors.T @ (vectors * counts[:, None])
        squares, directions = np.linalg.eigh(gram)
        largest = np.maximum(squares[::-1][: self.number], 0.0)
        shares = largest / max(largest.sum(), np.finfo(float).tiny)
        components = directions[:, ::-1][:, : self.number].T * np.sqrt(shares)[:, None]
        return {self._key(context, layer): np.asarray(components)}

    def fitted(self, context: Context, layer: int | None) -> Floats | None:
        """The components in use."""
        return context.statistics.arrays.get(self._key(context, layer))

    def vectors(self, measured: Measured, picked: Ints, context: Context) -> Floats:
        """Vectors of some sentences less the components; without a fit nothing is removed."""
        weights = measured.weights.data
        if context.recipe == "reference":
            found, spread = (pooled(measured, share, picked) for share in (weights, weights**2))
        else:
            found = spread = self._means(measured, picked, context)
        components = self.fitted(context, measured.embedding)
        if components is None:
            notify(
                f"{self.name} removes what sentences have in common, and that is not known for "
                f"embedding layer {measured.embedding} in the {context.recipe} recipe: nothing is "
                "removed",
                UnfittedWarning,
                Do("fit"),
            )
            components = np.zeros((1, found.shape[1]))
        return found - product(spread, components.T @ components, context.threads)

    def _means(self, measured: Measured, picked: Ints, context: Context) -> Floats:
        """Mean over the words of weight times vector."""
        assert measured.vectors is not None
        scale = measured.totals[picked] / np.maximum(measured.weights.lengths[picked], 1)
        means = pooled(measured, measured.weights.data, picked) * scale[:, None]
        if not self.scaled or context.recipe == "reference":
            return means
        squares = np.zeros_like(means)
        kernels.pool_squares(measured.vectors.data, measured.vectors.starts, picked, squares)
        return np.asarray(means / np.sqrt(np.where(squares > 0, squares, 1.0)))

    def _key(self, context: Context, layer: int | None) -> str:
        """Where the components are kept; they suit one layer and one recipe."""
        return f"{self.name}.{layer}.{context.recipe}"


average, cls, conceptor = Pooled(), Start(), Conceptor()
sif, usif = Removal("sif", 1), Removal("usif", 5, scaled=True)
