"""The default measure: sentence vectors, and a price for relations that changed.

    d = s x + s g c S,   x = (1 - cos) / s,   g = 1 - x / w where x < w, else 0

``cos`` compares the vectors of the sentences, and ``s`` is what unrelated sentences are apart by
it, so x says how far two sentences are on the way from the same to unrelated. Words move at the
least cost where their vectors are nearer than 0.7 of the mean cost of the pair; the others stay
at home and break nothing. Of the relations between the words that moved, head h sees a share
broken, ``b_h`` (`movers.solve.batch.broken_batch`), and these words have other vectors than those
they went to, by ``t_k`` along direction k (`movers.measures.parts.shifts`). Then

    S = (1 - exp(-20 m)) / (1 + exp(-z)),   z = z_0 + sum over units of f_u tanh(z_u)
    z_u = a_u(n) + sum over heads of w_uh(n) sqrt(b_h) + sum over directions of v_uk(n) t_k

with m the mean of sqrt(b_h): how much changed places, times the probability that this changed the
meaning; S is 0 where every word went to the word in its place. Where words alone tell what another
order does (`movers.difference.orders`), S is 0, or that probability at least 0.95. The
weights, of either sign, depend on the number n of words; they and the directions are learned from
contrasts, once for an encoder (`movers.measures.calibration`). As c < w, d grows with x wherever S
stays: a further change makes a swap nearer only where S falls by it.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from movers.arrays import Floats, Ints, Ragged, boundaries
from movers.difference.orders import HARMLESS, TELLING, effects_of_order
from movers.encode.encoder import Encoder
from movers.encode.encodings import Head, Request
from movers.encode.pooling import mean_distance, unrelated_sentences
from movers.explain.compared import WordPlan
from movers.measures.base import SOURCE_EMPTY, TARGET_EMPTY, Measure
from movers.measures.bounds import Bound, CosineBound
from movers.measures.calibration import (
    APART,
    DIRECTIONS,
    Calibration,
    Contrasts,
    Network,
    Seen,
    fit_network,
    keep,
    kept,
    rounded_directions,
    shipped,
    to_fit,
    to_test,
    told_apart,
    what_is_read,
)
from movers.measures.parts.context import Context
from movers.measures.parts.costs import pair_costs
from movers.measures.parts.shifts import differences, principal, shifts, spreads
from movers.measures.parts.statistics import Statistics
from movers.measures.sentences import WeightedSentences, sentence_distances
from movers.measures.structural_transport import choose_heads
from movers.results import Comparison
from movers.runtime.notices import Notice, notify
from movers.solve.batch import Problems, broken_batch, emd_batch, price_batch
from movers.solve.solution import NUMBERS, Many

PRICE = 0.28
"""The factor c: what sentences cost whose relations all changed, in units of s."""
WIDTH = 0.4
"""The factor w: where the gate closes as sentences drift apart, in units of s."""
ANY = 20.0
"""How soon a share of broken relations, the mean over heads, counts as words out of place."""
HOME = 0.7
"""Price of a word that stays at home, in mean costs of the pair."""
ELSEWHERE = 1e-6
"""Words that may leave their places where none counts as having left it."""
CERTAIN = 0.95
"""Probability that the meaning changed where words alone tell it."""
SAMPLE = 256
"""Contrasts looked at together."""
NAMED = 8
"""Heads of which a calibration says what they read."""
logger = logging.getLogger("movers")


class CalibrationWarning(Notice):
    """The attention of a model tells no meaning from order, and plays no part."""


def calibrate(encoder: Encoder) -> Calibration:
    """Return what is known of an encoder, learned once; shipped for the embedded model.

    What was learned is kept in the user's cache under the fingerprint of the weights.
    """
    known: Any = encoder.calibrations.get(Calibration.__name__)
    if known is None:
        known = learned_before(encoder)
        if known is None:
            logger.warning("calibrating %s, a minute or more: once for a model", encoder.name)
            known = learn(encoder)
            if encoder.fingerprint != "unknown":
                keep(encoder.fingerprint, known)
        encoder.calibrations[Calibration.__name__] = known
        if not known.heads:
            notify(
                f"the attention of {encoder.name} does not tell a change of meaning from one of "
                f"order ({known.apart:.2f} of contrasts, {APART} wanted): distances are those of "
                "its sentence vectors",
                CalibrationWarning,
            )
    assert isinstance(known, Calibration)
    return known


def learned_before(encoder: Encoder) -> Calibration | None:
    """Return the calibration that is shipped or kept for an encoder, if there is one.

    Weights that cannot be told from others are calibrated by every process.
    """
    name = encoder.fingerprint
    return shipped().get(name) or (kept(name) if name != "unknown" else None)


def learn(encoder: Encoder) -> Calibration:
    """Learn how heads of an encoder tell contrasts apart; reads some 10,000 short sentences."""
    vectors = encoder.encode(unrelated_sentences(), Request(pooled=True)).pooled
    chance = float(f"{mean_distance(vectors):.4g}")  # which another processor does not change
    every = _with_all_heads(encoder)
    seen, directions = _look(every, to_fit())
    network = Network(*(_rounded(part) for part in fit_network(seen)))
    known = Calibration(chance, every.heads, network, 0.0, directions=directions)
    tested, _ = _look(every, to_test(), directions)
    charge = meaning_changed(known, tested.signs, tested.words)
    apart = float(f"{told_apart(charge, tested.changed):.3f}")
    if apart < APART:
        nothing = Network(np.zeros((1, 1)), np.zeros((1, 1)), np.ones(1))
        return Calibration(chance, (), nothing, apart)
    argued = arguments(known, seen.signs, seen.words)[seen.changed].mean(axis=0)
    reads = {every.heads[i]: what_is_read(seen, i) for i in np.argsort(-argued).tolist()}
    named = [(head, read) for head, read in reads.items() if read[1] >= APART]
    return replace(known, apart=apart, reads=dict(named[:NAMED]))


def _rounded(values: Floats) -> Floats:
    """Return values with four digits, which another processor changes less often."""
    return np.array([float(f"{value:.4g}") for value in values.flat]).reshape(values.shape)


def _with_all_heads(encoder: Encoder) -> DefaultMeasure:
    """Return the measure bound to an encoder, with every attention head."""
    every = DefaultMeasure("movers", "all heads")
    rules = every.token_rules(None, "paper", "first", keep=False)
    return every.bind(Context(encoder, Statistics(encoder.fingerprint), rules, layers="all"))


def _look(
    every: DefaultMeasure, given: Contrasts, directions: Floats | None = None
) -> tuple[Seen, Floats]:
    """Return what is seen of contrasts, without those that have every word in its place.

    Shifts are measured along directions; unless some are given, along the principal ones of the
    contrasts, which are returned. A swap is a change of meaning, with or without a further change.
    """
    pairs, encoder = given.pairs, every.context.encoder
    broken = np.zeros((len(pairs), len(every.heads)))
    words = np.zeros(len(pairs), int)
    moved = np.ones(len(pairs), bool)
    apart: list[Ragged] = []
    masses: list[Ragged] = []
    for start in range(0, len(pairs), SAMPLE):
        part = pairs[start : start + SAMPLE]
        place = slice(start, start + len(part))
        texts = list(dict.fromkeys(text for pair in part for text in pair))
        encodings = encoder.encode(texts, every.requirements)
        rows = encodings.numbers(text for pair in part for text in pair).reshape(-1, 2)
        sentences = every.weigh(encodings)
        problems, solution, broken[place] = every.relations(sentences, rows)
        words[place] = sentences.weights.lengths[rows].sum(axis=1)
        moved[start + _in_place(problems.shapes, solution.plan)] = False
        assert sentences.vectors is not None
        between, mass = differences(sentences.vectors, rows, problems.shapes, solution.plan)
        chosen = np.flatnonzero(moved[place])
        apart.append(between.take(chosen))
        masses.append(Ragged(mass, between.starts).take(chosen))
    between, mass = apart[0].joined(*apart[1:]), masses[0].joined(*masses[1:]).data
    if directions is None:
        directions = rounded_directions(principal(between.data, DIRECTIONS))
    along = spreads(Ragged(between.data @ directions.T, between.starts), mass)
    changed = ~given.same | (np.array(given.kinds) == "change")
    seen = Seen(given.kinds, changed, broken, words).take(moved)
    return seen._replace(signs=np.hstack([seen.signs, along])), directions


def meaning_changed(
    known: Calibration, signs: Floats, words: Ints, effects: NDArray[np.int8] | int = 0
) -> Floats:
    """Return S in [0, 1): how much changed places, times the probability that it matters.

    The effects are what words alone tell; see `movers.difference.orders`.
    """
    broken = signs[:, : len(known.heads)]
    moved = -np.expm1(-ANY * (broken.sum(axis=1) / broken.shape[1]))
    matters = 1.0 / (1.0 + np.exp(-known.network.odds(signs, words)))
    told = np.where(effects == TELLING, np.maximum(matters, CERTAIN), matters)
    return np.asarray(moved * np.where(effects == HARMLESS, 0.0, told))


def arguments(known: Calibration, signs: Floats, words: Ints) -> Floats:
    """Return how much each head argues for a change of meaning, ``(pairs, heads)``."""
    heads = len(known.heads)
    slopes = known.network.slopes(signs, words)[:, :heads]
    return signs[:, :heads] * np.maximum(0.0, slopes)


@dataclass(frozen=True)
class DefaultMeasure(Measure):
    """Sentences compared by their vectors, with what structure charges on top."""

    stopwords: bool | Literal["punctuation"] = "punctuation"
    whitened: bool = False
    layer: int | Literal["middle"] | None = "middle"
    cost: str = "cosine"

    reads_attention = True
    reads_pooled = True
    by_sentences = True
    asks_judge = True

    @cached_property
    def calibration(self) -> Calibration:
        """What is known of the encoder."""
        return calibrate(self.context.encoder)

    @property
    def far(self) -> float:
        """Distance of unrelated sentences."""
        return self.calibration.chance

    @property
    def _chosen(self) -> bool:
        """Whether a user chose layers or heads, which then count alike."""
        return self.context.layers is not None or self.context.heads != "all"

    @cached_property
    def heads(self) -> tuple[Head, ...]:
        """Attention heads it reads: those that tell meaning from order unless others are chosen."""
        return choose_heads(self.context, "all") if self._chosen else self.calibration.heads

    @property
    def pinned_heads(self) -> dict[str, list[int] | str | None]:
        """Settings of layers and heads: those chosen, else none, for the signature has the rest."""
        return super().pinned_heads if self._chosen else {"layers": None, "heads": "all"}

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
    ) -> tuple[Many, Problems, Floats]:
        """Return parts with a plan for every pair, the problems of the words, and vectors' part.

        What structure charges is shared out to the heads that argued for it, so that its mean
        over heads is all of it. Pairs without words on one side are charged nothing.
        """
        filled = np.flatnonzero((sentences.weights.lengths[rows] > 0).all(axis=1))
        problems, moved, signs = self.relations(sentences, rows[filled])
        shape = len(rows), max(1, len(self.heads))
        parts: dict[str, Any] = {}
        words = problems.shapes.max(axis=1, initial=1)[:, None]  # each was moved as a unit
        for name in NUMBERS:
            numbers = getattr(moved, name)
            parts[name] = np.zeros(shape, numbers.dtype)
            parts[name][filled] = numbers / words if name in ("linear", "home") else numbers
        counts = sentences.weights.lengths[rows[filled]].sum(axis=1)
        effects = effects_of_order(sentences.sentences, rows)
        parts["structural"][filled] = self._charges(signs, counts, effects[filled])
        # The same sentence breaks nothing, whichever of its equal words went where; nor do other
        # words, or other signs, in the same places.
        parts["structural"][filled[_in_place(problems.shapes, moved.plan)]] = 0.0
        parts["structural"][(rows[:, 0] == rows[:, 1]) | (effects == HARMLESS)] = 0.0
        sentence = sentence_distances(sentences.pooled, rows)
        gate = gates(sentence, self.calibration.chance)
        parts["value"] = sentence[:, None] + gate[:, None] * parts["structural"]
        return replace(moved, **parts), problems, sentence

    def relations(self, sentences: WeightedSentences, rows: Ints) -> tuple[Problems, Many, Floats]:
        """Move the words that find a counterpart, and see by what signs the meaning may change.

        Returns the problems, their solutions with plans, and ``(pairs, signs)``: roots of what
        every head sees broken and, unless a user chose heads, how far words shifted.
        """
        assert sentences.vectors is not None and sentences.norms is not None
        threads, words = self.context.threads, (sentences.vectors, sentences.norms.data)
        costs = pair_costs(self.cost, *words, *rows.T, threads=threads)
        each = Ragged(np.ones(len(sentences.weights.data)), sentences.weights.starts)
        ones = np.ones((len(rows), len(self.heads)))
        problems = Problems.between(each, rows, costs, sentences.structure, ones)
        home = HOME * costs.sums() / np.maximum(costs.lengths, 1)
        moved = emd_batch(problems, null=home[:, None], threads=threads, plans=True)
        if not self.heads:
            return problems, moved, np.zeros((len(rows), 1))
        broken = np.sqrt(broken_batch(problems, moved.plan, threads=threads))
        if self._chosen or not len(self.calibration.directions):
            return problems, moved, broken
        where = rows, problems.shapes, moved.plan
        along = shifts(self.calibration.directions, sentences.vectors, *where, threads=threads)
        return problems, moved, np.hstack([broken, along])

    def _charges(self, signs: Floats, words: Ints, effects: NDArray[np.int8]) -> Floats:
        """Return s c S for every pair, shared out to the heads, ``(pairs, heads)``."""
        count = len(self.heads)
        if not count:
            return np.zeros_like(signs)
        if self._chosen:
            charge = np.minimum(1.0, signs.sum(axis=1) / count)
            argued = signs
        else:
            charge = meaning_changed(self.calibration, signs, words, effects)
            argued = arguments(self.calibration, signs, words)
        whole = argued.sum(axis=1, keepdims=True)
        shares = np.where(whole > 0, argued / np.where(whole > 0, whole, 1.0), 1 / count)
        price = PRICE * self.calibration.chance * count
        return np.asarray(price * charge[:, None] * shares)

    def head_values(self, sentences: WeightedSentences, rows: Ints) -> Floats:
        """Return the distance of every pair under every head, ``(pairs, heads)``."""
        return self.solve(sentences, rows).value

    def distances(self, sentences: WeightedSentences, rows: Ints) -> Floats:
        """Return the distance of every pair of rows."""
        parts, _, sentence = self.solve_with_plans(sentences, rows)
        # not the mean over heads of sums, which may round below the vectors' part
        gate = gates(sentence, self.calibration.chance)
        return np.asarray(sentence + gate * parts.structural.mean(axis=1))

    # reasons, bound, signature

    def explain(self, sentences: WeightedSentences, source: int, target: int) -> Comparison:
        """Compare two sentences by row: by vectors, by words, and by relations between words."""
        rows = np.array([[source, target]])
        if self.undefined(sentences, rows)[0]:
            return self.comparison(sentences, rows, self.limits(sentences, rows))
        parts, problems, (sentence,) = self.solve_with_plans(sentences, rows)
        lengths = sentences.weights.lengths[rows[0]]
        whole = max(1, *lengths.tolist())  # words at home are missing from the plan
        scales = np.zeros_like(parts.structural)
        plan = parts.plan / whole
        if plan.size and self.heads:
            energies = price_batch(problems, plan, threads=self.context.threads)
            seen = energies > 0
            scales = np.where(seen, parts.structural / np.where(seen, energies, 1.0), 0.0)
        parts = replace(parts, plan=np.tile(plan, scales.shape[1]))
        (gate,) = gates(np.array([sentence]), self.calibration.chance)
        added = {"sentence": float(sentence), "structure": float(gate * parts.structural.mean())}
        found = self.comparison(
            sentences,
            rows,
            parts,
            scales,
            cost=problems.cost.reshape(lengths),
            sentence=float(sentence),
            gate=float(gate),
            shares=(0.0, float(gate)),
            parts=added,
        )
        words = WordPlan("word plan", found.linear, found.plan) if problems.cost.size else None
        distance = float(sentence + gate * parts.structural.mean(axis=1)[0])
        return replace(found, words=words, distance=distance)

    def under_every_head(self, every: Comparison, chosen: Comparison) -> Comparison:
        """Return all heads: those that are read as they charge, the others charging nothing."""
        read = {(head.layer, head.head): head for head in chosen.heads}
        silent = (
            replace(head, structural=0.0, scale=0.0, value=chosen.sentence) for head in every.heads
        )
        heads = (read.get((head.layer, head.head), head) for head in silent)
        return replace(every, heads=tuple(heads))

    @property
    def bound(self) -> Bound:
        """One minus the cosine of the sentence vectors; all of the distance where the gate is 0."""
        return CosineBound(self._settled)

    def _settled(self, sentence: Floats) -> Floats:
        """Return the distance where vectors alone give it, NaN elsewhere."""
        return np.where(gates(sentence, self.calibration.chance) > 0, np.nan, sentence)

    def _calibrated(self) -> dict[str, str]:
        return {
            "pooling": self.context.encoder.pooling,
            "chance": f"{self.calibration.chance:.4g}",
            "calibration": "chosen heads" if self._chosen else self.calibration.digest,
        }


def _in_place(shapes: Ints, plan: Floats) -> Ints:
    """Return the pairs of which every word went to the word in its place, or stayed at home."""
    square = np.flatnonzero((shapes[:, 0] == shapes[:, 1]) & (shapes[:, 0] > 0))
    if not len(square):
        return square
    words, starts = shapes[square, 0], boundaries(shapes.prod(axis=1))
    lines = boundaries(words)
    place = np.arange(lines[-1]) - np.repeat(lines[:-1], words)
    diagonal = plan[np.repeat(starts[square], words) + place * np.repeat(words + 1, words)]
    moved = np.add.reduceat(np.append(plan, 0.0), starts[:-1])[square]
    return np.asarray(square[moved - np.add.reduceat(diagonal, lines[:-1]) < ELSEWHERE])


def gates(sentence: Floats, chance: float) -> Floats:
    """Return how much structure counts: 1 between equal sentence vectors, 0 from `WIDTH` on."""
    return np.asarray(np.maximum(0.0, 1.0 - sentence / (WIDTH * chance)))
