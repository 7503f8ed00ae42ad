"""One vector for every sentence, compared by cosine: a mean of its words, or their counts."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace

import numpy as np

from movers.arrays import Floats, Ints
from movers.encode.kernels import product
from movers.errors import Do
from movers.measures.base import Measure
from movers.measures.parts import kernels
from movers.measures.parts.statistics import Statistics
from movers.measures.parts.word_tables import spelled
from movers.measures.sentences import FitCorpus, WeightedSentences, renumbered
from movers.runtime.notices import UnfittedWarning, notify

WORD = re.compile(r"\b\w+\b")
DIGITS = 9
"""Decimals kept: equal bags must tie, whatever the order of summation."""


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
class ComponentRemoval(Pooled):
    """Weighted means, less a part of each shared component as large as its share.

    So many ``components`` are removed. The reference recipe removes them from every word vector,
    times the word's share of the weights, as the published code does: the sentence loses about
    one n-th of them.
    """

    components: int = 1

    def fit(self, corpus: FitCorpus) -> Statistics:
        """Find the directions the sentence vectors share most, shape ``(components, dimension)``.

        These are right singular vectors of the uncentred matrix, each scaled by the square root of
        ``lambda_i = sigma_i**2 / sum(sigma**2)``, the sum running over the largest.
        """
        gram: Floats | float = 0.0
        for sentences, rows, counts in corpus.blocks():
            vectors = self.means(sentences, rows)
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
            means = spread = self.means(sentences, picked)
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

    def means(self, sentences: WeightedSentences, rows: Ints) -> Floats:
        """Return the mean over the words of weight times vector."""
        assert sentences.totals is not None
        scale = sentences.totals[rows] / np.maximum(sentences.weights.lengths[rows], 1)
        return pooled(sentences, sentences.weights.data, rows) * scale[:, None]

    @property
    def _key(self) -> str:
        """Where the components are kept; they suit one layer and one recipe."""
        return f"{self.name}.{self.embedding}.{self.context.recipe}"


@dataclass(frozen=True)
class WordCounts(Measure):
    """One minus the cosine of how often each word occurs."""

    reads_vectors = False

    def distances(self, sentences: WeightedSentences, rows: Ints) -> Floats:
        """Return one minus the cosine of the word counts of every pair."""
        picked, pairs = renumbered(rows)
        spellings = (spelled(sentences.encoded, int(row), self.context.recipe) for row in picked)
        bags = [Counter(WORD.findall(" ".join(words).lower())) for words in spellings]
        squares = np.array([sum(count**2 for count in bag.values()) for bag in bags], np.int64)
        dots = [
            sum(count * bags[target].get(word, 0) for word, count in bags[source].items())
            for source, target in pairs.tolist()
        ]
        scale = np.sqrt(squares[pairs].prod(axis=1))
        cosines = np.array(dots) / np.where(scale > 0, scale, 1.0)
        return np.maximum(0.0, 1.0 - cosines.round(DIGITS))
