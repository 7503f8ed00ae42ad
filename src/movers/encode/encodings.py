"""What an encoder returns: the kept words of many sentences, their vectors and attention.

It is kept in memory by text (`Store`): what a scorer has compared, or an index compared lately.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from itertools import pairwise
from typing import Any, overload

import numpy as np

from movers.arrays import (
    Floats,
    Ints,
    Ragged,
    Rows,
    Singles,
    boundaries,
    gathered,
    places,
)
from movers.encode.tokens import TokenRules

Head = tuple[int, int]
"""A layer and a head, both counted from 1 as in the paper."""
MEAN_HEAD = 0
"""In place of a head: the mean of all heads of the layer."""
GROWTH = 8
"""How many times what is new a block may hold and still be joined with it."""
GROWTH_BYTES = 1 << 26
"""Up to this size blocks are joined; of a larger one only what is asked for is copied."""
STORES = 4
"""Stores that a family of scorers keeps."""
KEEP_BYTES = 1 << 30
"""Up to this size blocks are held beside the one used last."""


@dataclass(frozen=True, eq=False, repr=False)
class Spellings(Sequence[list[str]]):
    """The words of many sentences, each word the numbers of its ``pieces``, spelled when read.

    ``names`` tells what every number stands for, and ``starts`` where the words of each sentence
    begin, shape ``(sentences + 1,)``.

    Examples
    --------
    >>> words = Spellings.of([["a", "dog"], [], ["dog"]])
    >>> words[0], len(words), words.take([2, 0]) == [["dog"], ["a", "dog"]]
    (['a', 'dog'], 3, True)
    """

    names: Sequence[str]
    pieces: Ragged
    starts: Ints

    @classmethod
    def of(cls, sentences: Sequence[Sequence[str]]) -> Spellings:
        """Take words that are known as they are."""
        names = dict.fromkeys(word for words in sentences for word in words)
        numbers = dict(zip(names, range(len(names)), strict=True))
        flat = np.array([numbers[word] for words in sentences for word in words], np.int32)
        starts = boundaries(map(len, sentences))
        return cls([*names], Ragged(flat, np.arange(len(flat) + 1)), starts)

    @classmethod
    def cut(cls, names: Sequence[str], ids: Ragged, words: Ragged) -> Spellings:
        """Cut words out of the ids of sentences, by their ranges ``[first, end)``."""
        first, end = (words.data + np.repeat(ids.starts[:-1], words.lengths)[:, None]).T
        starts = boundaries(end - first)
        pieces = np.arange(starts[-1]) + np.repeat(first - starts[:-1], end - first)
        return cls(names, Ragged(ids.data[pieces], starts), words.starts)

    def __len__(self) -> int:
        return len(self.starts) - 1

    @overload
    def __getitem__(self, row: int) -> list[str]: ...
    @overload
    def __getitem__(self, row: slice) -> list[list[str]]: ...
    def __getitem__(self, row: int | slice) -> list[str] | list[list[str]]:
        if isinstance(row, slice):
            return [self[place] for place in range(*row.indices(len(self)))]
        low, high = self.starts[row % len(self)], self.starts[row % len(self) + 1]
        starts = self.pieces.starts[low : high + 1].tolist()
        numbers = self.pieces.data[starts[0] : starts[-1]].tolist()
        letters = [self.names[number] for number in numbers]
        return ["".join(letters[a - starts[0] : b - starts[0]]) for a, b in pairwise(starts)]

    def __iter__(self) -> Iterator[list[str]]:
        return (self[row] for row in range(len(self)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and [*self] == [*other]

    __hash__ = None  # type: ignore[assignment]

    def take(self, rows: Sequence[int] | Ints) -> Spellings:
        """Return the words of some sentences, in the order given."""
        picked = np.asarray(rows, np.int64)
        words = self.pieces.take(places(self.starts, picked))
        return Spellings(self.names, words, boundaries(np.diff(self.starts)[picked]))

    @classmethod
    def gathered(cls, pieces: Sequence[tuple[Spellings, Rows]]) -> Spellings:
        """Return some sentences of several, one after another."""
        return reduce(cls._joined, [one.take(np.arange(len(one))[rows]) for one, rows in pieces])

    def _joined(self, other: Spellings) -> Spellings:
        """These sentences followed by others."""
        if self.names is not other.names:
            return Spellings.of([*self, *other])
        starts = np.concatenate([self.starts, other.starts[1:] + self.starts[-1]])
        return Spellings(self.names, self.pieces.joined(other.pieces), starts)


@dataclass(frozen=True)
class Request:
    """What to keep of a forward pass; everything else is dropped batch by batch.

    Parameters
    ----------
    embeddings
        Layers whose hidden states become word vectors; 0 is the input layer.
    heads
        Attention heads to keep.
    rules
        Which words stay, and which recipe cuts the attention to them.
    pooled
        Whether to keep the vector of the sentence as well: the mean over all its tokens, special
        ones included, in the last layer.
    """

    embeddings: tuple[int, ...] = ()
    heads: tuple[Head, ...] = ()
    rules: TokenRules = field(default_factory=TokenRules)
    pooled: bool = False

    def nbytes(self, words: Any, dimension: int) -> Any:
        """Bytes that a sentence of so many words takes; of sentences, for an array of numbers."""
        vectors = words * len(self.embeddings) + self.pooled
        return 4 * (vectors * dimension + len(self.heads) * words * words)

    def union(self, other: Request) -> Request | None:
        """One request that serves both, or None if their words or heads differ."""
        heads = self.heads or other.heads
        if self.rules != other.rules or (other.heads and other.heads != heads):
            return None
        embeddings = tuple(sorted({*self.embeddings, *other.embeddings}))
        return Request(embeddings, heads, self.rules, self.pooled or other.pooled)


@dataclass(frozen=True)
class Encodings:
    """Distinct sentences, encoded.

    Parameters
    ----------
    sentences
        The sentences, each once.
    spans
        Character ranges of the kept words (see `Tokens`).
    spellings
        The kept words as their pieces spell them.
    vectors
        Word vectors by embedding layer, each row ``(words, dimension)`` float32.
    structure
        Attention among the kept words, each row one flat ``(heads, words, words)`` float32 block.
    sums, squares
        Sum and sum of squares of each attention matrix the factor k averages over, shape
        ``(sentences, heads)``: among kept words for the paper's recipe, among all tokens for the
        reference's.
    sizes
        Tokens the factor k averages over, shape ``(sentences,)``.
    pooled
        Vectors of the sentences, ``(sentences, dimension)`` float32; without columns if they were
        not asked for.
    """

    sentences: list[str]
    spans: Ragged
    spellings: Spellings
    vectors: dict[int, Ragged]
    structure: Ragged
    sums: Floats
    squares: Floats
    sizes: Ints
    pooled: Singles

    def __len__(self) -> int:
        return len(self.sentences)

    @cached_property
    def rows(self) -> dict[str, int]:
        """The row of every sentence."""
        return {sentence: row for row, sentence in enumerate(self.sentences)}

    @property
    def counts(self) -> Ints:
        """Kept words of every sentence, shape ``(sentences,)``."""
        return self.spans.lengths

    @property
    def nbytes(self) -> int:
        """Bytes held by vectors and structure."""
        return self.structure.data.nbytes + sum(rows.data.nbytes for rows in self.vectors.values())

    def numbers(self, sentences: Iterable[str]) -> Ints:
        """Return the rows of sentences."""
        return np.array([self.rows[text] for text in sentences], np.int64)

    def surface(self, row: int) -> list[str]:
        """The kept words of a sentence as they stand in its text; special tokens by their name."""
        sentence, names = self.sentences[row], self.spellings[row]
        return [
            sentence[start:end].strip() or name
            for (start, end), name in zip(self.spans[row], names, strict=True)
        ]

    def take(self, rows: Ints, request: Request, heads: Sequence[Head]) -> Encodings:
        """Copy some sentences, and of them what a request names.

        ``heads`` are the ones these encodings hold.
        """
        picked = [heads.index(head) for head in request.heads]
        every = picked == [*range(len(heads))]
        wanted = replace(
            self,
            vectors={layer: self.vectors[layer] for layer in request.embeddings},
            structure=self.structure if every else Ragged.zeros([0] * len(self), dtype=np.float32),
            sums=self.sums[:, picked],
            squares=self.squares[:, picked],
            pooled=self.pooled if request.pooled else self.pooled[:, :0],
        )
        taken = gathered(Encodings, [(wanted, rows)])
        if every:
            return taken
        blocks = (self.structure[row].reshape(len(heads), -1)[picked] for row in rows.tolist())
        attention = Ragged.from_rows([block.ravel() for block in blocks], np.float32)
        return replace(taken, structure=attention)

    def places(self, row: int) -> tuple[tuple[int, int], ...]:
        """Return where the kept words of a sentence stand in its text, as ``(start, end)``."""
        return tuple((int(start), int(end)) for start, end in self.spans[row])

    def attention(self, row: int, heads: int) -> Floats:
        """Attention among the kept words of a sentence, ``(heads, words, words)``."""
        words = int(self.counts[row])
        block = self.structure[row] if heads else self.structure.data[:0]
        return block.reshape(heads, words, words).astype(np.float64)


@dataclass(eq=False)
class Store:
    """Encoded sentences by text, each run through a model once, in blocks, the last used first.

    The ``request`` tells what is kept of each sentence, ``whitening`` names the one applied to the
    vectors. Beyond the ``limit`` of bytes, blocks that were not used for longest are forgotten.
    """

    request: Request
    whitening: str = ""
    limit: int = KEEP_BYTES
    blocks: list[Encodings] = field(default_factory=list)

    def get(
        self, sentences: Iterable[str], encode: Callable[[list[str], Request], Encodings]
    ) -> Encodings:
        """Return encodings of all the sentences, and maybe others; only new ones are encoded."""
        missing, blocks = list(dict.fromkeys(sentences)), self.blocks
        for block in blocks:
            if all(text in block.rows for text in missing):
                self._hold(block, blocks)
                return block
        new = [text for text in missing if not any(text in block.rows for block in blocks)]
        parts = [encode(new, self.request)] if new or not blocks else []
        kept: list[Encodings] = []
        for block in blocks:
            known = [text for text in missing if text in block.rows]
            missing = [text for text in missing if text not in block.rows]
            if block.nbytes < GROWTH_BYTES and len(block) <= GROWTH * sum(map(len, parts)):
                parts.append(block)
                continue
            if known:
                parts.append(block.take(block.numbers(known), self.request, self.request.heads))
            if 2 * len(known) < len(block):
                kept.append(block)
        made = parts[0]
        if len(parts) > 1:
            made = gathered(Encodings, [(part, slice(None)) for part in parts])
        self._hold(made, kept)
        return made

    def _hold(self, block: Encodings, others: Iterable[Encodings]) -> None:
        """Move a block to the front (LRU); drop those beyond the limit of bytes."""
        behind = [other for other in others if other is not block]
        room = self.limit - np.cumsum([other.nbytes for other in behind])
        self.blocks = [block, *behind[: int((room >= 0).sum())]]


class EncodingCache(list[Store]):
    """The stores of a family of scorers, newest first, one for each set of words or heads.

    Pickling leaves the content behind, yet scorers pickled together go on sharing one cache.
    """

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return sum(block.nbytes for store in self for block in store.blocks)

    def __reduce__(self) -> tuple[type[EncodingCache], tuple[()]]:
        return EncodingCache, ()

    def find(self, request: Request, whitening: str) -> Store:
        """Return the store that serves a request: one that is widened if need be, or a new one."""
        for store in self:
            same = store.request == request
            union = request if same else store.request.union(request)
            if union is not None and store.whitening == whitening:
                if union != store.request:
                    store.request, store.blocks = union, []
                return store
        self.insert(0, Store(request, whitening))
        del self[STORES:]
        return self[0]
