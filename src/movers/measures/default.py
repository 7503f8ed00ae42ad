"""The default measure: sentence vectors, and a price for broken structure.

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
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from movers.arrays import Floats, Ints, Ragged
from movers.encode.encoder import Encoder
from movers.encode.encodings import Head, Request
from movers.encode.pooling import mean_distance, unrelated_sentences
from movers.explain.compared import WordPlan
from movers.measure.costs import pair_costs
from movers.measure.structure import middle_layers
from movers.measures.base import SOURCE_EMPTY, TARGET_EMPTY, Measure
from movers.measures.bounds import Bound, CosineBound, sentence_distances
from movers.measures.sentences import WeightedSentences
from movers.measures.structural_transport import choose_heads, structure_errors
from movers.results import Comparison
from movers.solve.batch import emd_batch, price_batch
from movers.solve.problems import Problems
from movers.solve.solution import NUMBERS, Many

PRICE = 1.25
"""The factor c: what a wholly broken structure costs, in units of s."""
SHARPNESS = 14
"""The exponent p: how soon the gate closes as sentences drift apart."""


@dataclass(frozen=True)
class Calibration:
    """What the measure knows of an encoder.

    ``chance`` is how far apart the vectors of unrelated sentences are: the mean of one minus
    cosine, the ``s`` of the formula.
    """

    chance: float


SHIPPED = {"53aa5117": Calibration(0.9393)}
"""Calibrations by fingerprint of the weights, so that no process measures them again."""


def calibrate(encoder: Encoder) -> Calibration:
    """Return what is known of an encoder, measured once; shipped for the embedded model.

    To four digits, which another processor does not change.
    """
    if encoder.fingerprint in SHIPPED:
        return SHIPPED[encoder.fingerprint]
    known: Any = encoder.calibrations.get(Calibration.__name__)
    if known is None:
        vectors = encoder.encode(unrelated_sentences(), Request(pooled=True)).pooled
        known = Calibration(float(f"{mean_distance(vectors):.4g}"))
        encoder.calibrations[Calibration.__name__] = known
    assert isinstance(known, Calibration)
    return known


@dataclass(frozen=True)
class DefaultMeasure(Measure):
    """Sentences compared by their vectors, with what structure charges on top."""

    stopwords: bool | Literal["punctuation"] = "punctuation"
    whitened: bool = False
    layer: int | Literal["middle"] | None = "middle"
    cost: str = "cosine"

    reads_attention = True
    reads_pooled = True

    @cached_property
    def calibration(self) -> Calibration:
        """What is known of the encoder."""
        return calibrate(self.context.encoder)

    @property
    def far(self) -> float:
        """Distance of unrelated sentences."""
        return self.calibration.chance

    @cached_property
    def heads(self) -> tuple[Head, ...]:
        """Attention heads it reads: those of the middle layers unless a user chose others."""
        return choose_heads(self.context, middle_layers(self.context.encoder.layers))

    @property
    def share(self) -> float:
        """Share of structure in what is added to the distance of the vectors: all of it."""
        return 1.0

    # numbers

    def undefined(self, sentences: WeightedSentences, rows: Ints) -> NDArray[np.int8]:
        """Say which pairs have an empty side; of sentences without words, vectors tell enough."""
        why = super().undefined(sentences, rows)
        for pair in np.flatnonzero(why):
            blank = [not sentences.sentences[row].strip() for row in rows[pair]]
            why[pair] = SOURCE_EMPTY if blank[0] else TARGET_EMPTY if blank[1] else 0
        return why

    def solve(self, sentences: WeightedSentences, rows: Ints) -> Many:
        """Return the distance of every pair with its parts, ``(pairs, heads)``, without plans."""
        return replace(self.solve_with_plans(sentences, rows)[0], plan=np.zeros(0))

    def solve_with_plans(
        self, sentences: WeightedSentences, rows: Ints
    ) -> tuple[Many, Ragged, Floats]:
        """Return distances and parts with a plan for every pair, costs, and prices of structure.

        Every head is charged for the same plan: that of the words. Pairs without words on one
        side have no plan, no cost, and nothing is charged.
        """
        filled = np.flatnonzero((sentences.weights.lengths[rows] > 0).all(axis=1))
        problems, moved, scales, energies = self._charge(sentences, rows[filled])
        shape = len(rows), scales.shape[1]
        parts: dict[str, Any] = {}
        for name in NUMBERS:
            numbers = getattr(moved, name)
            parts[name] = np.zeros(shape, numbers.dtype)
            parts[name][filled] = numbers
        parts["structural"][filled] = scales * energies
        sentence = sentence_distances(sentences.pooled, rows)
        gate = gates(sentence, self.calibration.chance)
        parts["value"] = sentence[:, None] + gate[:, None] * parts["structural"]
        every_scale = np.zeros(shape)
        every_scale[filled] = scales
        return replace(moved, **parts), problems.costs, every_scale

    def _charge(
        self, sentences: WeightedSentences, rows: Ints
    ) -> tuple[Problems, Many, Floats, Floats]:
        """Move the words at the least cost, and let every head charge for what that breaks."""
        assert sentences.vectors is not None and sentences.norms is not None
        threads, words = self.context.threads, (sentences.vectors, sentences.norms.data)
        costs = pair_costs(self.cost, *words, *rows.T, threads=threads)
        ones = np.ones((len(rows), max(1, sentences.sums.shape[1])))
        problems = Problems.between(sentences.weights, rows, costs, sentences.structure, ones)
        moved = emd_batch(problems, threads=threads, plans=True)
        # The same sentence breaks nothing, whichever of its equal words went where.
        charged = (rows[:, 0] != rows[:, 1])[:, None]
        layers = [layer for layer, _ in self.heads]
        errors = structure_errors(sentences, *rows.T)
        scales = charged * prices(errors, layers, self.calibration.chance)
        energies = price_batch(problems, trusted(moved.plan, costs), threads=threads)
        return problems, moved, scales, energies

    def head_values(self, sentences: WeightedSentences, rows: Ints) -> Floats:
        """Return the distance of every pair under every head, ``(pairs, heads)``."""
        return self.solve(sentences, rows).value

    def distances(self, sentences: WeightedSentences, rows: Ints) -> Floats:
        """Return the distance of every pair of rows: the mean over heads."""
        return np.asarray(self.head_values(sentences, rows).mean(axis=1))

    # reasons, bound, signature

    def explain(self, sentences: WeightedSentences, source: int, target: int) -> Comparison:
        """Compare two sentences by row: by vectors, by words, and by relations between words."""
        rows = np.array([[source, target]])
        if self.undefined(sentences, rows)[0]:
            return self.comparison(sentences, rows, self.limits(sentences, rows))
        parts, costs, scales = self.solve_with_plans(sentences, rows)
        parts = replace(parts, plan=np.tile(parts.plan, scales.shape[1]))
        sentence = float(sentence_distances(sentences.pooled, rows)[0])
        gate = float(gates(np.array([sentence]), self.calibration.chance)[0])
        cost = costs.data.reshape(sentences.weights.lengths[rows[0]])
        added = {"sentence": sentence, "structure": gate * float(parts.structural.mean())}
        found = self.comparison(
            sentences,
            rows,
            parts,
            scales,
            cost=cost,
            sentence=sentence,
            gate=gate,
            shares=(0.0, gate),
            parts=added,
            trust=trusted(np.ones(cost.size), Ragged.from_rows([cost.ravel()])).reshape(cost.shape),
        )
        words = WordPlan("word plan", found.linear, found.plan) if cost.size else None
        return replace(found, words=words)

    def under_every_head(self, every: Comparison, chosen: Comparison) -> Comparison:
        """Return all heads at the price, by layer, of those that make the distance."""
        return every.priced_like(chosen)

    @property
    def bound(self) -> Bound:
        """One minus the cosine of the sentence vectors; all of the distance where the gate is 0."""
        return CosineBound(self._settled)

    def _settled(self, sentence: Floats) -> Floats:
        """Return the distance where vectors alone give it, NaN elsewhere."""
        # as a mean over heads that all say the same, which may differ in the last bit
        heads = max(1, len(self.heads))
        far = np.repeat(sentence[:, None], heads, axis=1).mean(axis=1)
        return np.where(gates(sentence, self.calibration.chance) > 0, np.nan, far)

    def _calibrated(self) -> dict[str, str]:
        return {
            "pooling": self.context.encoder.pooling,
            "chance": f"{self.calibration.chance:.4g}",
        }


def gates(sentence: Floats, chance: float) -> Floats:
    """Return how much structure counts: 1 between equal sentence vectors, 0 between unrelated."""
    return np.asarray(np.maximum(0.0, 1.0 - sentence / chance) ** SHARPNESS)


def trusted(plans: Floats, costs: Ragged) -> Floats:
    """Return plans with every move weighed by how sure it is, as flat as they come."""
    means = costs.sums() / np.maximum(costs.lengths, 1)
    means = np.repeat(np.where(means > 0, means, 1.0), costs.lengths)  # 0: all words are the same
    return np.asarray(plans * np.maximum(0.0, 1.0 - costs.data / means))


def prices(errors: Floats, layers: Sequence[int], chance: float) -> Floats:
    """Return the factor of the energy of every head, ``(pairs, heads)``; its mean is s c S.

    ``errors`` are mean squared differences A_MSE, ``(pairs, heads)``. Where they are 0 in a whole
    layer, it has no structure to break.
    """
    heads, distinct = np.array(layers), sorted(set(layers))
    out = np.zeros_like(errors)
    for layer in distinct:
        inside = heads == layer
        total = len(distinct) / len(heads) * errors[:, inside].sum(axis=1, keepdims=True)
        out[:, inside] = np.where(total > 0, PRICE * chance / np.where(total > 0, total, 1.0), 0.0)
    return out
