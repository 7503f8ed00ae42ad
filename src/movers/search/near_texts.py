"""Which texts longer than the model lie near each other, exactly: sentences bound their distance.

The distance of two texts is at least what their sentences would cost if each went to the nearest
one of the other text. The longest sentences of a text, together a few times the threshold of its
words, tell of most others that they are too far; what is left is compared.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from movers.arrays import Floats, Ints, Singles
from movers.documents.splitting import Document
from movers.runtime.progress import progress_bar
from movers.scorer import Scorer
from movers.search.vectors import unit_vectors

PROBES = 4.0
"""Share of the words of a text in the sentences that are looked at first, in thresholds."""
BLOCK = 256
"""Sentences compared with all others at once."""
SLACK = 1e-5
"""Rounding of single precision."""


def near_texts(
    scorer: Scorer,
    texts: Mapping[int, str],
    threshold: float,
    vectors: Callable[[list[str]], Singles],
    *,
    progress: bool = False,
) -> list[tuple[int, int, float]]:
    """Return all pairs of texts, by their numbers, that lie within a threshold, with distances.

    ``vectors`` gives the vectors of sentences.
    """
    numbers, given = list(texts), list(texts.values())
    far = scorer.far
    if len(given) < 2 or far is None:
        return []
    documents = [scorer.document(text) for text in given]
    sentences = [one.text for document in documents for one in document.sentences]
    units, _ = unit_vectors(vectors(sentences))
    candidates = _candidates(documents, units, far, threshold, progress=progress).tolist()
    pairs = [(given[a], given[b]) for a, b in candidates]
    distances = scorer.distances(pairs, progress=progress) if pairs else np.zeros(0)
    return [
        (numbers[a], numbers[b], distance)
        for (a, b), distance in zip(candidates, distances.tolist(), strict=True)
        if distance <= threshold
    ]


def _candidates(
    documents: Sequence[Document], vectors: Singles, far: float, threshold: float, *, progress: bool
) -> Ints:
    """Return pairs of documents that their longest sentences do not tell apart."""
    counts = [len(document.sentences) for document in documents]
    owner = np.repeat(np.arange(len(documents)), counts)
    words = np.array([one.words for document in documents for one in document.sentences], float)
    totals = np.bincount(owner, words, minlength=len(documents)).astype(np.float64)
    probes = _probes(owner, words, totals, threshold / far)
    starts = np.cumsum([0, *counts[:-1]])
    cost = np.zeros((len(documents), len(documents)))
    with progress_bar("looking for", "sentences", len(probes), progress=progress) as bar:
        for low in range(0, len(probes), BLOCK):
            some = probes[low : low + BLOCK]
            nearest = _nearest(vectors[some], vectors, starts, far)
            np.add.at(cost, owner[some], words[some][:, None] * nearest)
            bar.update(len(some))
    lower = (cost + cost.T) / (totals[:, None] + totals)
    near = np.triu(lower <= threshold + SLACK, 1)
    return np.argwhere(near)


def _probes(owner: Ints, words: Floats, totals: Floats, share: float) -> Ints:
    """Return the longest sentences of every document, so many thresholds of its words."""
    order = np.lexsort((-words, owner))
    before = np.cumsum(words[order]) - words[order]
    first = np.r_[True, np.diff(owner[order]) != 0]
    begun = np.maximum.accumulate(np.where(first, before, 0))
    wanted = np.minimum(1.0, PROBES * share + 0.05) * totals[owner[order]]
    return np.asarray(order[before - begun < wanted])


def _nearest(some: Singles, vectors: Singles, starts: Ints, far: float) -> Floats:
    """Return what each sentence is at least apart from the nearest one of every document."""
    cosines = np.maximum.reduceat(some @ vectors.T, starts, axis=1)
    return np.clip(1.0 - cosines.astype(np.float64), 0.0, far)
