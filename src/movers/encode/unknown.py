"""Words that a model has no pieces for, each with an input vector of its own.

A tokenizer writes one and the same token for all of them, so that any two would be equal. Here
each is given the vector that its text draws at random from those of the vocabulary, and the model
reads it like that of any word: the same word is the same everywhere, two are as unlike as two
words that have nothing to do with each other, and all that is read of a sentence follows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import shake_128
from typing import Any

import numpy as np
from numpy.typing import NDArray

from movers.arrays import Floats, Ints, Ragged
from movers.encode.tokens import Text

DRAWN = 64
"""Vectors that one is mixed from: enough that it is like none of them."""


@dataclass(frozen=True)
class Unknown:
    """The unknown words of sentences.

    ``words`` holds each once, as the tokenizer normalises it; ``numbers`` says for every token
    which it stands for, from 1 on, or 0.
    """

    words: tuple[str, ...]
    numbers: Ragged

    @property
    def counts(self) -> NDArray[np.int64]:
        """Unknown tokens of every sentence."""
        return Ragged((self.numbers.data > 0).astype(np.int64), self.numbers.starts).sums()

    def between(self, low: int, high: int) -> Unknown:
        """Return those of the sentences ``low .. high - 1``."""
        return Unknown(self.words, self.numbers.between(low, high))


def find_unknown(tokenizer: Any, sentences: Sequence[str], text: Text) -> Unknown:
    """Find the words that a tokenizer does not know; its own name for them is no such word."""
    numbers = np.zeros(len(text.ids.data), np.int32)
    known: dict[str, int] = {}
    normaliser = tokenizer.backend_tokenizer.normalizer
    places = np.flatnonzero(text.real & (text.ids.data == tokenizer.unk_token_id))
    owners = np.searchsorted(text.ids.starts, places, side="right") - 1
    for place, owner in zip(places.tolist(), owners.tolist(), strict=True):
        start, end = text.offsets[place]
        word = sentences[owner][start:end].strip()
        if word != tokenizer.unk_token:
            if normaliser is not None:
                word = normaliser.normalize_str(word).strip()
            numbers[place] = known.setdefault(word, len(known) + 1)
    return Unknown((*known,), Ragged(numbers, text.ids.starts))


def own_vectors(
    lookup: Callable[[Ints], Floats], size: int, words: Sequence[str]
) -> NDArray[np.float64]:
    """Input vectors of words, from row 1 on, with mean and covariance of the first ``size`` pieces.

    Each is a sum of pieces that the hash of the word picks. Their weights sum to 1, which keeps the
    mean, and the squares of the weights too, which keeps the covariance.

    ``lookup`` turns ids of pieces into the vectors that a model reads for them.
    """
    ids = np.stack([np.zeros(DRAWN, np.int64), *(_pieces(word, size) for word in words)])
    apart = ((1.0 - 1.0 / DRAWN) / DRAWN) ** 0.5
    vectors = np.zeros_like(lookup(ids[:, 0]))
    for place in range(DRAWN):
        weight = 1.0 / DRAWN + (apart if place % 2 else -apart)
        vectors += lookup(ids[:, place]) * weight
    return vectors


def _pieces(word: str, size: int) -> NDArray[np.int64]:
    """Pieces that a word picks: the same in every process, on every machine."""
    drawn = np.frombuffer(shake_128(word.encode()).digest(8 * DRAWN), "<u8")
    return (drawn % size).astype(np.int64)
