"""MoverScore on unigrams: word mover's distance of unit vectors under idf weights.

Zhao et al. (2019), in the version their package calls v2: last layer, Euclidean distance of
vectors scaled to length 1, idf ``ln((N + 1) / (df + 1))`` of the pieces. Stop words stay;
punctuation and the further pieces of a word do not. Their score is one minus the distance here.
"""

from __future__ import annotations

import numpy as np

from movers.arrays import Floats, Ints, Ragged
from movers.baselines import Scores
from movers.measure.costs import pair_costs
from movers.measure.measured import Context, Measured
from movers.measure.weights import ALL_WORDS
from movers.solve.batch import emd_batch
from movers.solve.problems import Problems


def distances(measured: Measured, rows: Ints, context: Context, *, plans: bool = False) -> Scores:
    """Find the word mover's distance between the first pieces of words."""
    assert measured.vectors is not None and measured.norms is not None
    sources, targets = rows.T
    lengths = measured.norms.data
    units = measured.vectors.data / np.where(lengths > 0, lengths, 1).astype(np.float32)[:, None]
    vectors = Ragged(units, measured.vectors.starts)
    costs = pair_costs("l2", vectors, lengths, sources, targets, threads=context.threads)
    weights = Ragged(first_pieces(measured, np.unique(rows), context), vectors.starts)
    solved = emd_batch(Problems.between(weights, rows, costs), threads=context.threads, plans=plans)
    return Scores(solved.value[:, 0], solved.plan if plans else None)


def first_pieces(measured: Measured, picked: Ints, context: Context) -> Floats:
    """Weights of all tokens, those of the picked sentences that begin no word at 0.

    Where nothing else has any weight, the other pieces keep theirs.
    """
    weights = measured.weights
    sentences = [measured.encodings.sentences[row] for row in picked]
    _, ranges = context.locate(sentences, ALL_WORDS)
    kept = np.zeros(len(weights.data))
    offsets = np.repeat(weights.starts[picked], ranges.lengths)
    kept[offsets + ranges.data[:, 0]] = 1
    left = Ragged(weights.data * kept, weights.starts)
    totals = np.repeat(left.sums(), left.lengths)
    return np.where(totals > 0, left.data, weights.data)
