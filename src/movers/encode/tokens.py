"""From text to model tokens, and from model tokens to the words that are compared.

A transformer sees pieces; the measures compare words. This file decides which pieces begin a
word, which words stay, and where each word stands in the text, for the three tokenizer
families in use: WordPiece (``##`` inside a word), byte-level BPE (``Ġ`` before a word) and
SentencePiece (``▁`` before a word).

For all words that it has no pieces for, a tokenizer writes one and the same token, so that any two
would be equal. Here each is given the vector that its text draws at random from those of the
vocabulary, and the model reads it like that of any word: the same word is the same everywhere, two
are as unlike as two words that have nothing to do with each other, and all that is read of a
sentence follows.
"""

from __future__ import annotations

import string
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from hashlib import shake_128
from itertools import chain
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from movers.arrays import Bools, Floats, Ints, Ragged, boundaries
from movers.errors import ModelError
from movers.runtime.threads import read_ahead

Recipe = Literal["paper", "reference"]
Subwords = Literal["first", "mean"]
Unit = Literal["word", "start", "piece", "token"]

PUNCTUATION = frozenset(string.punctuation)
INSIDE_MARKER = "##"
START_MARKERS = ("Ġ", "▁")

DRAWN = 64
"""Vectors that the one of an unknown word is mixed from: enough that it is like none of them."""
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
class Text:
    """Sentences as a tokenizer reads them.

    ``ids`` are all tokens of every sentence, special ones included; ``real`` tells whether each
    stands for some of the text, which special ones do not, ``(tokens,)``; ``offsets`` are their
    character ranges in the sentence, ``(tokens, 2)``; ``truncated`` are the sentences that were
    longer than the model and lost their end. ``unknown`` holds the words that the tokenizer has no
    pieces for, each once and as it normalises them, and ``numbers`` which of them every token
    stands for, from 1 on, or 0, ``(tokens,)``.
    """

    ids: Ragged
    real: Bools
    offsets: NDArray[np.int32]
    truncated: tuple[int, ...] = ()
    unknown: tuple[str, ...] = ()
    numbers: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32))

    @property
    def unknown_counts(self) -> Ints:
        """Unknown tokens of every sentence."""
        return Ragged((self.numbers > 0).astype(np.int64), self.ids.starts).sums()

    def between(self, low: int, high: int) -> Text:
        """Return the sentences ``low .. high - 1``; what was truncated is left behind."""
        part = slice(self.ids.starts[low], self.ids.starts[high])
        tokens = self.real[part], self.offsets[part], (), self.unknown, self.numbers[part]
        return Text(self.ids.between(low, high), *tokens)


class Vocabulary:
    """A tokenizer's pieces by token id.

    ``marker`` is what they tell words apart by; ``marked`` says which carry it, and ``texts`` are
    the pieces without. Some are ``blank``, nothing but the marker, or ASCII ``punctuation`` through
    and through.
    """

    def __init__(self, tokenizer: Any) -> None:
        vocabulary: dict[str, int] = tokenizer.vocab
        pieces = np.full(max(vocabulary.values()) + 1, "", dtype=object)
        for piece, number in vocabulary.items():
            pieces[number] = piece
        self.pieces: list[str] = pieces.tolist()
        lines = "\n".join(("", *self.pieces))
        counts = {marker: lines.count(f"\n{marker}") for marker in (INSIDE_MARKER, *START_MARKERS)}
        self.marker = max(counts, key=counts.__getitem__)
        if not counts[self.marker]:
            raise ModelError(
                "the tokenizer marks neither word starts ('Ġ', '▁') nor word insides ('##'); "
                "movers cannot tell words from pieces"
            )
        self.marked = np.array([piece.startswith(self.marker) for piece in self.pieces])
        self.texts = [piece.removeprefix(self.marker) for piece in self.pieces]
        self.blank = np.array([not text for text in self.texts])
        self.punctuation = ~self.blank & [PUNCTUATION.issuperset(text) for text in self.texts]


class WordFinder:
    """Finds the kept words in token ids, for one tokenizer and one set of rules."""

    def __init__(self, vocabulary: Vocabulary, rules: TokenRules) -> None:
        self.vocabulary, self.rules = vocabulary, rules
        whole = rules.unit in ("word", "start")
        self.names = vocabulary.texts if whole else vocabulary.pieces
        """How pieces are spelled; a piece on its own keeps its marker."""
        paper, stopwords = rules.recipe == "paper", rules.stopwords
        if stopwords is None:
            self._stop = np.zeros(len(vocabulary.pieces), bool)
            return
        dropped = stopwords if paper else stopwords | PUNCTUATION
        texts = (text.lower() if paper else text for text in vocabulary.texts)
        stop = np.array([text in dropped for text in texts])
        self._stop = stop | vocabulary.punctuation if paper else stop

    def find(self, text: Text) -> tuple[Ragged, Ragged]:
        """Locate the kept words of every sentence.

        Returns the token ranges ``[first, end)`` of their pieces, and their character ranges in the
        sentence, both ``(words, 2)``; the latter are empty for a special token.
        """
        starts, lengths = text.ids.starts[:-1], text.ids.lengths
        owner = np.repeat(np.arange(len(lengths)), lengths)
        whole = self._ranges(text, owner)
        kept = whole[self._keeps(text.ids.data, whole)]
        if self.rules.keep_empty:
            empty = np.bincount(owner[kept[:, 0]], minlength=len(lengths)) == 0
            kept = np.concatenate([kept, whole[empty[owner[whole[:, 0]]]]])
            kept = kept[np.argsort(kept[:, 0], kind="stable")]
        if self.rules.unit == "start":
            kept[:, 1] = kept[:, 0] + 1
        sentence = owner[kept[:, 0]]
        counts = np.bincount(sentence, minlength=len(lengths))
        words = Ragged((kept - starts[sentence, None]).astype(np.int32), boundaries(counts))
        first, end = kept.T
        ranges = np.stack([text.offsets[first, 0], text.offsets[end - 1, 1]], axis=1)
        return words, Ragged(np.where(text.real[first, None], ranges, 0), words.starts)

    def _ranges(self, text: Text, owner: Ints) -> Ints:
        """Return ranges of all words among the tokens of all sentences."""
        ids, real = text.ids.data, text.real
        if self.rules.unit in ("piece", "token"):
            # Special tokens alone say nothing: such a sentence is as empty as any other.
            spoken = np.bincount(owner[real], minlength=len(text.ids)) > 0
            first = np.flatnonzero(real | ((self.rules.unit == "token") & spoken[owner]))
            return np.stack([first, first + 1], axis=1)
        opens = np.zeros(len(ids), bool)
        opens[text.ids.starts[:-1][text.ids.lengths > 0]] = True
        starts = self._starts(ids, real, opens)
        outside = ~real | opens
        if self.rules.recipe == "paper":  # a lone marker belongs to no word
            outside |= self.vocabulary.blank[ids]
        first, breaks = np.flatnonzero(starts), np.flatnonzero(starts | outside)
        end = np.append(breaks, len(ids))[np.searchsorted(breaks, first, side="right")]
        return np.stack([first, end], axis=1)

    def _starts(self, ids: NDArray[np.int32], real: Bools, opens: Bools) -> Bools:
        """Return which tokens begin a word; ``opens`` marks the first token of every sentence."""
        vocabulary = self.vocabulary
        if vocabulary.marker == INSIDE_MARKER:
            return np.asarray(real & ~vocabulary.marked[ids])

        def before(flags: Bools) -> Bools:
            return np.asarray(np.append(False, flags)[:-1] & ~opens)

        starts = real & (vocabulary.marked[ids] | ~before(real))
        if self.rules.recipe == "paper":
            splits = vocabulary.punctuation[ids] | vocabulary.blank[ids]
            starts |= real & (splits | before(splits))
            starts &= ~vocabulary.blank[ids]
        return np.asarray(starts)

    def _keeps(self, ids: NDArray[np.int32], ranges: Ints) -> Bools:
        if self.rules.unit in ("piece", "token"):
            return np.ones(len(ranges), bool)
        kept = ~self._stop[ids[ranges[:, 0]]]
        stopwords = self.rules.stopwords
        if self.rules.subwords == "mean" and stopwords is not None:
            # A first piece that looks like a stop word ("an" of "an ##vil") is not one here.
            for row in np.flatnonzero(ranges[:, 1] - ranges[:, 0] > 1):
                word = "".join(self.names[number] for number in ids[slice(*ranges[row])])
                kept[row] = word.lower() not in stopwords
        return kept


def read(tokenizer: Any, sentences: Sequence[str], max_length: int) -> Text:
    """Tokenize sentences, each cut to ``max_length`` tokens."""
    backend = tokenizer.backend_tokenizer
    if backend.padding is not None:
        backend.no_padding()
    backend.enable_truncation(max_length)
    texts = [list(sentences[at : at + CHUNK]) for at in range(0, len(sentences), CHUNK)]
    several = read_ahead if len(texts) > 1 else map
    chunks = [_columns(found) for found in several(backend.encode_batch, texts)]
    ids, special, offsets, lengths, truncated = (
        map(np.concatenate, zip(*chunks, strict=True)) if chunks else _columns([])
    )
    # Written in the text itself they are special all the same, but not in the tokenizer's mask.
    marks = (tokenizer.cls_token_id, tokenizer.sep_token_id, tokenizer.pad_token_id)
    special |= np.isin(ids, [number for number in marks if number is not None])
    cut = tuple(np.flatnonzero(truncated).tolist())
    numbers = np.zeros(len(ids), np.int32)
    text = Text(Ragged(ids, boundaries(lengths)), ~special, offsets, cut, (), numbers)
    strange = np.flatnonzero(text.real & (ids == tokenizer.unk_token_id))
    return _tell_apart(tokenizer, sentences, text, strange) if len(strange) else text


def _tell_apart(tokenizer: Any, sentences: Sequence[str], text: Text, strange: Ints) -> Text:
    """Number the words behind tokens for the unknown; the tokenizer's own name is no such word."""
    known: dict[str, int] = {}
    normaliser = tokenizer.backend_tokenizer.normalizer
    owners = np.searchsorted(text.ids.starts, strange, side="right") - 1
    for place, owner in zip(strange.tolist(), owners.tolist(), strict=True):
        start, end = text.offsets[place]
        word = sentences[owner][start:end].strip()
        if word != tokenizer.unk_token:
            if normaliser is not None:
                word = normaliser.normalize_str(word).strip()
            text.numbers[place] = known.setdefault(word, len(known) + 1)
    return replace(text, unknown=(*known,))


def _columns(encodings: Sequence[Any]) -> tuple[NDArray[Any], ...]:
    """Ids, special tokens, offsets, lengths and "was cut" of what a tokenizer returned, flat.

    All that is done sentence by sentence is to ask the tokenizer, which has no arrays.
    """
    flat, ids = chain.from_iterable, [one.ids for one in encodings]
    return (
        np.fromiter(flat(ids), np.int32),
        np.fromiter(flat(one.special_tokens_mask for one in encodings), bool),
        np.fromiter(flat(flat(one.offsets for one in encodings)), np.int32).reshape(-1, 2),
        np.fromiter(map(len, ids), np.int64),
        np.fromiter((bool(one.overflowing) for one in encodings), bool),
    )


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
