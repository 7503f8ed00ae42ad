"""What a full comparison needs of a sentence: kept in an index, or encoded when asked for."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence

import numpy as np

from movers.arrays import Floats, Ints, Singles
from movers.encode.encodings import Request
from movers.measure.measured import Bags, joined, measure
from movers.scorer import Scorer

CACHE_BYTES = 1 << 28
"""What encoded sentences may take before those that were not used for longest are dropped."""
TOGETHER = 1024
"""Sentences compared at a time."""


def encode_words(
    scorer: Scorer, texts: Sequence[str], *, pooled: bool = True, progress: bool = False
) -> list[Bags]:
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
    # copies: a cache that drops the others must not keep their memory
    return [measured.take(np.array([row])) for row in range(len(texts))]


def pooled_vectors(scorer: Scorer, texts: Sequence[str], *, progress: bool = False) -> Singles:
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
        self._words: OrderedDict[str, Bags] = OrderedDict()

    def get(
        self,
        texts: Sequence[str],
        encode: Callable[[list[str]], list[Bags]],
        *,
        pooled: bool = True,
    ) -> list[Bags]:
        """The words of sentences; those that are not here are encoded together.

        Parameters
        ----------
        pooled
            Whether sentences without their own vector are as good as not here.
        """
        known = ((text, self._words.get(text)) for text in texts)
        found = {text: one for text, one in known if one and (one.pooled.size or not pooled)}
        for text in found:
            self._words.move_to_end(text)
        missing = [text for text in dict.fromkeys(texts) if text not in found]
        for text, words in zip(missing, encode(missing) if missing else (), strict=True):
            self._put(text, words)
            found[text] = words
        return [found[text] for text in texts]

    def _put(self, text: str, words: Bags) -> None:
        if text in self._words:
            self.held -= _nbytes(self._words.pop(text))
        self._words[text] = words
        self.held += _nbytes(words)
        while self.held > self.limit and len(self._words) > 1:
            self.held -= _nbytes(self._words.popitem(last=False)[1])


def _nbytes(words: Bags) -> int:
    """About what a sentence takes."""
    assert words.vectors is not None
    arrays = words.vectors.data, words.structure.data, words.pooled
    return sum(array.nbytes for array in arrays) + 1000


def distances_between(scorer: Scorer, words: Bags, pairs: Ints) -> Floats:
    """Distances of pairs of sentences by place, bit by bit those of `Scorer.matrix`."""
    texts = words.sentences
    places = {text: place for place, text in reversed([*enumerate(texts)])}
    first = np.array([places[text] for text in texts], np.int64)
    # The scorer knows every text once, and takes a sentence and itself for the same.
    return np.asarray(scorer.solve(words, first[pairs]).mean(axis=1))


def distances_from(scorer: Scorer, query: Bags, rows: Ints, read: Callable[[Ints], Bags]) -> Floats:
    """Distances from a sentence to others, which are read a few at a time."""
    found = [np.zeros(0)]
    for low in range(0, len(rows), TOGETHER):
        words = joined([query, read(rows[low : low + TOGETHER])])
        targets = np.arange(1, len(words.sentences))
        pairs = np.stack([np.zeros_like(targets), targets], axis=1)
        found.append(distances_between(scorer, words, pairs))
    return np.concatenate(found)
