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
from movers.measures.base import Measure
from movers.measures.parts import kernels
from movers.measures.sentences import WeightedSentences
from movers.runtime.threads import share_out

TINY = 1e-30


def best_matches(
    sentences: WeightedSentences, rows: Ints, *, cosine: bool, threads: int | None
) -> tuple[Ragged, Ragged, Ragged]:
    """Match every word of pairs to its best one, by cosine or, without, by dot product.

    Returns
    -------
    Similarity of each source word to its best one, and of each target word, a row per pair; and
    where that of each source word stands.
    """
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
    return forth, back, chosen


@dataclass(frozen=True)
class BertScore(Measure):
    """One of the three numbers of BERTScore, as one minus the similarity.

    Precision asks how well the source (the candidate) is covered by the target (the reference),
    recall how well the target is covered by the source; F1 is their harmonic mean.
    """

    part: Literal["precision", "recall", "f1"] = "f1"

    def distances(self, sentences: WeightedSentences, rows: Ints) -> Floats:
        """Compare by cosine; the reference recipe by dot products, as the published code does."""
        forth, back, _ = self._matches(sentences, rows)
        sources, targets = (sentences.weights.take(side) for side in rows.T)
        precision = Ragged(forth.data * sources.data, sources.starts).sums()
        recall = Ragged(back.data * targets.data, targets.starts).sums()
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
        _, back, chosen = self._matches(sentences, rows)
        weights = sentences.weights.take(rows[:, 0]).data
        plan = np.zeros((len(weights), len(back.data)))
        plan[np.arange(len(weights)), chosen.data] = weights
        return plan.ravel()

    def _matches(self, sentences: WeightedSentences, rows: Ints) -> tuple[Ragged, Ragged, Ragged]:
        paper, threads = self.context.recipe == "paper", self.context.threads
        return best_matches(sentences, rows, cosine=paper, threads=threads)
