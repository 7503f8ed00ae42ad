"""Two sentences compared: the values and their arithmetic, which explanations start from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Self

import numpy as np

from movers.arrays import Floats
from movers.difference.finder import differences
from movers.difference.kinds import Difference
from movers.difference.misspelt import Repair
from movers.scale import similarity_of
from movers.solve.solution import One

Span = tuple[int, int]

VISIBLE = 0.05
"""Flows below this share of an average word are left out of an alignment."""
LINKED = 0.4
"""Shares of two words below this are no link of a plan."""


@dataclass(frozen=True)
class Signature:
    """Everything that changes a number, in order of importance; ``str`` prints it on one line."""

    fields: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        return "|".join(f"{name}:{value}" for name, value in self.fields)

    @classmethod
    def parse(cls, line: str) -> Self:
        """Read what ``str`` printed."""
        fields = (field.partition(":") for field in line.split("|") if field)
        return cls(tuple((name, value) for name, _, value in fields))


@dataclass(frozen=True)
class Flow:
    """One word of the source on its way to one word of the target.

    ``mass`` is a share of the sentence, ``cost`` the price of moving a whole unit; the indices
    tell equal words apart.
    """

    source: str
    target: str
    mass: float
    cost: float
    source_index: int
    target_index: int


@dataclass(frozen=True)
class HeadValue:
    """The distance under one attention head, with its parts and how it was found."""

    layer: int
    head: int
    value: float
    linear: float
    structural: float
    scale: float
    iterations: int
    gap: float

    @classmethod
    def of(cls, layer: int, head: int, found: One, scale: float) -> HeadValue:
        """Return what a solver found under a head."""
        parts = found.value, found.linear, found.structural
        return cls(layer, head, *parts, float(scale), found.iterations, found.gap)


@dataclass(frozen=True, eq=False)
class Home:
    """Mass that stays at home where words may match nothing, and its price head by head.

    Of the weights of the words, what the plan does not move stays. ``paid`` is None where the
    distance does not count it.
    """

    paid: Floats | None
    source: Floats
    target: Floats


@dataclass(frozen=True, eq=False)
class WordPlan:
    """The words alone: what they are compared by, how far apart they are, and their plan."""

    method: str
    distance: float
    plan: Floats


@dataclass(frozen=True)
class Broken:
    """A relation between two words that their partners in the other sentence do not have.

    In either sentence the word that looks and the word it looks at, how much of its attention that
    is, mean over the heads of the distance, and what it costs as a share of the distance.
    """

    source: tuple[str, str]
    target: tuple[str, str]
    source_attention: float
    target_attention: float
    share: float


@dataclass(frozen=True)
class Judged:
    """The verdict of a judge: how probable it is that two sentences say the same, and why.

    Reasons, the weightiest first, are what argued and what that adds to the log-odds, held against
    an average pair: above 0 for the same, below 0 against it.
    """

    probability: float
    judge: str
    reasons: tuple[tuple[str, float], ...]


@dataclass(frozen=True, eq=False, repr=False)
class Compared:
    """Two sentences compared: the distance and its reasons.

    Parameters
    ----------
    source, target
        The sentences.
    source_words, target_words
        The words compared, as they stand in the text.
    method
        Name of the measure.
    distance
        Small means similar.
    linear, structural
        The two parts: the cost of the words under the plan (WMD_lambda) and what the structure
        costs (k * SMD_lambda); ``distance = (1 - mix) * linear + mix * structural`` for the
        methods that use both.
    mix
        Share of the structural part.
    sentence, gate
        For the default measure, what the vectors of the sentences are apart, and how much the
        rest counts: ``distance = sentence + gate * ((1 - mix) * linear + mix * structural)``.
    far
        Distance of unrelated sentences; None where that has not been measured.
    cost
        Cost of each word pair, shape ``(n, m)``; empty for a measure without word cost.
    heads
        Values head by head; empty for a measure without structure.
    plans
        Plans head by head, shape ``(heads, n, m)``.
    signature
        All settings that change the number.
    source_spans, target_spans
        Where each word stands in its sentence, as ``(start, end)``.
    source_attention, target_attention
        Attention among the words head by head, shapes ``(heads, n, n)`` and ``(heads, m, m)``.
    source_unread, target_unread
        The end of a sentence that is longer than the model, and was not compared.
    home
        What stays at home; None where all words must move.
    shares
        How much of ``linear`` and of ``structural`` enters the distance.
    parts
        What the distance adds up from, as it has them: sentence, words, structure, at home.
    trust
        How sure a move between two words is, ``(n, m)``; None for a measure that trusts all.
    words
        The words without structure; None for a measure without word cost.
    source_repairs, target_repairs
        Typing errors that were mended before comparing, by their places in the texts given.
    judged
        What a judge says of them; None if none was asked.
    """

    source: str
    target: str
    source_words: tuple[str, ...]
    target_words: tuple[str, ...]
    method: str
    distance: float
    linear: float
    structural: float
    mix: float
    plans: Floats
    cost: Floats
    heads: tuple[HeadValue, ...]
    signature: Signature = Signature(())
    source_spans: tuple[Span, ...] = ()
    target_spans: tuple[Span, ...] = ()
    source_attention: Floats = field(default_factory=lambda: np.zeros((0, 0, 0)))
    target_attention: Floats = field(default_factory=lambda: np.zeros((0, 0, 0)))
    sentence: float = 0.0
    gate: float = 1.0
    far: float | None = None
    source_unread: str = ""
    target_unread: str = ""
    home: Home | None = None
    shares: tuple[float, float] = (1.0, 0.0)
    parts: Mapping[str, float] = field(default_factory=dict)
    trust: Floats | None = None
    words: WordPlan | None = None
    source_repairs: tuple[Repair, ...] = ()
    target_repairs: tuple[Repair, ...] = ()
    judged: Judged | None = None

    @property
    def similarity(self) -> float | None:
        """The distance on a scale from 0, unrelated sentences, to 1, the same."""
        return self.alike(self.distance)

    def alike(self, distance: float) -> float | None:
        """Return the similarity that a distance stands for; None without a scale."""
        return None if self.far is None else float(similarity_of(np.float64(distance), self.far))

    def undefined(self) -> Self:
        """Return the same without a distance."""
        parts, nan = dict.fromkeys(self.parts, np.nan), np.nan
        return replace(self, distance=nan, linear=nan, structural=nan, parts=parts)

    @property
    def at_home(self) -> float | None:
        """What the distance pays for words that match nothing; None where all must move."""
        return self.parts.get("at home")

    @property
    def weights(self) -> tuple[Floats, Floats]:
        """Weights of the words of both sentences."""
        moved = self.plan.sum(axis=1), self.plan.sum(axis=0)
        return (self.home.source, self.home.target) if self.home else moved

    @cached_property
    def plan(self) -> Floats:
        """Mass moved from each source word to each target word, mean over heads, ``(n, m)``."""
        return np.asarray(self.plans.mean(axis=0))

    @cached_property
    def alignment(self) -> tuple[Flow, ...]:
        """Which word went where, in the order of the source."""
        flows = []
        for i, j in np.argwhere(self.plan > VISIBLE / max(1, *self.plan.shape)):
            cost = float(self.cost[i, j]) if self.cost.size else float("nan")
            mass = float(self.plan[i, j])
            words = self.source_words[i], self.target_words[j]
            flows.append(Flow(*words, mass, cost, int(i), int(j)))
        return tuple(flows)

    @cached_property
    def mutual_shares(self) -> Floats:
        """Geometric mean of the share of every word that goes to another, and back, ``(n, m)``."""
        marginals = np.sqrt(self.weights[0][:, None] * self.weights[1])
        nothing = np.zeros(self.plan.shape)
        return np.divide(self.plan, marginals, out=nothing, where=marginals > 0)

    @cached_property
    def differences(self) -> tuple[Difference, ...]:
        """What the two sentences differ in, the graver first."""
        return differences(self.source, self.target, links=self._linked_places())

    def _linked_places(self) -> list[tuple[Span, Span]]:
        """Return places of the words that the plan moves to each other for the most part."""
        if not self.plan.size or not self.source_spans or not self.target_spans:
            return []
        links = np.argwhere(self.mutual_shares > LINKED)
        return [(self.source_spans[i], self.target_spans[j]) for i, j in links]
