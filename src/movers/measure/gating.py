"""How much structure should weigh.

Beside a cost, by the factor k = C_M / A_MSE, which puts both on one scale. In the default measure,
by a price for what the plan of the words breaks, on top of the distance of two sentence vectors:

    d = s x + s g c S,   x = (1 - cos) / s,   g = max(0, 1 - x)**p

``cos`` compares the vectors of the sentences, and ``s`` is what unrelated sentences are apart by
it, so x says how far two sentences are on the way from the same to unrelated. The plan P moves
words at the least cost; ``Q = P * max(0, 1 - C / mean C)`` trusts a move the less, the nearer its
cost is to that of any two words. S is what the structures charge for Q, held against their mean
squared difference layer by layer,

    S = mean over layers of (sum over heads of E(Q) / sum over heads of A_MSE),

so that broken relations count where sentences agree, and between words that agree.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from movers.arrays import Floats, Ints, Ragged, Singles
from movers.encode.encodings import Encodings
from movers.measure.measured import Bags

CONSTANT = 1e-12
"""Below this share of the mean squares, two structures differ by rounding only."""
PRICE = 1.25
"""The factor c: what a wholly broken structure costs, in units of s."""
SHARPNESS = 14
"""The exponent p: how soon the gate closes as sentences drift apart."""
NEAR = 128
"""Pairs of sentence vectors that stay near the processor together."""


def structure_errors(sentences: Bags | Encodings, sources: Ints, targets: Ints) -> Floats:
    """Mean squared difference A_MSE of two structures over all their entries, ``(pairs, heads)``.

    ``mean over i, i', j, j' of (A[i, i'] - B[j, j'])**2``, which needs only the sum and the sum
    of squares of each. A difference that is rounding noise counts as exactly 0.
    """
    cells = sentences.sizes.astype(float)[:, None] ** 2
    squares = sentences.squares / np.maximum(cells, 1)
    means = sentences.sums / np.maximum(cells, 1)
    size = squares[sources] + squares[targets]
    errors = size - 2 * means[sources] * means[targets]
    return np.where(errors > CONSTANT * size, errors, 0.0)


def structure_scales(mean_costs: Floats, errors: Floats) -> Floats:
    """The factor k = C_M / A_MSE that puts structure on the scale of the cost.

    Where both structures are one and the same constant (one word on each side), A_MSE is 0. Then
    they agree under every plan, as any two equal structures do under some plan, and the structural
    part is 0 whatever the factor; 0 is also the limit as two equal structures turn constant.
    """
    positive = np.where(errors > 0, errors, 1.0)
    return np.where(errors > 0, mean_costs[:, None] / positive, 0.0)


def sentence_distances(pooled: Singles, rows: Ints) -> Floats:
    """One minus the cosine of the vectors of two sentences, for every pair.

    Half the squared distance of unit vectors: 0 exactly for the same vector, never below.
    """
    out = np.empty(len(rows))
    for start in range(0, len(rows), NEAR):
        place = slice(start, start + NEAR)
        vectors = pooled[rows[place]].astype(np.float64)
        lengths = np.sqrt(np.square(vectors).sum(axis=2, keepdims=True))
        units = vectors / np.where(lengths > 0, lengths, 1.0)
        out[place] = np.square(units[:, 0] - units[:, 1]).sum(axis=1) / 2
    return out


def gates(sentence: Floats, chance: float) -> Floats:
    """How much structure counts: 1 between equal sentence vectors, 0 between unrelated ones."""
    return np.asarray(np.maximum(0.0, 1.0 - sentence / chance) ** SHARPNESS)


def trusted(plans: Floats, costs: Ragged) -> Floats:
    """Plans with every move weighed by how sure it is, as flat as they come."""
    means = costs.sums() / np.maximum(costs.lengths, 1)
    means = np.repeat(np.where(means > 0, means, 1.0), costs.lengths)  # 0: all words are the same
    return np.asarray(plans * np.maximum(0.0, 1.0 - costs.data / means))


def prices(errors: Floats, layers: Sequence[int], chance: float) -> Floats:
    """Factor of the energy of every head, ``(pairs, heads)``; the mean over heads is s c S.

    ``errors`` are mean squared differences A_MSE, ``(pairs, heads)``. Where they are 0 in a whole
    layer, it has no structure to break.
    """
    heads, distinct = np.array(layers), sorted(set(layers))
    out = np.zeros_like(errors)
    for layer in distinct:
        own = heads == layer
        total = len(distinct) / len(heads) * errors[:, own].sum(axis=1, keepdims=True)
        out[:, own] = np.where(total > 0, PRICE * chance / np.where(total > 0, total, 1.0), 0.0)
    return out
