"""Sentences to align: their text, and where its words stand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from unicodedata import combining

from movers.encode.encodings import Request
from movers.encode.tokens import TokenRules
from movers.encode.transformer import TransformerEncoder

Span = tuple[int, int]
Given = str | Sequence[str]
"""A text, or its words ready-made."""


@dataclass(frozen=True)
class Sentence:
    """A text and the character range of each of its words."""

    text: str
    spans: tuple[Span, ...]

    @property
    def words(self) -> tuple[str, ...]:
        """The words as they stand in the text."""
        return tuple(self.text[start:end] for start, end in self.spans)

    @classmethod
    def of_words(cls, words: Sequence[str]) -> Sentence:
        """Ready-made words, written with one blank between them.

        Examples
        --------
        >>> Sentence.of_words(["don't", "panic", "!"]).spans
        ((0, 5), (6, 11), (12, 13))
        """
        ends = accumulate(words, lambda end, word: end + 1 + len(word), initial=-1)
        spans = zip(ends, words, strict=False)
        return cls(" ".join(words), tuple((end + 1, end + 1 + len(word)) for end, word in spans))


def read_sentences(encoder: TransformerEncoder, given: Sequence[Given]) -> list[Sentence]:
    """Sentences given as text, split as the encoder splits them, or as words."""
    texts = list(dict.fromkeys(one for one in given if isinstance(one, str)))
    spans = encoder.encode(texts, Request(rules=TokenRules())).spans
    split = {
        text: Sentence(text, tuple(_trimmed(text, *span) for span in found.tolist()))
        for text, found in zip(texts, spans, strict=True)
    }
    return [split[one] if isinstance(one, str) else Sentence.of_words(one) for one in given]


def _trimmed(text: str, start: int, end: int) -> Span:
    """A range without the blanks that some tokenizers count to a word, and with all its accents."""
    word = text[start:end]
    left = len(word) - len(word.lstrip())
    end -= len(word) - len(word.rstrip())
    while end < len(text) and combining(text[end]):  # stripped by tokenizers of plain letters
        end += 1
    return start + left, end
