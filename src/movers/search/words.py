"""What a full comparison needs of a sentence: kept in an index, or encoded when asked for."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from movers.arrays import Ragged, boundaries
from movers.encode.encodings import Encodings, Request
from movers.encode.spellings import Spellings
from movers.measure.measured import Measured, measure
from movers.scorer import Scorer

Array = NDArray[Any]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

CACHE_BYTES = 1 << 28
"""What encoded sentences may take before those that were not used for longest are dropped."""
TOGETHER = 1024
"""Sentences compared at a time."""


@dataclass(frozen=True, slots=True)
class Words:
    """One sentence: its vector, and vectors, weights and attention of its words."""

    pooled: Array
    vectors: Array
    norms: Array
    weights: Array
    structure: Array
    sums: Array
    squares: Array
    size: int

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return self.vectors.nbytes + self.structure.nbytes + self.pooled.nbytes + 1000


def encode_words(
    scorer: Scorer, texts: Sequence[str], *, pooled: bool = True, progress: bool = False
) -> list[Words]:
    """Run distinct sentences through the model; bits do not depend on which run together.

    Parameters
    ----------
    pooled
        Whether the vectors of the sentences are wanted; without, they have no columns.
    """
    own = scorer.request
    request = Request(own.embeddings, own.heads, own.rules, pooled)
    encodings = scorer.encoder.encode(list(texts), request, progress=progress)
    measured = measure(
        encodings,
        scorer.context,
        weights=scorer.method.weights,
        cost=scorer.method.cost,
        embedding=scorer.embedding,
    )
    return [_row(measured, row) for row in range(len(texts))]


def _row(measured: Measured, row: int) -> Words:
    encodings = measured.encodings
    assert measured.vectors is not None and measured.norms is not None
    return Words(  # copies: a cache that drops the others must not keep their memory
        pooled=encodings.pooled[row].copy(),
        vectors=measured.vectors[row].copy(),
        norms=measured.norms[row].copy(),
        weights=measured.weights[row].copy(),
        structure=encodings.structure[row].copy(),
        sums=encodings.sums[row].copy(),
        squares=encodings.squares[row].copy(),
        size=int(encodings.sizes[row]),
    )


def pooled_vectors(
    scorer: Scorer, texts: Sequence[str], *, progress: bool = False
) -> NDArray[np.float32]:
    """Vectors of distinct sentences and nothing else."""
    request = Request((), (), scorer.request.rules, True)
    return scorer.encoder.encode(list(texts), request, progress=progress).pooled


class WordCache:
    """Sentences that were encoded lately, by text.

    Parameters
    ----------
    limit
        Bytes to keep.
    """

    def __init__(self, limit: int = CACHE_BYTES) -> None:
        self.limit, self.held = limit, 0
        self._words: OrderedDict[str, Words] = OrderedDict()

    def get(
        self,
        texts: Sequence[str],
        encode: Callable[[list[str]], list[Words]],
        *,
        pooled: bool = True,
    ) -> list[Words]:
        """The words of sentences; those that are not here are encoded together.

        Parameters
        ----------
        pooled
            Whether sentences without their own vector are as good as not here.
        """
        known = ((text, self._words.get(text)) for text in texts)
        found = {text: one for text, one in known if one and (len(one.pooled) or not pooled)}
        for text in found:
            self._words.move_to_end(text)
        missing = [text for text in dict.fromkeys(texts) if text not in found]
        for text, words in zip(missing, encode(missing) if missing else (), strict=True):
            self._put(text, words)
            found[text] = words
        return [found[text] for text in texts]

    def _put(self, text: str, words: Words) -> None:
        if text in self._words:
            self.held -= self._words.pop(text).nbytes
        self._words[text] = words
        self.held += words.nbytes
        while self.held > self.limit and len(self._words) > 1:
            self.held -= self._words.popitem(last=False)[1].nbytes


def distances_between(
    scorer: Scorer, words: Sequence[Words], texts: Sequence[str], pairs: Ints
) -> Floats:
    """Distances of pairs of sentences by place, bit by bit those of `Scorer.matrix`."""
    places = {text: place for place, text in reversed([*enumerate(texts)])}
    first = np.array([places[text] for text in texts], np.int64)
    measured = _measured(words, texts, scorer.embedding)
    # The scorer knows every text once, and takes a sentence and itself for the same.
    return np.asarray(scorer.solve(measured, first[pairs]).mean(axis=1))


def distances_from(
    scorer: Scorer, query: Words, text: str, words: Sequence[Words], texts: Sequence[str]
) -> Floats:
    """Distances from a sentence to others."""
    found = [np.zeros(0)]
    for low in range(0, len(words), TOGETHER):
        here = slice(low, low + TOGETHER)
        targets = np.arange(1, len(words[here]) + 1)
        pairs = np.stack([np.zeros_like(targets), targets], axis=1)
        found.append(distances_between(scorer, [query, *words[here]], [text, *texts[here]], pairs))
    return np.concatenate(found)


def _measured(words: Sequence[Words], texts: Sequence[str], embedding: int) -> Measured:
    """Sentences as the solver takes them."""
    starts = boundaries(len(one.weights) for one in words)
    encodings = Encodings(
        sentences=list(texts),
        spans=Ragged(np.zeros((int(starts[-1]), 2), np.int32), starts),
        spellings=Spellings.of([]),
        vectors={},
        structure=Ragged.from_rows([one.structure for one in words], np.float32),
        sums=np.stack([one.sums for one in words]),
        squares=np.stack([one.squares for one in words]),
        sizes=np.array([one.size for one in words], np.int64),
        pooled=np.stack([one.pooled for one in words]),
    )
    vectors = Ragged(np.concatenate([one.vectors for one in words]), starts)
    norms = Ragged(np.concatenate([one.norms for one in words]), starts)
    weights = Ragged(np.concatenate([one.weights for one in words]), starts)
    return Measured(encodings, vectors, norms, weights, np.ones(len(words)), embedding)
