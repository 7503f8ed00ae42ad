"""Sentences as aligners see them: where words stand, their vectors and cosines, and attention.

These are taken from the lower half of a model, where words have met their context and are still
themselves: vectors of the middle layer, attention of the layers around a third of the way up.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from unicodedata import combining

import numpy as np

from movers.arrays import Floats, Ints
from movers.encode.encoder import Encoder
from movers.encode.encodings import MEAN_HEAD, Request
from movers.encode.tokens import TokenRules

Span = tuple[int, int]
Spans = tuple[Span, ...]
Given = str | Sequence[str]
"""A text, or its words ready-made."""
SHRINKAGE = 60.0
"""Words that the model's own mean counts for beside those of the two sentences."""


def words_of(text: str, spans: Iterable[Span]) -> tuple[str, ...]:
    """Return words as they stand in a text."""
    return tuple(text[start:end] for start, end in spans)


def join_words(words: Sequence[str]) -> tuple[str, Spans]:
    """Return ready-made words as a text, with one blank between them, and where each stands.

    Examples
    --------
    >>> join_words(["don't", "panic", "!"])
    ("don't panic !", ((0, 5), (6, 11), (12, 13)))
    """
    ends = accumulate(words, lambda end, word: end + 1 + len(word), initial=-1)
    spans = zip(ends, words, strict=False)
    return " ".join(words), tuple((end + 1, end + 1 + len(word)) for end, word in spans)


def split_words(encoder: Encoder, given: Sequence[Given]) -> list[tuple[str, Spans]]:
    """Return texts and their words: as the encoder splits them, or as they are given."""
    texts = list(dict.fromkeys(one for one in given if isinstance(one, str)))
    spans = encoder.encode(texts, Request(rules=TokenRules())).spans
    split = {
        text: tuple(_trimmed(text, *span) for span in found.tolist())
        for text, found in zip(texts, spans, strict=True)
    }
    return [(one, split[one]) if isinstance(one, str) else join_words(one) for one in given]


def _trimmed(text: str, start: int, end: int) -> Span:
    """Return a range without the blanks that some tokenizers add, and with all its accents."""
    word = text[start:end]
    left = len(word) - len(word.lstrip())
    end -= len(word) - len(word.rstrip())
    while end < len(text) and combining(text[end]):  # stripped by tokenizers of plain letters
        end += 1
    return start + left, end


@dataclass(frozen=True, eq=False)
class Words:
    """A text, where its words stand, and those that the model has read, by place ``(n,)``.

    Words behind the model's last token and those that its tokenizer drops are not among these.
    Vectors ``(n, dimension)`` are means of each word's pieces; attention between different words
    ``(layers, n, n)`` is the mean over heads and over the pieces that look, the sum over those
    looked at, as a share of what the word gives to all words and itself.
    """

    places: Ints
    vectors: Floats
    attention: Floats
    text: str = ""
    spans: Spans = ()

    def __len__(self) -> int:
        return len(self.places)

    @property
    def nbytes(self) -> int:
        """Bytes that the arrays take."""
        return self.places.nbytes + self.vectors.nbytes + self.attention.nbytes


def middle(encoder: Encoder) -> int:
    """Return the layer of the vectors."""
    return encoder.layers // 2


def request_of(encoder: Encoder) -> Request:
    """Return what of a forward pass enters an alignment."""
    layers = range(encoder.layers // 6 + 1, encoder.layers // 2 + 1) if encoder.heads else ()
    heads = tuple((layer, MEAN_HEAD) for layer in layers)
    return Request((middle(encoder),), heads, TokenRules(unit="piece"))


def read_words(encoder: Encoder, given: Sequence[Given]) -> list[Words]:
    """Run sentences through a model and put the pieces of each word together."""
    request = request_of(encoder)
    (layer,) = request.embeddings
    split = split_words(encoder, given)
    encodings = encoder.encode(list(dict.fromkeys(text for text, _ in split)), request)
    words = []
    for text, spans in split:
        row = encodings.rows[text]
        starts, ends = np.array(spans, np.int64).reshape(-1, 2).T
        first, end = encodings.spans[row].T
        last = np.maximum(first, end - 1)  # a piece may begin with the blank before its word
        member = (starts[:, None] <= last) & (last < ends[:, None])
        places = np.flatnonzero(member.any(axis=1))
        total = member[places].astype(np.float64)
        mean = total / np.maximum(total.sum(axis=1, keepdims=True), 1.0)
        attention = mean @ encodings.attention(row, len(request.heads)) @ total.T
        attention /= np.maximum(attention.sum(axis=-1, keepdims=True), 1e-12)
        attention *= 1.0 - np.eye(len(places))  # a word seen by itself says nothing about others
        vectors = mean @ encodings.vectors[layer][row]
        words.append(Words(places, vectors, attention, text, spans))
    return words


def centred_cosines(source: Words, target: Words, typical: Floats) -> Floats:
    """Return cosines between words, centred at the mean of both, shrunk to the model's own mean.

    One word has no mean worth the name; sentences of a usual length have.
    """
    mean = (source.vectors.mean(axis=0) + target.vectors.mean(axis=0)) / 2
    count = len(source) + len(target)
    centre = (count * mean + SHRINKAGE * typical) / (count + SHRINKAGE)
    return cosines(source.vectors - centre, target.vectors - centre)


def cosines(source: Floats, target: Floats) -> Floats:
    """Return cosines of all vectors of one side with all of the other; 0 for a zero vector."""
    one, other = (
        side / np.maximum(np.linalg.norm(side, axis=1, keepdims=True), 1e-12)
        for side in (source, target)
    )
    return np.asarray(one @ other.T)
