"""What an encoder returns: the kept words of many sentences, their vectors and attention."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from movers.arrays import Ragged
from movers.encode.spellings import Spellings
from movers.encode.tokens import TokenRules

Head = tuple[int, int]
"""A layer and a head, both counted from 1 as in the paper."""
MEAN_HEAD = 0
"""In place of a head: the mean of all heads of the layer."""


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

    def covers(self, other: Request) -> bool:
        """Whether what this keeps is enough for another request."""
        return (
            self.rules == other.rules
            and {*other.embeddings} <= {*self.embeddings}
            and {*other.heads} <= {*self.heads}
            and self.pooled >= other.pooled
        )


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
    sums: NDArray[np.float64]
    squares: NDArray[np.float64]
    sizes: NDArray[np.int64]
    pooled: NDArray[np.float32]
    rows: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.rows.update((sentence, row) for row, sentence in enumerate(self.sentences))

    def __len__(self) -> int:
        return len(self.sentences)

    @property
    def counts(self) -> NDArray[np.int64]:
        """Kept words of every sentence, shape ``(sentences,)``."""
        return self.spans.lengths

    @property
    def nbytes(self) -> int:
        """Bytes held by vectors and structure."""
        return self.structure.data.nbytes + sum(rows.data.nbytes for rows in self.vectors.values())

    def numbers(self, sentences: Iterable[str]) -> NDArray[np.int64]:
        """The rows of sentences."""
        return np.array([self.rows[text] for text in sentences], np.int64)

    def surface(self, row: int) -> list[str]:
        """The kept words of a sentence as they stand in its text; special tokens by their name."""
        sentence, names = self.sentences[row], self.spellings[row]
        return [
            sentence[start:end].strip() or name
            for (start, end), name in zip(self.spans[row], names, strict=True)
        ]

    def take(self, rows: NDArray[np.int64], request: Request, heads: Sequence[Head]) -> Encodings:
        """Copy some sentences, and of them what a request names.

        ``heads`` are the ones these encodings hold.
        """
        picked = [heads.index(head) for head in request.heads]
        counts = self.counts[rows]
        structure = Ragged.zeros(len(picked) * counts**2, dtype=np.float32)
        for place, row in enumerate(rows if picked else ()):
            matrices = self.structure[row].reshape(len(heads), -1)
            structure[place][:] = matrices[picked].ravel()
        return Encodings(
            sentences=[self.sentences[row] for row in rows],
            spans=self.spans.take(rows),
            spellings=self.spellings.take(rows),
            vectors={layer: self.vectors[layer].take(rows) for layer in request.embeddings},
            structure=structure,
            sums=self.sums[rows][:, picked],
            squares=self.squares[rows][:, picked],
            sizes=self.sizes[rows],
            pooled=self.pooled[rows] if request.pooled else self.pooled[rows, :0],
        )

    def places(self, row: int) -> tuple[tuple[int, int], ...]:
        """Where the kept words of a sentence stand in its text, as ``(start, end)``."""
        return tuple((int(start), int(end)) for start, end in self.spans[row])

    def attention(self, row: int, heads: int) -> NDArray[np.float64]:
        """Attention among the kept words of a sentence, ``(heads, words, words)``."""
        words = int(self.counts[row])
        block = self.structure[row] if heads else self.structure.data[:0]
        return block.reshape(heads, words, words).astype(np.float64)

    def joined(self, other: Encodings) -> Encodings:
        """These sentences followed by those of another with the same request."""
        return replace(
            self,
            sentences=self.sentences + other.sentences,
            spans=self.spans.joined(other.spans),
            spellings=self.spellings.joined(other.spellings),
            vectors={
                layer: rows.joined(other.vectors[layer]) for layer, rows in self.vectors.items()
            },
            structure=self.structure.joined(other.structure),
            sums=np.concatenate([self.sums, other.sums]),
            squares=np.concatenate([self.squares, other.squares]),
            sizes=np.concatenate([self.sizes, other.sizes]),
            pooled=np.concatenate([self.pooled, other.pooled]),
            rows={},
        )
