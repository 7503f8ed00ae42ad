"""Encoded sentences made ready for a measure: their words weighed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from movers.encode.encodings import Encodings
from movers.encode.ragged import Ragged
from movers.encode.tokens import Recipe
from movers.measure.costs import norms_of
from movers.measure.statistics import Statistics
from movers.measure.weights import word_weights


@dataclass(frozen=True)
class Context:
    """What a measure may look at besides the sentences themselves.

    Parameters
    ----------
    statistics
        Everything fitted.
    recipe
        Whether to follow the paper or the published code where they differ.
    frequencies
        File of word counts; None is the wordfreq package.
    """

    statistics: Statistics
    recipe: Recipe = "paper"
    frequencies: Path | None = None


@dataclass(frozen=True)
class Measured:
    """Encoded sentences with the weights of their words.

    Parameters
    ----------
    encodings
        The sentences; their vectors are whitened already.
    vectors, norms
        Word vectors of the embedding layer in use and their lengths; None if the method needs
        none.
    weights
        Weights of the words, summing to one in each sentence.
    """

    encodings: Encodings
    vectors: Ragged | None
    norms: Ragged | None
    weights: Ragged


def measure(
    encodings: Encodings, context: Context, *, weights: str = "uniform", embedding: int | None
) -> Measured:
    """Weigh the words of encoded sentences.

    Parameters
    ----------
    weights
        Row of `movers.measure.weights.WEIGHTS`.
    embedding
        Embedding layer of the vectors; None if no vectors are needed.
    """
    vectors = None if embedding is None else encodings.vectors[embedding]
    norms = None if vectors is None else Ragged(norms_of(vectors), vectors.starts)
    lengths = None if norms is None else norms.data
    return Measured(encodings, vectors, norms, word_weights(weights, encodings, lengths, context))
