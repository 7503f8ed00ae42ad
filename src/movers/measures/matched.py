"""Every word matched to the most similar one of the other sentence: BERTScore.

The source is the candidate, the target the reference. Special tokens weigh nothing
but may be matched, as in the ``bert_score`` package; its idf weights are those of a scorer fitted
on the reference sentences. For several references per candidate see `movers.references.best_of`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from movers.arrays import Floats, Ints, Ragged
from movers.measures import baseline_kernels as kernels
from movers.measures.base import Measure
from movers.measures.sentences import WeightedSentences
from movers.runtime.threads import share_out

TINY = 1e-30


@dataclass(frozen=True)
class Matches:
    """Greedy matches of pairs of sentences.

    ``forth`` and ``back`` hold the similarity of each word to its best one on the other side, a row
    per pair; ``chosen`` where that of each source word stands.
    """

    forth: Ragged
    back: Ragged
    chosen: Ragged

    def plans(self, weights: Ragged) -> Floats:
        """Plans that send each weighted source word to its best match, flat ``(n, m)`` blocks."""
        n, m = weights.lengths, self.back.lengths
        blocks = Ragged.zeros(n * m)
        local = np.arange(len(weights.data)) - np.repeat(weights.starts[:-1], n)
        cells = np.repeat(blocks.starts[:-1], n) + local * np.repeat(m, n) + self.chosen.data
        blocks.data[cells] = weights.data
        return blocks.data


def best_matches(
    sentences: WeightedSentences, rows: Ints, *, cosine: bool, threads: int | None
) -> Matches:
    """Match words by cosine or, without, by dot product."""
    vectors, norms = sentences.vectors, sentences.norms
    assert vectors is not None and norms is not None
    lengths = np.where(norms.data > 0, norms.data, 1.0)
    scale = 1 / lengths if cosine else np.ones_like(lengths)
    n, m = vectors.lengths[rows].T
    forth, back, chosen = Ragged.zeros(n), Ragged.zeros(m), Ragged.zeros(n, dtype=np.int64)
    words = vectors.data, scale, vectors.starts, np.ascontiguousarray(rows)
    room: Any = forth.starts, back.starts, forth.data, back.data, chosen.data
    work = n * m * vectors.data.shape[1]
    share_out(lambda low, high: kernels.match(low, high, *words, *room), work, threads)
    return Matches(forth, back, chosen)


@dataclass(frozen=True)
class BertScore(Measure):
    """One of the three numbers of BERTScore, as one minus the similarity.

    Precision asks how well the source (the candidate) is covered by the target (the reference),
    recall how well the target is covered by the source; F1 is their harmonic mean.
    """

    part: Literal["precision", "recall", "f1"] = "f1"

    def distances(self, sentences: WeightedSentences, rows: Ints) -> Floats:
        """Compare by cosine; the reference recipe by dot products, as the published code does."""
        matches = self._matches(sentences, rows)
        sources, targets = (sentences.weights.take(side) for side in rows.T)
        precision = Ragged(matches.forth.data * sources.data, sources.starts).sums()
        recall = Ragged(matches.back.data * targets.data, targets.starts).sums()
        both = precision + recall
        similarity = {
            "precision": precision,
            "recall": recall,
            "f1": 2 * precision * recall / np.where(both == 0, TINY, both),
        }[self.part]
        if self.context.recipe == "paper":  # rounding may lift a cosine above 1
            similarity = np.minimum(similarity, 1.0)
        return np.asarray(1.0 - similarity)

    def plan(self, sentences: WeightedSentences, rows: Ints) -> Floats:
        """Return the mass of every source word at its best match, flat."""
        return self._matches(sentences, rows).plans(sentences.weights.take(rows[:, 0]))

    def _matches(self, sentences: WeightedSentences, rows: Ints) -> Matches:
        paper, threads = self.context.recipe == "paper", self.context.threads
        return best_matches(sentences, rows, cosine=paper, threads=threads)
