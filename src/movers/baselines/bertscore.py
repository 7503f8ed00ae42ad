"""BERTScore: every piece greedily matched to the most similar one of the other sentence.

The source is the candidate, the target the reference. Special tokens weigh nothing but may be
matched, as in the ``bert_score`` package; its idf weights are those of a scorer fitted on the
reference sentences. For several references per candidate see `movers.references.best_of`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from movers.arrays import Floats, Ints, Ragged
from movers.baselines import Scores
from movers.baselines.matching import best_matches, matched_plans
from movers.measure.measured import Context, Measured

TINY = 1e-30


@dataclass(frozen=True)
class BertScore:
    """One of the three numbers of BERTScore, as one minus the similarity.

    Precision asks how well the source (the candidate) is covered by the target (the reference),
    recall how well the target is covered by the source; F1 is their harmonic mean.
    """

    part: Literal["precision", "recall", "f1"]

    def distances(
        self, measured: Measured, rows: Ints, context: Context, *, plans: bool = False
    ) -> Scores:
        """Compare by cosine; the reference recipe by dot products, as the published code does."""
        paper = context.recipe == "paper"
        matches = best_matches(measured, rows, cosine=paper, threads=context.threads)
        sources, targets = (measured.weights.take(side) for side in rows.T)
        precision, recall = _mean(matches.forth, sources), _mean(matches.back, targets)
        similarity = {
            "precision": precision,
            "recall": recall,
            "f1": 2 * precision * recall / _safe(precision + recall),
        }[self.part]
        shown = matched_plans(matches, sources, targets.lengths) if plans else None
        # Rounding may lift a cosine above 1; dot products have no such bound.
        return Scores(1.0 - (np.minimum(similarity, 1.0) if paper else similarity), shown)


def _mean(similarities: Ragged, weights: Ragged) -> Floats:
    return np.asarray(replace(weights, data=similarities.data * weights.data).sums())


def _safe(total: Floats) -> Floats:
    return np.where(total == 0, TINY, total)


precision, recall, f1 = BertScore("precision"), BertScore("recall"), BertScore("f1")
