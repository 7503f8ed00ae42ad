"""Full comparisons of sentences, wherever their words come from."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from movers.arrays import Floats, Ints, Singles
from movers.encode.encodings import Request
from movers.measures.sentences import WeightedSentences, joined
from movers.scorer import Scorer

TOGETHER = 1024
"""Sentences compared at a time."""


def pooled_vectors(scorer: Scorer, texts: Sequence[str], *, progress: bool = False) -> Singles:
    """Return vectors of distinct sentences and nothing else."""
    request = Request((), (), scorer.measure.requirements.rules, True)
    return scorer.encoder.encode(list(texts), request, progress=progress).pooled


def distances_between(scorer: Scorer, words: WeightedSentences, pairs: Ints) -> Floats:
    """Return distances of pairs of sentences by place, bit by bit those of `Scorer.matrix`."""
    texts = words.sentences
    places = {text: place for place, text in reversed([*enumerate(texts)])}
    first = np.array([places[text] for text in texts], np.int64)
    # The scorer knows every text once, and takes a sentence and itself for the same.
    return scorer.between(words, first[pairs])


def from_first(count: int) -> Ints:
    """Return pairs of the first of so many sentences with every other."""
    return np.stack([np.zeros(count - 1, np.int64), np.arange(1, count)], axis=1)


def distances_from(
    scorer: Scorer,
    query: WeightedSentences,
    rows: Ints,
    read: Callable[[Ints], WeightedSentences],
) -> Floats:
    """Return distances from a sentence to others, which are read a few at a time."""
    found = [np.zeros(0)]
    for low in range(0, len(rows), TOGETHER):
        words = joined([query, read(rows[low : low + TOGETHER])])
        found.append(distances_between(scorer, words, from_first(len(words.sentences))))
    return np.concatenate(found)
