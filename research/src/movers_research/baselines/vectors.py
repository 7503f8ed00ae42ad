"""Further vectors of sentences: the start token, unsupervised SIF, conceptor negation."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from movers.arrays import Floats, Ints
from movers.encode.encodings import Encodings
from movers.encode.kernels import product
from movers.errors import Do, InputError
from movers.measures.parts import kernels
from movers.measures.parts.context import Context
from movers.measures.parts.word_tables import SENTENCE_LENGTH, all_spelled, load_frequencies
from movers.measures.pooled import ComponentRemoval, Pooled
from movers.measures.sentences import FREQUENCY_WEIGHTS, WEIGHTS, WeightedSentences
from movers.runtime.notices import UnfittedWarning, notify

APERTURE = 2.0
BEFORE_WORDS = "<s>"
"""The published code drops RoBERTa's start token with all that lacks a word-start marker."""


def usif(encodings: Encodings, norms: Floats | None, context: Context) -> Floats:
    """Unsupervised SIF ``a / (a / 2 + p)`` (Ethayarajh, 2018).

    The constant a is computed from the table of frequencies; an unknown word counts like the
    rarest known one.
    """
    frequencies, a = load_frequencies(context.frequencies), usif_constant(context.frequencies)
    shares = frequencies.of(all_spelled(encodings, context.recipe), frequencies.least)
    return np.asarray(a / (a / 2 + shares))


WEIGHTS["usif"] = usif
FREQUENCY_WEIGHTS.add("usif")


@lru_cache(maxsize=4)
def usif_constant(path: str | Path | None = None) -> float:
    """Return the constant a of uSIF for a table of frequencies, as `load_frequencies` reads it.

    ``a = (1 - alpha) / (alpha * V / 2)``, where V counts the words of the table and alpha
    is the share of them that are more frequent than the chance of a word to turn up in an
    average sentence if all were equally likely, ``1 - (1 - 1 / V) ** 11``.
    """
    frequencies = load_frequencies(path)
    size = len(frequencies.shares)
    threshold = 1 - (1 - 1 / size) ** SENTENCE_LENGTH
    alpha = float(np.mean(np.fromiter(frequencies.shares.values(), float) > threshold))
    if not 0 < alpha < 1:
        raise InputError(
            f"usif needs a table with frequent and rare words; {frequencies.name} has {size} "
            f"words, and a share of {alpha:g} occurs more often than {threshold:.2g}"
        )
    return (1 - alpha) / (alpha * size / 2)


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
class ScaledRemoval(ComponentRemoval):
    """Five components removed from means whose dimensions have length 1 over the sentence.

    The reference recipe does not scale, as the published code does not.
    """

    components: int = 5

    def means(self, sentences: WeightedSentences, rows: Ints) -> Floats:
        """Return the mean over the words of weight times scaled vector."""
        means = super().means(sentences, rows)
        if self.context.recipe == "reference":
            return means
        assert sentences.vectors is not None
        squares = np.zeros_like(means)
        each = np.square(sentences.vectors.data, dtype=np.float64)
        kernels.pool(each, np.ones(len(each)), sentences.vectors.starts, rows, squares)
        return np.asarray(means / np.sqrt(np.where(squares > 0, squares, 1.0)))
