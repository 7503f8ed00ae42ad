"""From text to model tokens, and from model tokens to the words that are compared.

A transformer sees pieces; the measures compare words. This file decides which pieces begin a
word, which words stay, and where each word stands in the text, for the three tokenizer
families in use: WordPiece (``##`` inside a word), byte-level BPE (``Ġ`` before a word) and
SentencePiece (``▁`` before a word).
"""

from __future__ import annotations

import string
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from movers.encode.ragged import Ragged, boundaries
from movers.errors import ModelError

Recipe = Literal["paper", "reference"]
Subwords = Literal["first", "mean"]
Unit = Literal["word", "start", "piece", "token"]

PUNCTUATION = frozenset(string.punctuation)
INSIDE_MARKER = "##"
START_MARKERS = ("Ġ", "▁")

CHUNK = 4096
"""Sentences tokenized at a time; what the tokenizer returns is far larger than what is kept."""


@dataclass(frozen=True)
class TokenRules:
    """What counts as a word and which words stay.

    Parameters
    ----------
    stopwords
        Words to drop together with ASCII punctuation; None keeps both.
    recipe
        ``"paper"`` matches stop words in any case and splits punctuation off words;
        ``"reference"`` follows the published code to the letter, which for byte-level BPE
        matches case-sensitively and drops whatever is glued behind another piece.
    subwords
        ``"first"`` lets the first piece stand for its word, ``"mean"`` averages all pieces.
    unit
        What is compared: ``"word"``; the ``"start"`` of every word, its first piece alone; every
        ``"piece"`` of every word, stop words included; or every ``"token"``, special ones too.
    keep_empty
        Whether a sentence of nothing but stop words keeps them instead of becoming empty.
    """

    stopwords: frozenset[str] | None = None
    recipe: Recipe = "paper"
    subwords: Subwords = "first"
    unit: Unit = "word"
    keep_empty: bool = False


@dataclass(frozen=True)
class Tokens:
    """Sentences as token ids, with the words kept of each.

    Parameters
    ----------
    ids
        All token ids of every sentence, special tokens included.
    words
        For every kept word the token range ``[first, end)`` of its pieces, shape ``(words, 2)``.
    spans
        For every kept word its character range in the sentence, shape ``(words, 2)``; empty for
        a special token.
    truncated
        How many sentences were longer than the model and lost their end.
    """

    ids: Ragged
    words: Ragged
    spans: Ragged
    truncated: int


class Vocabulary:
    """A tokenizer's pieces as arrays indexed by token id."""

    def __init__(self, tokenizer: Any) -> None:
        vocabulary: dict[str, int] = tokenizer.get_vocab()
        pieces = np.full(max(vocabulary.values()) + 1, "", dtype=object)
        for piece, number in vocabulary.items():
            pieces[number] = piece
        self.pieces: list[str] = pieces.tolist()
        self.marker = _marker_of(self.pieces)

    @property
    def marks_inside(self) -> bool:
        """Whether the marker stands inside words (WordPiece) instead of before them."""
        return self.marker == INSIDE_MARKER

    @cached_property
    def marked(self) -> NDArray[np.bool_]:
        """Whether each piece carries the marker."""
        return np.array([piece.startswith(self.marker) for piece in self.pieces])

    @cached_property
    def texts(self) -> list[str]:
        """Each piece without its marker."""
        return [piece.removeprefix(self.marker) for piece in self.pieces]

    @cached_property
    def blank(self) -> NDArray[np.bool_]:
        """Whether a piece is nothing but its marker."""
        return np.array([not text for text in self.texts])

    @cached_property
    def punctuation(self) -> NDArray[np.bool_]:
        """Whether a piece is ASCII punctuation through and through."""
        return np.array([bool(text) and PUNCTUATION.issuperset(text) for text in self.texts])

    def members(self, words: frozenset[str], *, fold: bool) -> NDArray[np.bool_]:
        """Whether each piece, without marker, is one of the words."""
        return np.array([(text.lower() if fold else text) in words for text in self.texts])


def _marker_of(pieces: Sequence[str]) -> str:
    counts = {
        marker: sum(piece.startswith(marker) for piece in pieces)
        for marker in (INSIDE_MARKER, *START_MARKERS)
    }
    marker = max(counts, key=counts.__getitem__)
    if not counts[marker]:
        raise ModelError(
            "the tokenizer marks neither word starts ('Ġ', '▁') nor word insides ('##'); "
            "movers cannot tell words from pieces"
        )
    return marker


class WordFinder:
    """Finds the kept words in token ids, for one tokenizer and one set of rules."""

    def __init__(self, vocabulary: Vocabulary, rules: TokenRules) -> None:
        self.vocabulary = vocabulary
        self.rules = rules
        self._stop = self._stop_pieces()

    def find(self, ids: NDArray[np.int32], real: NDArray[np.bool_]) -> NDArray[np.int32]:
        """Locate the kept words of one sentence as token ranges ``[first, end)``.

        ``real`` is false for special tokens.
        """
        if self.rules.unit in ("piece", "token"):
            # Special tokens alone say nothing: such a sentence is as empty as any other.
            first = np.flatnonzero(real | (self.rules.unit == "token" and real.any()))
            return np.stack([first, first + 1], axis=1).astype(np.int32)
        starts = self._starts(ids, real)
        first = np.flatnonzero(starts)
        if not len(first):
            return np.zeros((0, 2), np.int32)
        outside = ~real
        if self.rules.recipe == "paper":  # a lone marker belongs to no word
            outside |= self.vocabulary.blank[ids]
        breaks = np.flatnonzero(starts | outside)
        after = np.searchsorted(breaks, first, side="right")
        end = np.append(breaks, len(ids))[after]
        ranges = np.stack([first, end], axis=1).astype(np.int32)
        kept = ranges[self._keeps(ids, ranges)]
        kept = ranges if self.rules.keep_empty and not len(kept) else kept
        if self.rules.unit == "start":
            kept[:, 1] = kept[:, 0] + 1
        return kept

    def text(self, ids: NDArray[np.int32]) -> str:
        """The word that these pieces spell; a piece on its own keeps its marker."""
        whole = self.rules.unit in ("word", "start")
        texts = self.vocabulary.texts if whole else self.vocabulary.pieces
        return "".join(texts[number] for number in ids)

    def _starts(self, ids: NDArray[np.int32], real: NDArray[np.bool_]) -> NDArray[np.bool_]:
        vocabulary = self.vocabulary
        if vocabulary.marks_inside:
            return np.asarray(real & ~vocabulary.marked[ids])
        previous_real = np.append(False, real[:-1])
        starts = real & (vocabulary.marked[ids] | ~previous_real)
        if self.rules.recipe == "paper":
            splits = vocabulary.punctuation[ids] | vocabulary.blank[ids]
            starts |= real & (splits | np.append(False, splits[:-1]))
            starts &= ~vocabulary.blank[ids]
        return np.asarray(starts)

    def _keeps(self, ids: NDArray[np.int32], ranges: NDArray[np.int32]) -> NDArray[np.bool_]:
        kept = ~self._stop[ids[ranges[:, 0]]]
        stopwords = self.rules.stopwords
        if self.rules.subwords == "mean" and stopwords is not None:
            # A first piece that looks like a stop word ("an" of "an ##vil") is not one here.
            for row in np.flatnonzero(ranges[:, 1] - ranges[:, 0] > 1):
                kept[row] = self.text(ids[slice(*ranges[row])]).lower() not in stopwords
        return kept

    def _stop_pieces(self) -> NDArray[np.bool_]:
        vocabulary, rules = self.vocabulary, self.rules
        if rules.stopwords is None:
            return np.zeros(len(vocabulary.pieces), bool)
        if rules.recipe == "reference":
            return vocabulary.members(rules.stopwords | PUNCTUATION, fold=False)
        return vocabulary.members(rules.stopwords, fold=True) | vocabulary.punctuation


def read_end(tokenizer: Any, sentence: str, max_length: int) -> int:
    """Character of a sentence at which a model of so many tokens stops to read."""
    backend = tokenizer.backend_tokenizer
    backend.no_padding()
    backend.enable_truncation(max_length)
    encoding = backend.encode(sentence)
    if not encoding.overflowing:
        return len(sentence)
    return max((int(end) for _, end in encoding.offsets), default=0)


def tokenize(
    tokenizer: Any, finder: WordFinder, sentences: Sequence[str], max_length: int
) -> Tokens:
    """Tokenize sentences, cut to ``max_length`` tokens, and find the words kept of each."""
    backend = tokenizer.backend_tokenizer
    backend.no_padding()
    backend.enable_truncation(max_length)
    # Written in the text itself they are special all the same, but not in the tokenizer's mask.
    marks = (tokenizer.cls_token_id, tokenizer.sep_token_id, tokenizer.pad_token_id)
    special = np.zeros(len(finder.vocabulary.pieces), bool)
    special[[number for number in marks if number is not None]] = True
    ids, words, spans = [], [], []
    truncated = 0
    for start in range(0, len(sentences), CHUNK):
        for encoding in backend.encode_batch(list(sentences[start : start + CHUNK])):
            numbers = np.array(encoding.ids, np.int32)
            real = ~np.array(encoding.special_tokens_mask, bool) & ~special[numbers]
            found = finder.find(numbers, real)
            offsets = np.array(encoding.offsets, np.int32).reshape(-1, 2)
            ids.append(numbers)
            words.append(found)
            ranges = np.stack([offsets[found[:, 0], 0], offsets[found[:, 1] - 1, 1]], axis=1)
            spans.append(np.where(real[found[:, :1]], ranges, 0))
            truncated += bool(encoding.overflowing)
    bounds = boundaries(len(row) for row in words)
    empty = np.zeros((0, 2), np.int32)
    return Tokens(
        ids=Ragged.from_rows(ids, np.int32),
        words=Ragged(np.concatenate([empty, *words]), bounds),
        spans=Ragged(np.concatenate([empty, *spans]), bounds),
        truncated=truncated,
    )
