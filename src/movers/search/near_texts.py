"""Which texts longer than the model lie near each other, exactly: sentences bound their distance.

The distance of two texts is at least what their sentences would cost if each went to the nearest
one of the other text. The longest sentences of a text, together a few times the threshold of its
words, tell of most others that they are too far; what is left is compared.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from movers.arrays import Floats, Ints, Singles
from movers.documents.splitting import Document
from movers.encode.encodings import Request
from movers.runtime.progress import progress_bar
from movers.scorer import Scorer
from movers.search.corpus import distinct
from movers.search.index import Index
from movers.search.mining import Blocks, Pair, blocks_of

PROBES = 4.0
"""Share of the words of a text in the sentences that are looked at first, in thresholds."""
BLOCK = 256
"""Sentences compared with all others at once."""
SLACK = 1e-5
"""Rounding of single precision."""


def near_texts(
    scorer: Scorer, texts: Mapping[int, str], threshold: float, *, progress: bool = False
) -> list[Pair]:
    """All pairs of texts, by their numbers, at a distance of at most the threshold."""
    numbers, given = list(texts), list(texts.values())
    if len(given) < 2 or scorer.far is None:
        return []
    documents = [scorer.document(text) for text in given]
    candidates = _candidates(scorer, documents, threshold, progress=progress)
    pairs = [(given[a], given[b]) for a, b in candidates.tolist()]
    distances = scorer.distances(pairs, progress=progress) if pairs else np.zeros(0)
    return [
        Pair(numbers[a], numbers[b], distance, given[a], given[b])
        for (a, b), distance in zip(candidates.tolist(), distances.tolist(), strict=True)
        if distance <= threshold
    ]


def long_texts(index: Index, lines: Iterable[str]) -> tuple[list[str], dict[int, str]]:
    """All texts of a corpus, and those of them that are compared sentence by sentence, by number.

    Those that an index of shorter ones does not hold come behind its own.
    """
    scorer, texts = index.scorer, index.sentences
    places = {text: number for number, text in enumerate(texts)}
    for text in distinct(lines):
        if text not in places and scorer.takes_sentences(text):
            places[text] = len(texts)
            texts.append(text)
    return texts, {number: text for text, number in places.items() if scorer.takes_sentences(text)}


def with_texts(blocks: Blocks, lines: Iterable[str]) -> Blocks:
    """Mine the near pairs of a corpus, those of longer texts in a block of their own, the last."""

    def mined(
        index: Index, threshold: float, *, start: int = 0, progress: bool = False
    ) -> Iterator[list[Pair]]:
        _, long = long_texts(index, lines)
        for pairs in blocks(index, threshold, start=start, progress=progress):
            yield [pair for pair in pairs if pair.first not in long and pair.second not in long]
        if long and start <= len(blocks_of(index)):
            yield near_texts(index.scorer, long, threshold, progress=progress)

    return mined


def _candidates(
    scorer: Scorer, documents: Sequence[Document], threshold: float, *, progress: bool
) -> Ints:
    """Pairs of documents that their longest sentences do not tell apart."""
    sentences = [one.text for document in documents for one in document.sentences]
    each = list(dict.fromkeys(sentences))
    encoded = scorer.encoder.encode(each, Request(pooled=True), progress=progress)
    vectors = encoded.pooled[encoded.numbers(sentences)]
    vectors = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    counts = [len(document.sentences) for document in documents]
    owner = np.repeat(np.arange(len(documents)), counts)
    words = np.array([one.words for document in documents for one in document.sentences], float)
    totals = np.bincount(owner, words, minlength=len(documents)).astype(np.float64)
    probes = _probes(owner, words, totals, threshold / (scorer.far or 1.0))
    starts = np.cumsum([0, *counts[:-1]])
    cost = np.zeros((len(documents), len(documents)))
    with progress_bar("looking for", "sentences", len(probes), progress=progress) as bar:
        for low in range(0, len(probes), BLOCK):
            some = probes[low : low + BLOCK]
            nearest = _nearest(vectors[some], vectors, starts, scorer.far or 1.0)
            np.add.at(cost, owner[some], words[some][:, None] * nearest)
            bar.update(len(some))
    lower = (cost + cost.T) / (totals[:, None] + totals)
    near = np.triu(lower <= threshold + SLACK, 1)
    return np.argwhere(near)


def _probes(owner: Ints, words: Floats, totals: Floats, share: float) -> Ints:
    """The longest sentences of every document until they have so many thresholds of its words."""
    order = np.lexsort((-words, owner))
    before = np.cumsum(words[order]) - words[order]
    first = np.r_[True, np.diff(owner[order]) != 0]
    begun = np.maximum.accumulate(np.where(first, before, 0))
    wanted = np.minimum(1.0, PROBES * share + 0.05) * totals[owner[order]]
    return np.asarray(order[before - begun < wanted])


def _nearest(some: Singles, vectors: Singles, starts: Ints, far: float) -> Floats:
    """What each sentence is at least apart from the nearest one of every document."""
    cosines = np.maximum.reduceat(some @ vectors.T, starts, axis=1)
    return np.clip(1.0 - cosines.astype(np.float64), 0.0, far)
