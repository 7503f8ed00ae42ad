"""The sentences of a corpus: read one by one, kept in shards, as one list wherever they lie."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from hashlib import blake2b
from pathlib import Path

import numpy as np

from movers.arrays import Array, Ints, Ragged, Rows, Singles, boundaries, gathered
from movers.errors import InputError
from movers.io.pairs import check_sentence
from movers.io.texts import Texts
from movers.measures.sentences import WeightedSentences
from movers.search.vectors import StoredVectors

NOTHING = np.zeros(0, np.int64)
GROWTH = 8
"""How many times what follows it a shard may hold and still be joined with it."""


class StoredLines(Sequence[str]):
    """Texts in UTF-8, one after another, read and decoded when they are looked at."""

    def __init__(self, data: Array, starts: Ints) -> None:
        self.data, self.starts = data, starts

    @classmethod
    def of(cls, texts: Sequence[str]) -> StoredLines:
        """Return texts as they are kept; those that are so already stay."""
        if isinstance(texts, StoredLines):
            return texts
        raw = [text.encode() for text in texts]
        return cls(np.frombuffer(b"".join(raw), np.uint8), boundaries(map(len, raw)))

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __getitem__(self, row: int) -> str:  # type: ignore[override]
        return self.data[self.starts[row] : self.starts[row + 1]].tobytes().decode()

    @classmethod
    def gathered(cls, pieces: Sequence[tuple[StoredLines, Rows]]) -> StoredLines:
        """Return some texts of several, one after another."""
        lines = Ragged.gathered([(Ragged(one.data, one.starts), rows) for one, rows in pieces])
        return cls(lines.data, lines.starts)


@dataclass(frozen=True)
class Shard:
    """A shard of an index, in memory or mapped: some thousand sentences and what bounds them.

    ``keys`` are short keys to find sentences by. Where only ``vectors`` or ``features`` are kept,
    sentences have no words; either of these is None where the layout has none.
    """

    words: WeightedSentences
    keys: Ints
    vectors: StoredVectors | None
    features: Singles | None

    @classmethod
    def of(
        cls,
        texts: Sequence[str],
        *,
        words: WeightedSentences | None = None,
        vectors: StoredVectors | None = None,
        features: Singles | None = None,
    ) -> Shard:
        """Make a shard of distinct sentences and what is to be kept of them."""
        lines, pooled = StoredLines.of(texts), np.zeros((len(texts), 0), np.float32)
        kept = _wordless(len(texts)) if words is None else words
        return cls(replace(kept, sentences=lines, pooled=pooled), keys_of(texts), vectors, features)

    def __len__(self) -> int:
        return len(self.words.sentences)

    @property
    def sentences(self) -> list[str]:
        """All texts."""
        return [*self.words.sentences]


Piece = tuple[list[str], Callable[[], Shard]]
"""Sentences of a shard, and how to make it."""


def key(text: str) -> bytes:
    """Return what a sentence is known by."""
    return blake2b(text.encode(), digest_size=16).digest()


def keys_of(texts: Sequence[str]) -> Ints:
    """Return short keys to find sentences by; two may share one, though hardly ever do."""
    return np.frombuffer(b"".join(key(text)[:8] for text in texts), np.int64)


def _wordless(count: int) -> WeightedSentences:
    """Return so many sentences of which no words are kept."""
    none, nothing = Ragged.zeros([0] * count), np.zeros((count, 0))
    return WeightedSentences(
        sentences=(),
        weights=none,
        vectors=None,
        norms=None,
        structure=Ragged.zeros([0] * count, dtype=np.float32),
        sums=nothing,
        squares=nothing,
        sizes=none.lengths,
        pooled=nothing.astype(np.float32),
    )


class Corpus:
    """Sentences by number, without those that were deleted.

    A *row* counts all sentences of all shards; a *number* only those that are still there. They
    are found by short keys and not by text, as in `movers.encode.encodings`: the texts of a
    million sentences stay on the disk.

    ``hidden`` are rows of deleted sentences, ascending.
    """

    def __init__(self, shards: Sequence[Shard], hidden: Ints = NOTHING) -> None:
        self.shards, self.hidden = list(shards), hidden
        self.starts = np.cumsum([0, *map(len, shards)])

    def __len__(self) -> int:
        return int(self.starts[-1]) - len(self.hidden)

    def numbers(self, rows: Ints) -> Ints:
        """Return numbers of rows that are still there."""
        return np.asarray(rows - np.searchsorted(self.hidden, rows))

    def rows(self, numbers: Ints) -> Ints:
        """Return rows of numbers."""
        before = self.hidden - np.arange(len(self.hidden))
        return np.asarray(numbers + np.searchsorted(before, numbers, side="right"))

    def pieces(self, rows: Ints) -> list[tuple[Shard, Ints]]:
        """Return rows, in their order, as places in shards."""
        shards = np.searchsorted(self.starts, rows, side="right") - 1
        runs = np.split(np.arange(len(rows)), np.flatnonzero(np.diff(shards)) + 1)
        numbers = [(int(shards[run[0]]), run) for run in runs if len(run)]
        return [(self.shards[one], rows[run] - self.starts[one]) for one, run in numbers]

    def take(self, rows: Ints) -> Shard:
        """Copy the sentences of rows into one shard."""
        return gathered(Shard, self.pieces(rows))

    def text(self, row: int) -> str:
        """Return the sentence of a row."""
        shard = int(np.searchsorted(self.starts, row, side="right")) - 1
        return self.shards[shard].words.sentences[row - int(self.starts[shard])]

    def sentence(self, number: int) -> str:
        """Return the sentence of a number."""
        if not 0 <= number < len(self):
            raise InputError(f"no sentence {number}; the index has {len(self)}")
        return self.text(int(self.rows(np.array([number]))[0]))

    @property
    def sentences(self) -> list[str]:
        """All sentences that are still there."""
        gone = set(self.hidden.tolist())
        every = (text for shard in self.shards for text in shard.sentences)
        return [text for row, text in enumerate(every) if row not in gone]

    def hidden_in(self, shard: int) -> Ints:
        """Return places in a shard whose sentences were deleted."""
        low, high = np.searchsorted(self.hidden, self.starts[shard : shard + 2])
        return np.asarray(self.hidden[low:high] - self.starts[shard])

    def find(self, texts: Sequence[str]) -> Ints:
        """Return rows of sentences; -1 for those that are not there."""
        (known, rows), keys = self._by_key, keys_of(texts)
        low, high = np.searchsorted(known, keys), np.searchsorted(known, keys, side="right")
        out = np.full(len(texts), -1, np.int64)
        for place in np.flatnonzero(low < high).tolist():
            for row in rows[low[place] : high[place]].tolist():
                if self.text(row) == texts[place]:
                    out[place] = row
        return out

    def living(self, numbers: Sequence[int]) -> Piece:
        """Return the sentences of some shards that were not deleted, as one."""
        pieces = [
            (shard := self.shards[number], np.delete(np.arange(len(shard)), self.hidden_in(number)))
            for number in numbers
        ]
        texts = [shard.words.sentences[row] for shard, rows in pieces for row in rows.tolist()]
        return texts, partial(gathered, Shard, pieces)

    def groups(self, capacity: int) -> Iterator[list[int]]:
        """Yield neighbouring shards that fit into one, without those of which nothing is left."""
        group: list[int] = []
        total = 0
        for number, shard in enumerate(self.shards):
            left = len(shard) - len(self.hidden_in(number))
            if group and total + left > capacity:
                yield group
                group, total = [], 0
            if left:
                group, total = [*group, number], total + left
        yield group

    @cached_property
    def _by_key(self) -> tuple[Ints, Ints]:
        """Keys of the sentences that are there, in order, and their rows."""
        keys = np.concatenate([NOTHING, *(shard.keys for shard in self.shards)])
        rows = np.delete(np.arange(len(keys)), self.hidden)
        rows = rows[np.argsort(keys[rows], kind="stable")]
        return keys[rows], rows


def join_small(shards: Sequence[Shard], piece: Piece, capacity: int) -> tuple[int, Piece]:
    """Join a piece with small shards before it; return how many others there are, and the piece.

    Each that is left alone is many times larger than what follows it, so there are never many,
    and no sentence is copied often.
    """
    (chunk, make), whole = piece, len(shards)
    total = len(chunk)
    while whole and len(shards[whole - 1]) <= min(GROWTH * total, capacity - total):
        whole -= 1
        total += len(shards[whole])
    if not (small := shards[whole:]):
        return whole, piece
    texts = [text for shard in small for text in shard.sentences]

    def made() -> Shard:
        return gathered(Shard, [(shard, slice(None)) for shard in [*small, make()]])

    return whole, ([*texts, *chunk], made)


def read_sentences(given: Iterable[str] | Path) -> Iterator[str]:
    """Yield sentences, or those of a file, blank ones and repeats included."""
    if isinstance(given, str):
        raise InputError("sentences must be a list or a Path of a file, got one string")
    texts = Texts(given) if isinstance(given, Path) else given
    if isinstance(texts, Texts):
        yield from texts
        return
    for number, text in enumerate(texts):
        yield check_sentence(text, f"sentence {number}")
