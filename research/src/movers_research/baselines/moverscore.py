"""MoverScore on unigrams: word mover's distance of unit vectors under idf weights.

Zhao et al. (2019), in the version their package calls v2: last layer, Euclidean distance of
vectors scaled to length 1, idf ``ln((N + 1) / (df + 1))`` of the pieces. Stop words stay;
punctuation and the further pieces of a word do not. Their score is one minus the distance here.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from movers.arrays import Floats, Ints, Ragged
from movers.measures.base import Measure
from movers.measures.parts.costs import pair_costs
from movers.measures.sentences import ALL_WORDS, WeightedSentences
from movers.solve.batch import Problems, emd_batch
from movers.solve.solution import Many


@dataclass(frozen=True)
class MoverScore(Measure):
    """The word mover's distance between the first pieces of words."""

    def distances(self, sentences: WeightedSentences, rows: Ints) -> Floats:
        """Return what moving the first pieces of words costs."""
        return np.asarray(self._moved(sentences, rows, plans=False).value[:, 0])

    def plan(self, sentences: WeightedSentences, rows: Ints) -> Floats:
        """Return which word of one pair went where, flat."""
        return self._moved(sentences, rows, plans=True).plan

    def _moved(self, sentences: WeightedSentences, rows: Ints, *, plans: bool) -> Many:
        assert sentences.vectors is not None and sentences.norms is not None
        lengths, threads = sentences.norms.data, self.context.threads
        scale = np.where(lengths > 0, lengths, 1).astype(np.float32)
        vectors = Ragged(sentences.vectors.data / scale[:, None], sentences.vectors.starts)
        costs = pair_costs("l2", vectors, lengths, *rows.T, threads=threads)
        weights = Ragged(self.first_pieces(sentences, np.unique(rows)), vectors.starts)
        return emd_batch(Problems.between(weights, rows, costs), threads=threads, plans=plans)

    def first_pieces(self, sentences: WeightedSentences, picked: Ints) -> Floats:
        """Return weights of all tokens, those of picked sentences that begin no word at 0.

        Where nothing else has any weight, the other pieces keep theirs.
        """
        weights = sentences.weights
        texts = [sentences.sentences[row] for row in picked]
        _, ranges = self.context.locate(texts, ALL_WORDS)
        kept = np.zeros(len(weights.data))
        offsets = np.repeat(weights.starts[picked], ranges.lengths)
        kept[offsets + ranges.data[:, 0]] = 1
        left = Ragged(weights.data * kept, weights.starts)
        totals = np.repeat(left.sums(), left.lengths)
        return np.where(totals > 0, left.data, weights.data)
