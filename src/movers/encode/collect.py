"""What a request keeps of the sentences that run through a model, written where it stays."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Protocol

import numpy as np

from movers.arrays import Ints, Ragged, Singles, places
from movers.encode.encodings import MEAN_HEAD, Encodings, Request
from movers.encode.length_batches import Batch
from movers.encode.pooling import POOLINGS
from movers.encode.spellings import Spellings
from movers.encode.subword_kernels import PooledAttention, WordRanges, pool_attention
from movers.encode.tokens import Tokens, WordFinder


def allocate(
    sentences: list[str], tokens: Tokens, finder: WordFinder, request: Request, dimension: int
) -> Encodings:
    """Make room for exactly what will be kept, so that memory never doubles on the way."""
    counts, heads = tokens.words.lengths, len(request.heads)
    paper = request.rules.recipe == "paper"
    return Encodings(
        sentences=sentences,
        spans=tokens.spans,
        spellings=Spellings.cut(finder.names, tokens.ids, tokens.words),
        vectors={
            layer: Ragged.zeros(counts, (dimension,), np.float32) for layer in request.embeddings
        },
        structure=Ragged.zeros(heads * counts**2, dtype=np.float32),
        sums=np.zeros((len(sentences), heads)),
        squares=np.zeros((len(sentences), heads)),
        sizes=counts.copy() if paper else tokens.ids.lengths,
        pooled=np.zeros((len(sentences), dimension * request.pooled), np.float32),
    )


class AnyCollector(Protocol):
    """Takes from every batch what one request names."""

    request: Request

    def begin(self, batch: Any) -> None:
        """Turn to the next batch."""

    def take_states(self, states: dict[int, Any]) -> None:
        """Keep the vectors of words, and of sentences, from the hidden states of layers."""

    def take_attention(self, layer: int, matrices: Any) -> None:
        """Keep the attention among words from the matrices of a layer."""

    def finish(self, courier: ThreadPoolExecutor) -> list[Future[None]]:
        """Send off what was gathered; returns what to wait for."""


class Collector:
    """Keeps what one request names of the sentences ``low .. high - 1``, written at once.

    Parameters
    ----------
    request, tokens, out
        What to keep, the words, and the encodings to fill.
    low, high
        The sentences.
    pooling
        Row of `movers.encode.pooling.POOLINGS`.
    """

    def __init__(
        self,
        request: Request,
        tokens: Tokens,
        out: Encodings,
        low: int,
        high: int,
        pooling: str,
    ) -> None:
        self.request, self.pooling = request, pooling
        words, cells = tokens.words.starts[low : high + 1], out.structure.starts[low : high + 1]
        data = tokens.words.data[words[0] : words[-1]].astype(np.int64)
        self.most = 1
        if request.rules.subwords == "mean" and len(data):
            self.most = int((data[:, 1] - data[:, 0]).max())
        self.located = WordRanges(words - words[0], data, self.most)
        self.cell_starts = cells - cells[0]
        self.vectors = {
            layer: rows.data[words[0] : words[-1]] for layer, rows in out.vectors.items()
        }
        self.structure = out.structure.data[cells[0] : cells[-1]]
        self.sums, self.squares = out.sums[low:high], out.squares[low:high]
        self.pooled = out.pooled[low:high]

    def begin(self, batch: Batch) -> None:
        """Turn to the next batch, its rows counted from ``low``."""
        self.batch = batch
        starts = self.located.starts
        counts = starts[batch.rows + 1] - starts[batch.rows]
        self.numbers = places(starts, batch.rows)
        first, end = self.located.ranges[self.numbers].T
        self.first, self.sizes = first + np.repeat(batch.first, counts), end - first

    def take_states(self, states: dict[int, Any]) -> None:
        """Keep the vectors of words, and of sentences, from the hidden states of layers."""
        for layer, room in self.vectors.items():
            room[self.numbers] = self._of_words(states[layer])
        if self.request.pooled:
            pool, last = POOLINGS[self.pooling], states[max(states)]
            self.pooled[self.batch.rows] = pool(last, self.batch.first, self.batch.lengths)

    def _of_words(self, states: Singles) -> Singles:
        """Return vectors of words from those of tokens: that of the first piece, or the mean."""
        total: Singles = states[self.first]
        if self.most == 1:
            return total
        rest = np.zeros_like(total)
        for piece in range(1, self.most):
            longer = np.flatnonzero(self.sizes > piece)
            rest[longer] += states[self.first[longer] + piece]
        return np.asarray((total + rest) / self.sizes[:, None].astype(np.float32))

    def take_attention(self, layer: int, matrices: Any) -> None:
        """Keep the attention among words from the matrices of a layer."""
        slots = [slot for slot, head in enumerate(self.request.heads) if head[0] == layer]
        if slots:
            heads = [self.request.heads[slot][1] for slot in slots]
            self._cut(picked(matrices, heads, np.stack), np.array(slots))

    def _cut(self, matrices: Singles, slots: Ints) -> None:
        kept = PooledAttention(self.cell_starts, self.structure, self.sums, self.squares)
        given = np.ascontiguousarray(matrices)
        row = np.empty(given.shape[3], np.float32)
        paper = self.request.rules.recipe == "paper"
        pool_attention(
            given, self.batch.genuine, self.batch.rows, slots, self.located, kept, paper, row
        )

    def finish(self, courier: ThreadPoolExecutor) -> list[Future[None]]:
        """Everything has its place already."""
        return []


def picked(matrices: Any, heads: list[int], stack: Callable[[list[Any], int], Any]) -> Any:
    """Return the matrices of some heads of a layer; of `MEAN_HEAD` the mean of all."""
    if heads == [*range(1, matrices.shape[1] + 1)]:
        return matrices
    if MEAN_HEAD not in heads:
        return matrices[:, [head - 1 for head in heads]]
    mean = matrices.mean(1)
    return stack([matrices[:, head - 1] if head else mean for head in heads], 1)
