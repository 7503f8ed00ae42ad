"""What comes back: values that explain themselves."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from movers.align.linking import Linking
from movers.align.results import Link, make_links
from movers.align.sentences import Sentence
from movers.methods import find_method
from movers.scale import similarity_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]
Span = tuple[int, int]

VISIBLE = 0.05
"""Flows below this share of an average word are left out of an alignment."""
PLAN_THRESHOLD = 0.4
"""Shares of two words below this are no link of a plan."""


@dataclass(frozen=True)
class Signature:
    """Everything that changes a number, in order of importance; ``str`` prints it on one line."""

    fields: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        return "|".join(f"{name}:{value}" for name, value in self.fields)


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


@dataclass(frozen=True)
class Broken:
    """A relation between two words that their partners in the other sentence do not have.

    Parameters
    ----------
    source, target
        The word that looks and the word it looks at, in either sentence.
    source_attention, target_attention
        How much of its attention that is, mean over the heads of the distance.
    share
        What it costs, as a share of the distance.
    """

    source: tuple[str, str]
    target: tuple[str, str]
    source_attention: float
    target_attention: float
    share: float


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
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
    signature: Signature
    source_spans: tuple[Span, ...] = ()
    target_spans: tuple[Span, ...] = ()
    source_attention: Floats = field(default_factory=lambda: np.zeros((0, 0, 0)))
    target_attention: Floats = field(default_factory=lambda: np.zeros((0, 0, 0)))
    sentence: float = 0.0
    gate: float = 1.0
    far: float | None = None

    @property
    def similarity(self) -> float | None:
        """The distance on a scale from 0, unrelated sentences, to 1, the same."""
        return self.alike(self.distance)

    def alike(self, distance: float) -> float | None:
        """Similarity that a distance of this measure stands for; None without a scale."""
        return None if self.far is None else float(similarity_of(np.float64(distance), self.far))

    @property
    def shares(self) -> tuple[float, float]:
        """How much of `linear` and of `structural` enters the distance."""
        if find_method(self.method).reports == "linear":
            return 1.0, 0.0
        return self.gate * (1.0 - self.mix), self.gate * self.mix

    @property
    def parts(self) -> dict[str, float]:
        """What the distance adds up from: sentence, words and structure, as it has them."""
        priced, (words, structure) = find_method(self.method).needs_pooled, self.shares
        found = {"sentence": self.sentence} if priced else {}
        if words and not priced:
            found["words"] = words * self.linear
        if self.heads and (structure or priced):
            found["structure"] = structure * self.structural
        return found

    @cached_property
    def broken(self) -> tuple[Broken, ...]:
        """The relations whose loss costs most, dearest first; none where structure is free."""
        from movers.explain.relations import broken_relations

        return broken_relations(self)

    @property
    def verdict(self) -> str | None:
        """The similarity in a sentence; None where the measure has no scale."""
        from movers.explain.telling import tell_verdict

        return tell_verdict(self)

    @property
    def story(self) -> tuple[str, ...]:
        """Where the distance comes from, in sentences."""
        from movers.explain.telling import tell_story

        return tell_story(self)

    @cached_property
    def plan(self) -> Floats:
        """Mass moved from each source word to each target word, mean over heads, ``(n, m)``."""
        return np.asarray(self.plans.mean(axis=0))

    @cached_property
    def alignment(self) -> tuple[Flow, ...]:
        """Which word went where, in the order of the source."""
        flows = []
        for i, j in np.argwhere(self.plan > VISIBLE / max(1, *self.plan.shape)).tolist():
            cost = float(self.cost[i, j]) if self.cost.size else float("nan")
            mass = float(self.plan[i, j])
            words = self.source_words[i], self.target_words[j]
            flows.append(Flow(*words, mass, cost, i, j))
        return tuple(flows)

    @cached_property
    def links(self) -> tuple[Link, ...]:
        """Words that go together under this comparison's own plan.

        Each is a share of both words: the geometric mean of what either gives the other. Links
        people would make are `Scorer.align`'s business; these show what the distance is made of.
        """
        if not self.plan.size:
            return ()
        marginals = self.plan.sum(axis=1)[:, None] * self.plan.sum(axis=0)
        shares = np.asarray(self.plan / np.sqrt(np.where(marginals > 0, marginals, np.inf)))
        cost = self.cost if self.cost.size else np.full(self.plan.shape, np.nan)
        links = make_links(
            Sentence(self.source, self.source_spans),
            Sentence(self.target, self.target_spans),
            Linking(shares, shares, cost),
            threshold=PLAN_THRESHOLD,
        )
        words = self.source_words, self.target_words  # special tokens have no place in the text
        return tuple(
            replace(link, source=words[0][link.source_index], target=words[1][link.target_index])
            for link in links
        )

    def __repr__(self) -> str:
        return f"Comparison({self.source!r}, {self.target!r}, {self.method}={self.distance:.6g})"

    def __str__(self) -> str:
        lines = [f"{self.method} {self.distance:.4f}"]
        if self.similarity is not None:
            lines[0] += f"  similarity {self.similarity:.2f}"
        if "sentence" in self.parts:
            parts = (f"{name} {value:.4f}" for name, value in self.parts.items())
            lines[0] += f"  ({', '.join(parts)})"
        elif self.heads:
            lines[0] += f"  (words {self.linear:.4f}, structure {self.structural:.4f})"
        lines += [f"  {flow.source} → {flow.target}  {flow.mass:.3f}" for flow in self.alignment]
        return "\n".join([*lines, f"  {self.signature}"])

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON; what is not a number becomes None."""
        return {
            "source": self.source,
            "target": self.target,
            "method": self.method,
            "distance": _number(self.distance),
            "similarity": None if self.similarity is None else _number(self.similarity),
            "verdict": self.verdict,
            "story": list(self.story),
            "sentence": _number(self.sentence),
            "gate": _number(self.gate),
            "linear": _number(self.linear),
            "structural": _number(self.structural),
            "mix": self.mix,
            "source_words": list(self.source_words),
            "target_words": list(self.target_words),
            "plan": self.plan.tolist(),
            "broken": [_plain(one) for one in self.broken],
            "alignment": [{**asdict(flow), "cost": _number(flow.cost)} for flow in self.alignment],
            "heads": [
                {name: _number(value) for name, value in asdict(head).items()}
                for head in self.heads
            ],
            "signature": str(self.signature),
        }

    def to_html(self) -> str:
        """The comparison as a page of its own: one file that needs neither server nor network.

        It shows the heads this comparison holds; `movers.explain.explanation.explain` shows all.
        """
        from movers.explain.explanation import Explanation

        return Explanation.of(self).to_html()

    def _repr_html_(self) -> str:
        """The page, framed so that a notebook and the page leave each other alone."""
        from movers.explain.explanation import Explanation

        return Explanation.of(self)._repr_html_()

    def plot(self, axes: Axes | None = None) -> Axes:
        """Draw which word went where with matplotlib; line width is mass, colour is cost.

        Parameters
        ----------
        axes
            Where to draw; None makes a new figure.
        """
        from movers.explain.drawing import draw_plan

        return draw_plan(self, axes)


@dataclass(frozen=True)
class Match:
    """One sentence of a ranking."""

    index: int
    text: str
    distance: float
    similarity: float | None = None


@dataclass(frozen=True)
class Ranking:
    """The sentences of a corpus nearest to a query, nearest first; ties in corpus order."""

    query: str
    matches: tuple[Match, ...]
    signature: Signature

    def __iter__(self) -> Any:
        return iter(self.matches)

    def __len__(self) -> int:
        return len(self.matches)

    def __str__(self) -> str:
        lines = [f"{place:3d}. {m.distance:.4f}  {m.text}" for place, m in enumerate(self, 1)]
        return "\n".join([self.query, *lines])

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        matches = [_plain(match) for match in self.matches]
        return {"query": self.query, "matches": matches, "signature": str(self.signature)}

    def __getitem__(self, place: int) -> Match:
        return self.matches[place]


def _plain(record: Broken | Match) -> dict[str, Any]:
    """Fields by name; None for what is not a number."""
    return {
        name: _number(value) if isinstance(value, float) else value
        for name, value in asdict(record).items()
    }


def _number(value: float) -> float | None:
    return value if np.isfinite(value) else None
