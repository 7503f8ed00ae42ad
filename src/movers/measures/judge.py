"""A judge as a measure: one minus the probability that two sentences say the same.

It reads what the default measure reads, under every head, and the words of the last layer too
(`movers.measures.evidence`); its knowledge (`movers.judge.knowledge`) was learned from labels.
The judge named "same" comes with the package for the embedded model. For any other encoder it is
learned once, from the contrasts that calibrate the default measure.
"""

from __future__ import annotations

import json
import logging
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from hashlib import sha256
from importlib.resources import as_file, files
from pathlib import Path

import numpy as np

from movers.arrays import Floats, Ints
from movers.encode.encoder import Encoder
from movers.encode.encodings import Head, Request
from movers.encode.models import EMBEDDED_FINGERPRINT
from movers.errors import Do, InputError
from movers.explain.compared import Judged
from movers.judge.knowledge import Knowledge, digest_of
from movers.judge.logistic_fit import Labelled, blank, fit
from movers.measures.bounds import Bound
from movers.measures.calibration import Contrasts, contrasts
from movers.measures.default import DefaultMeasure
from movers.measures.evidence import evidence, names_of
from movers.measures.parts.context import Context
from movers.measures.parts.statistics import Statistics
from movers.measures.sentences import WeightedSentences
from movers.results import Comparison
from movers.runtime.answer_cache import trusted_place
from movers.runtime.atomic import replacing

SHIPPED = {EMBEDDED_FINGERPRINT: "same.judge"}
"""Judges that come with the package, by fingerprint of the weights."""
SAMPLE = 256
"""Contrasts looked at together."""
KIND = "judge"
FAMILIES = (
    ("how near the sentence vectors are", ("sentence vectors", "root of sentence vectors")),
    ("words without a counterpart", ("unmatched", "left over", "farthest nearest")),
    (
        "what matched words mean where they stand",
        ("matched", "worst match", "nearest", "mean cost", "shift"),
    ),
    ("the order of the words", ("displaced", "neighbours", "inverted", "roles", "reordered")),
    ("the order of lists, or around a verb", ("order that words tell of",)),
    ("a negation", ("negation",)),
    ("an opposite", ("opposite",)),
    ("a number", ("number",)),
    ("a name", ("name",)),
    ("how much or how certain it is", ("quantity", "modality")),
    ("one asks, the other states", ("question",)),
    ("another time", ("tense",)),
    ("words replaced, added or left out", ("replaced", "added")),
    ("the spelling", ("spelling",)),
    ("how long they are", ("length", "uneven lengths")),
    ("relations between the words", ("head", "broken")),
)
"""What reasons are called, and how the columns they sum up begin."""
logger = logging.getLogger("movers")


@dataclass(frozen=True)
class Judge(DefaultMeasure):
    """One minus the probability, learned from labels, that two sentences say the same."""

    known: Knowledge | None = field(default=None, repr=False, compare=False)

    asks_judge = False
    by_sentences = False  # no cosine bounds a probability

    @property
    def far(self) -> float:
        """Distance of sentences that certainly do not say the same."""
        return 1.0

    @cached_property
    def knowledge(self) -> Knowledge:
        """What the judge knows of the encoder."""
        encoder = self.context.encoder
        known = same_of(encoder) if self.known is None else self.known
        if known.fingerprint != encoder.fingerprint:
            raise InputError(
                f"the judge belongs to model {known.fingerprint}, but {encoder.name} is "
                f"{encoder.fingerprint}",
                Do("learn"),
            )
        if known.names != names_of(self):
            raise InputError("the judge was learned from other evidence", Do("learn"))
        return known

    @property
    def _chosen(self) -> bool:
        """Whether a user chose layers or heads: never, as all are read."""
        return False

    @cached_property
    def heads(self) -> tuple[Head, ...]:
        """All attention heads."""
        encoder = self.context.encoder
        layers, heads = range(1, encoder.layers + 1), range(1, encoder.heads + 1)
        return tuple((layer, head) for layer in layers for head in heads)

    def _settings(self) -> set[str]:
        return set()

    @cached_property
    def requirements(self) -> Request:
        """What of a sentence enters the evidence: words of two layers, all heads, its vector."""
        layers = tuple(sorted({self.embedding, self.context.encoder.layers}))
        return Request(layers, self.heads, self.context.rules, pooled=True)

    # numbers

    def evidence(self, sentences: WeightedSentences, rows: Ints) -> Floats:
        """Return the numbers that are judged, ``(pairs, columns)``."""
        return evidence(self, sentences, rows)

    def distances(self, sentences: WeightedSentences, rows: Ints) -> Floats:
        """Return one minus the probability that every pair says the same."""
        out = 1.0 - self.knowledge.probabilities(self.evidence(sentences, rows))
        return np.where(rows[:, 0] == rows[:, 1], 0.0, out)  # what is known needs no judge

    def head_values(self, sentences: WeightedSentences, rows: Ints) -> Floats:
        """Return the same for every head: the judge looks at them together."""
        return np.repeat(self.distances(sentences, rows)[:, None], len(self.heads), axis=1)

    # reasons and signature

    def explain(self, sentences: WeightedSentences, source: int, target: int) -> Comparison:
        """Compare two sentences by row, with what argued for and against their being the same."""
        comparison = super().explain(sentences, source, target)
        rows = np.array([[source, target]])
        if self.undefined(sentences, rows)[0]:
            return comparison
        distance = float(self.distances(sentences, rows)[0])
        silent = (
            replace(head, value=distance, structural=0.0, scale=0.0) for head in comparison.heads
        )
        return replace(
            comparison,
            distance=distance,
            judged=self.judge(sentences, rows),
            heads=tuple(silent),  # what each argued is among the reasons
            parts={},
        )

    def judge(self, sentences: WeightedSentences, rows: Ints) -> Judged:
        """Judge one pair, ``(1, 2)``, and say why."""
        arguments = self.knowledge.arguments(self.evidence(sentences, rows))[0]
        sums: dict[str, float] = {}
        for name, argument in zip(self.knowledge.names, arguments.tolist(), strict=True):
            family = next(told for told, starts in FAMILIES if name.startswith(starts))
            sums[family] = sums.get(family, 0.0) + argument
        reasons = sorted(sums.items(), key=lambda item: -abs(item[1]))
        probability = 1.0 - float(self.distances(sentences, rows)[0])
        return Judged(probability, self.name, tuple(reasons))

    def under_every_head(self, every: Comparison, chosen: Comparison) -> Comparison:
        """Return the comparison itself: all heads are read already."""
        return chosen

    @property
    def bound(self) -> Bound:
        """No bound holds for what was learned; candidates come from another measure."""
        raise InputError(
            f"no bound holds for {self.name}, which was learned; search by another measure, and "
            "let the judge have its say on what is found",
            Do("rank"),
        )

    def _calibrated(self) -> dict[str, str]:
        return {**super()._calibrated(), KIND: self.knowledge.digest}


def find_judge(choice: str | Path | Judge | None) -> Judge | None:
    """Return a judge as users name it: "same", a file, or itself; None stays None."""
    if choice is None or isinstance(choice, Judge):
        return choice
    return SAME if str(choice) == SAME.name else judge_of(Knowledge.load(choice), Path(choice).stem)


def judge_of(known: Knowledge, name: str = KIND) -> Judge:
    """Make a measure of what was learned."""
    return Judge(name, f"judge learned from {known.facts.get('pairs', 'some')} pairs", known=known)


SAME = Judge("same", "probability of saying the same, learned", "this package: docs/judges.md")
"""The judge that comes with the package."""


def same_of(encoder: Encoder) -> Knowledge:
    """Return what the judge "same" knows of an encoder: shipped, or learned from contrasts once.

    What was learned is kept in the user's cache under the fingerprint of the weights.
    """
    known = encoder.calibrations.get(KIND)
    if known is None:
        known = _shipped(encoder.fingerprint) or _remembered(encoder)
        encoder.calibrations[KIND] = known
    assert isinstance(known, Knowledge)
    return known


def _remembered(encoder: Encoder) -> Knowledge:
    """Return what contrasts teach of an encoder, from the user's cache if it is there and whole."""
    if encoder.fingerprint == "unknown":  # it cannot be told from others
        return learn_contrasts(encoder)
    given = _lesson()
    made_from = digest_of(given.pairs, given.same.astype(float))
    columns = sha256(json.dumps(names_of(bound_judge(encoder))).encode()).hexdigest()[:8]
    path = trusted_place("judges", f"{encoder.fingerprint}-{made_from}-{columns}.judge")
    if path is None:
        return learn_contrasts(encoder)
    with suppress(InputError):
        return Knowledge.load(path)
    known = learn_contrasts(encoder)
    with suppress(OSError), replacing(path, closed=True) as draft:  # or others learn it again
        known.save(draft)
    return known


@cache
def _shipped(fingerprint: str) -> Knowledge | None:
    if fingerprint not in SHIPPED:
        return None
    with as_file(files("movers") / "data" / SHIPPED[fingerprint]) as path:
        return Knowledge.load(path)


def bound_judge(encoder: Encoder) -> Judge:
    """Return a judge without knowledge, bound to an encoder, for its evidence."""
    rules = SAME.token_rules(None, "paper", "first", keep=False)
    return SAME.bind(Context(encoder, Statistics(encoder.fingerprint), rules))


def evidence_of(encoder: Encoder, pairs: Iterable[tuple[str, str]]) -> Floats:
    """Return the evidence of pairs of texts, some at a time."""
    judge, given, parts = bound_judge(encoder), list(pairs), []
    for start in range(0, len(given), SAMPLE):
        texts = [text for pair in given[start : start + SAMPLE] for text in pair]
        encodings = encoder.encode(list(dict.fromkeys(texts)), judge.requirements)
        rows = encodings.numbers(texts).reshape(-1, 2)
        parts.append(judge.evidence(judge.weigh(encodings), rows))
    return np.concatenate(parts)


def _lesson() -> Contrasts:
    """Return one half of the contrasts; a swap is not the same, with or without another change."""
    given = contrasts()
    given = given.take(given.fit)
    return given._replace(same=given.same & (np.array(given.kinds) != "change"))


def learn_contrasts(encoder: Encoder) -> Knowledge:
    """Learn a judge for an encoder from one half of the contrasts, of every kind alike."""
    logger.warning("learning a judge for %s from contrasts, a minute or more", encoder.name)
    given = _lesson()
    numbers = evidence_of(encoder, given.pairs)
    sides = list(zip(given.kinds, given.same.tolist(), strict=True))
    counts = Counter(sides)
    weights = np.array([1.0 / counts[side] for side in sides])
    weights *= len(weights) / weights.sum()
    labelled = Labelled(given.pairs, given.same.astype(float), numbers, weights)
    facts = {"data": "contrasts", "digest": digest_of(given.pairs, labelled.labels)}
    facts["pairs"] = str(len(given.pairs))
    start = blank(encoder.fingerprint, names_of(bound_judge(encoder)), numbers)
    return fit(labelled, start, facts=facts)
