"""One vector for every sentence, compared by cosine: means of words, or the start token."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from movers.arrays import Floats, Ints
from movers.encode.products import product
from movers.errors import Do
from movers.measures import baseline_kernels as kernels
from movers.measures.base import FitCorpus, Measure
from movers.measures.parts.context import Context
from movers.measures.parts.statistics import Statistics
from movers.measures.sentences import WeightedSentences, renumbered
from movers.runtime.notices import UnfittedWarning, notify

APERTURE = 2.0
BEFORE_WORDS = "<s>"
"""The published code drops RoBERTa's start token with all that lacks a word-start marker."""


@dataclass(frozen=True)
class Pooled(Measure):
    """Weighted means of the word vectors; other sentence vectors are subclasses."""

    def vectors(self, sentences: WeightedSentences, picked: Ints) -> Floats:
        """Return vectors of some sentences, shape ``(picked, dimension)``."""
        return pooled(sentences, sentences.weights.data, picked)

    def distances(self, sentences: WeightedSentences, rows: Ints) -> Floats:
        """Return one minus the cosine of the vectors of every pair."""
        picked, pairs = renumbered(rows)
        return cosine_distances(self.vectors(sentences, picked), pairs)


def pooled(sentences: WeightedSentences, weights: Floats, picked: Ints) -> Floats:
    """Return the weighted sum of the word vectors of some sentences, ``(picked, dimension)``."""
    vectors = sentences.vectors
    assert vectors is not None
    out = np.zeros((len(picked), vectors.data.shape[1]))
    kernels.pool(vectors.data, weights, vectors.starts, picked, out)
    return out


def cosine_distances(vectors: Floats, rows: Ints) -> Floats:
    """Return one minus the cosine of two rows, for every pair; a zero vector is at distance 1."""
    sources, targets = vectors[rows[:, 0]], vectors[rows[:, 1]]
    lengths = np.linalg.norm(vectors, axis=1)
    scale = lengths[rows[:, 0]] * lengths[rows[:, 1]]
    dots = np.einsum("pd,pd->p", sources, targets)
    return np.asarray(np.maximum(0.0, 1.0 - dots / np.where(scale > 0, scale, 1.0)))


@dataclass(frozen=True)
class StartToken(Pooled):
    """The last layer at the special token at the start.

    The reference recipe compares RoBERTa's first piece of text instead, as the published code
    does.
    """

    def vectors(self, sentences: WeightedSentences, picked: Ints) -> Floats:
        """Return vectors of some sentences, shape ``(picked, dimension)``."""
        assert sentences.vectors is not None
        places = sentences.vectors.starts[picked]
        if self.context.recipe == "reference":
            words = sentences.encoded.spellings
            places = places + np.array([words[row][0] == BEFORE_WORDS for row in picked], np.int64)
        return np.asarray(sentences.vectors.data[places], np.float64)


@dataclass(frozen=True)
class ConceptorNegation(Pooled):
    """Weighted means, damped where all vectors lie: under ``I - C``.

    ``C = R (R + aperture**-2 I)**-1``, where R is the mean outer product of all token vectors,
    which the fitted whitening implies. The reference recipe computes C and never applies it, as
    the published code does.
    """

    def vectors(self, sentences: WeightedSentences, picked: Ints) -> Floats:
        """Return vectors of some sentences, shape ``(picked, dimension)``."""
        means = super().vectors(sentences, picked)
        if self.context.recipe == "reference":
            return means
        negated = negation(self.context, self.embedding, means.shape[1])
        return product(means, negated, self.context.threads)

    @property
    def fitted(self) -> Floats | None:
        """The moments in use, by way of the whitening that implies them."""
        return moments_in_use(self.context, self.embedding)


def moments_in_use(context: Context, layer: int) -> Floats | None:
    """Return the matrix that implies the moments of token vectors, where they are used."""
    white = context.statistics.whitening.get(layer)
    return None if white is None or context.recipe == "reference" else white.matrix


def negation(context: Context, layer: int, dimension: int) -> Floats:
    """Return the matrix ``I - C``, by the formula it reduces to: ``(aperture**2 R + I)**-1``."""
    white = context.statistics.whitening.get(layer)
    if white is None:
        notify(
            "conceptor needs the moments of token vectors, and those of embedding layer "
            f"{layer} are not known: nothing is damped",
            UnfittedWarning,
            Do("fit"),
        )
        return np.eye(dimension)
    squares = np.einsum("ij,ij->j", white.matrix, white.matrix)
    kept = white.matrix[:, squares > 0] / squares[squares > 0]  # direction * variance ** 0.5
    moments = kept @ kept.T + np.outer(white.mean, white.mean)
    return np.asarray(np.linalg.inv(APERTURE**2 * moments + np.eye(len(moments))))


@dataclass(frozen=True)
class ComponentRemoval(Pooled):
    """Weighted means, less a part of each shared component as large as its share.

    So many ``components`` are removed; with ``scaled``, each dimension is first scaled to length 1
    in the sentence. The reference recipe does not, and removes components from every word vector,
    times the word's share of the weights, as the published code does: the sentence loses about
    one n-th of them.
    """

    components: int = 1
    scaled: bool = False

    def fit(self, corpus: FitCorpus) -> Statistics:
        """Find the directions the sentence vectors share most, shape ``(components, dimension)``.

        These are right singular vectors of the uncentred matrix, each scaled by the square root of
        ``lambda_i = sigma_i**2 / sum(sigma**2)``, the sum running over the largest.
        """
        gram: Floats | float = 0.0
        for sentences, rows, counts in corpus.blocks():
            vectors = self._means(sentences, rows)
            gram = gram + vectors.T @ (vectors * counts[:, None])
        squares, directions = np.linalg.eigh(gram)
        largest = np.maximum(squares[::-1][: self.components], 0.0)
        shares = largest / max(largest.sum(), np.finfo(float).tiny)
        removed = directions[:, ::-1][:, : self.components].T * np.sqrt(shares)[:, None]
        statistics = self.context.statistics
        arrays = {**statistics.arrays, self._key: np.asarray(removed)}
        return replace(statistics, arrays=arrays)

    @property
    def fitted(self) -> Floats | None:
        """The components in use."""
        return self.context.statistics.arrays.get(self._key)

    def vectors(self, sentences: WeightedSentences, picked: Ints) -> Floats:
        """Return vectors of some sentences less the components; nothing less without a fit."""
        weights, recipe = sentences.weights.data, self.context.recipe
        if recipe == "reference":
            means, spread = (pooled(sentences, share, picked) for share in (weights, weights**2))
        else:
            means = spread = self._means(sentences, picked)
        removed = self.fitted
        if removed is None:
            notify(
                f"{self.name} removes what sentences have in common, and that is not known for "
                f"embedding layer {self.embedding} in the {recipe} recipe: nothing is removed",
                UnfittedWarning,
                Do("fit"),
            )
            removed = np.zeros((1, means.shape[1]))
        return means - product(spread, removed.T @ removed, self.context.threads)

    def _means(self, sentences: WeightedSentences, picked: Ints) -> Floats:
        """Return the mean over the words of weight times vector."""
        assert sentences.vectors is not None and sentences.totals is not None
        scale = sentences.totals[picked] / np.maximum(sentences.weights.lengths[picked], 1)
        means = pooled(sentences, sentences.weights.data, picked) * scale[:, None]
        if not self.scaled or self.context.recipe == "reference":
            return means
        squares = np.zeros_like(means)
        kernels.pool_squares(sentences.vectors.data, sentences.vectors.starts, picked, squares)
        return np.asarray(means / np.sqrt(np.where(squares > 0, squares, 1.0)))

    @property
    def _key(self) -> str:
        """Where the components are kept; they suit one layer and one recipe."""
        return f"{self.name}.{self.embedding}.{self.context.recipe}"
