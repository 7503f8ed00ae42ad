"""DynaMax: sentences as fuzzy sets of words (Zhelezniak et al., 2019)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from movers.arrays import Floats, Ints, Ragged
from movers.measures.base import Measure
from movers.measures.matched import best_matches
from movers.measures.sentences import WeightedSentences, renumbered

TINY = 1e-30


@dataclass(frozen=True)
class DynaMax(Measure):
    """DynaMax-Jaccard: fuzzy sets of words over a universe made of the two sentences."""

    def distances(self, sentences: WeightedSentences, rows: Ints) -> Floats:
        """Compare how far each sentence contains the words of both.

        A sentence contains a word as far as the largest dot product of its own words with it, if
        that is positive. The similarity is the Jaccard index of the two memberships.
        """
        picked, pairs = renumbered(rows)
        itself, threads = np.stack([picked, picked], axis=1), self.context.threads
        within = best_matches(sentences, itself, cosine=False, threads=threads)[0]
        forth, back, _ = best_matches(sentences, rows, cosine=False, threads=threads)
        common, whole = np.zeros(len(rows)), np.zeros(len(rows))
        for side, across in zip(pairs.T, (forth, back), strict=True):
            inside = np.maximum(within.take(side).data, 0.0)
            outside = np.maximum(across.data, 0.0)
            common += Ragged(np.minimum(inside, outside), across.starts).sums()
            whole += Ragged(np.maximum(inside, outside), across.starts).sums()
        return np.asarray(1.0 - common / (whole + TINY))
