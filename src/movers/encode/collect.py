"""Sentences that run through a model together, and what a request keeps of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from movers.arrays import Bools, Ints, Ragged, Singles, places
from movers.encode.encodings import MEAN_HEAD, Encodings, Request, Spellings
from movers.encode.kernels import pool_attention
from movers.encode.tokens import Text, WordFinder


@dataclass(frozen=True)
class BatchLimits:
    """How large a batch may be.

    ``tokens`` count padding; ``attention`` is tokens times the length of a sentence. Sentences
    shorter than ``shortest`` are padded, and those above ``longest_padded`` share a batch with none
    of another length. A batch ends before its ``padding`` exceeds that number of tokens.
    """

    tokens: int
    attention: int
    padding: int
    shortest: int
    longest_padded: int

    def batches(self, lengths: Ints, most: int | None = None) -> Iterator[Ints]:
        """Rows in order of length, as many at a time as the limits allow, and at most ``most``."""
        order = np.argsort(lengths, kind="stable")
        widths = np.maximum(lengths[order], self.shortest)
        start = 0
        while start < len(order):
            width = int(widths[start])
            ahead = widths[start : start + min(max(1, self.tokens // width), most or len(order))]
            sizes = ahead * np.arange(1, len(ahead) + 1)
            fits = (sizes <= self.tokens) & (sizes * ahead <= self.attention)
            fits &= sizes - np.cumsum(ahead) <= self.padding
            fits &= (ahead <= self.longest_padded) | (ahead == width)
            fits[0] = True
            count = int(fits.argmin()) or len(fits)
            yield order[start : start + count]
            start += count


@dataclass(frozen=True)
class Batch:
    """Sentences to run through a model together, shortest first.

    ``rows`` are their numbers and ``lengths`` their tokens, ``(batch,)``. Hidden states lie in one
    matrix, ``(rows of tokens, dimension)``, that of the first token of each sentence in the row
    that ``first`` says. ``genuine`` tells which tokens are no padding, ``(batch, width)``; matrices
    of attention are as wide. ``vectors`` are what goes into a model that is given them, token by
    token.
    """

    rows: Ints
    lengths: Ints
    first: Ints
    genuine: Bools
    vectors: Singles | None

    def tokens(self, states: Any) -> Singles:
        """Return the states of all tokens, one sentence after another, without padding."""
        ends = np.cumsum(self.lengths)
        shifts = np.repeat(self.first - ends + self.lengths, self.lengths)
        return self.array(states)[np.arange(len(shifts)) + shifts]

    def array(self, values: Any) -> Singles:
        """Return what a model has returned, as an array."""
        return np.asarray(values, np.float32)


def _mean(states: Singles, first: Ints, lengths: Ints) -> Singles:
    """Term after term, so that no bit depends on the company of a sentence."""
    total = np.zeros((len(first), states.shape[1]), np.float32)
    for place in range(lengths.max(initial=0)):
        longer = np.flatnonzero(lengths > place)
        total[longer] += states[first[longer] + place]
    return np.asarray(total / lengths[:, None].astype(np.float32))


def _max(states: Singles, first: Ints, lengths: Ints) -> Singles:
    ranges = zip(first, first + lengths, strict=True)
    return np.stack([states[low:high].max(axis=0) for low, high in ranges])


POOLINGS: dict[str, Callable[[Singles, Ints, Ints], Singles]] = {
    "mean": _mean,
    "cls": lambda states, first, lengths: states[first],
    "max": _max,
    "lasttoken": lambda states, first, lengths: states[first + lengths - 1],
}
"""From the hidden states of the tokens of a batch to one vector for every sentence.

They take a matrix of states, the row of every sentence's first token, and its number of tokens,
special ones included. `DEVICE_POOLINGS` do the same on a GPU.
"""


def allocate(
    sentences: Sequence[str], text: Text, finder: WordFinder, request: Request, dimension: int
) -> tuple[Encodings, Ragged]:
    """Make room for exactly what will be kept, so that memory never doubles on the way.

    Returns encodings to be filled, and the token ranges of the words that are kept.
    """
    words, spans = finder.find(text)
    counts, heads = words.lengths, len(request.heads)
    paper = request.rules.recipe == "paper"
    room = Encodings(
        sentences=list(sentences),
        spans=spans,
        spellings=Spellings.cut(finder.names, text.ids, words),
        vectors={
            layer: Ragged.zeros(counts, (dimension,), np.float32) for layer in request.embeddings
        },
        structure=Ragged.zeros(heads * counts**2, dtype=np.float32),
        sums=np.zeros((len(sentences), heads)),
        squares=np.zeros((len(sentences), heads)),
        sizes=counts.copy() if paper else text.ids.lengths,
        pooled=np.zeros((len(sentences), dimension * request.pooled), np.float32),
    )
    return room, words


class Collector:
    """Keeps what one request names of the sentences ``low .. high - 1``, written at once.

    Parameters
    ----------
    request, words, out
        What to keep, the token ranges of words, and the encodings to fill.
    low, high
        The sentences.
    pooling
        Row of `POOLINGS`.
    """

    def __init__(
        self,
        request: Request,
        words: Ragged,
        out: Encodings,
        low: int,
        high: int,
        pooling: str,
    ) -> None:
        self.request, self.pooling, self.span = request, pooling, (low, high)
        starts, cells = words.starts[low : high + 1], out.structure.starts[low : high + 1]
        data = words.data[starts[0] : starts[-1]].astype(np.int64)
        self.most = 1
        if request.rules.subwords == "mean" and len(data):
            self.most = int((data[:, 1] - data[:, 0]).max())
        self.located = starts - starts[0], data, self.most
        self.cell_starts = cells - cells[0]
        self.vectors = {
            layer: rows.data[starts[0] : starts[-1]] for layer, rows in out.vectors.items()
        }
        self.structure = out.structure.data[cells[0] : cells[-1]]
        self.sums, self.squares = out.sums[low:high], out.squares[low:high]
        self.pooled = out.pooled[low:high]

    def begin(self, batch: Batch) -> None:
        """Turn to the next batch, its rows counted from ``low``."""
        self.batch = batch
        starts, ranges, _ = self.located
        counts = starts[batch.rows + 1] - starts[batch.rows]
        self.numbers = places(starts, batch.rows)
        first, end = ranges[self.numbers].T
        self.first, self.sizes = first + np.repeat(batch.first, counts), end - first

    def take_states(self, states: dict[int, Any]) -> None:
        """Keep the vectors of words, and of sentences, from the hidden states of layers."""
        for layer, room in self.vectors.items():
            total: Singles = states[layer][self.first]
            if self.most > 1:  # the mean of all pieces, not the first
                rest = np.zeros_like(total)
                for piece in range(1, self.most):
                    longer = np.flatnonzero(self.sizes > piece)
                    rest[longer] += states[layer][self.first[longer] + piece]
                total = (total + rest) / self.sizes[:, None].astype(np.float32)
            room[self.numbers] = total
        if self.request.pooled:
            pool, last = POOLINGS[self.pooling], states[max(states)]
            self.pooled[self.batch.rows] = pool(last, self.batch.first, self.batch.lengths)

    def take_attention(self, layer: int, matrices: Any) -> None:
        """Keep the attention among words from the matrices of a layer."""
        slots = [slot for slot, head in enumerate(self.request.heads) if head[0] == layer]
        if slots:
            heads = [self.request.heads[slot][1] for slot in slots]
            given = np.ascontiguousarray(picked(matrices, heads, np.stack))
            kept = self.cell_starts, self.structure, self.sums, self.squares
            paper, row = self.request.rules.recipe == "paper", np.empty(given.shape[3], np.float32)
            batch = self.batch.genuine, self.batch.rows, np.array(slots)
            pool_attention(given, *batch, self.located, kept, paper, row)


def picked(matrices: Any, heads: list[int], stack: Callable[[list[Any], int], Any]) -> Any:
    """Return the matrices of some heads of a layer; of `MEAN_HEAD` the mean of all."""
    if heads == [*range(1, matrices.shape[1] + 1)]:
        return matrices
    if MEAN_HEAD not in heads:
        return matrices[:, [head - 1 for head in heads]]
    mean = matrices.mean(1)
    return stack([matrices[:, head - 1] if head else mean for head in heads], 1)
