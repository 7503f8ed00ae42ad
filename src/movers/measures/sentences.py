"""Sentences as measures take them: words with weights, vectors and structure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from movers.arrays import Floats, Ints, Ragged, Rows, Singles, gathered
from movers.encode.encodings import Encodings


@dataclass(frozen=True, kw_only=True)
class WeightedSentences:
    """Sentences with weighted words, encoded just now or read from an index.

    Parameters
    ----------
    sentences
        The texts.
    weights
        Weights of the words, summing to one in each sentence.
    vectors, norms
        Word vectors of the embedding layer in use and their lengths, whitened already; None if
        the measure needs none.
    structure, sums, squares, sizes, pooled
        As in `Encodings`.
    encodings
        What the encoder returned; None for sentences of an index.
    totals
        What the weights of each sentence summed to before they were normalised; None likewise.
    """

    sentences: Sequence[str]
    weights: Ragged
    vectors: Ragged | None
    norms: Ragged | None
    structure: Ragged
    sums: Floats
    squares: Floats
    sizes: Ints
    pooled: Singles
    encodings: Encodings | None = None
    totals: Floats | None = None

    def __len__(self) -> int:
        return len(self.sentences)

    @property
    def encoded(self) -> Encodings:
        """What the encoder returned; refuses sentences of an index."""
        assert self.encodings is not None, "these sentences were not encoded just now"
        return self.encodings

    def numbers(self, texts: Iterable[str]) -> Ints:
        """Return the rows of texts."""
        return self.encoded.numbers(texts)

    def take(self, rows: Rows) -> WeightedSentences:
        """Copy some of the sentences, without encodings and totals."""
        return gathered(WeightedSentences, [(self, rows)])


def joined(parts: Sequence[WeightedSentences]) -> WeightedSentences:
    """Put sentences of one measure that lie apart one after another."""
    return gathered(WeightedSentences, [(part, slice(None)) for part in parts])


def renumbered(rows: Ints) -> tuple[Ints, Ints]:
    """Return the sentences that occur in pairs, and the pairs in terms of these."""
    picked, numbers = np.unique(rows, return_inverse=True)
    return picked, numbers.reshape(rows.shape)
