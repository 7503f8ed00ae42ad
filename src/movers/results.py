"""What comes back: values that explain themselves."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from movers.align.alignment import Link, make_links
from movers.difference.kinds import Difference
from movers.explain.compared import LINKED, Broken, Compared, Flow, HeadValue, Signature
from movers.explain.explanation import Explanation, framed, plain_number
from movers.explain.page import html_table
from movers.explain.plan_drawing import draw_plan
from movers.explain.relations import broken_relations
from movers.explain.summary import tell_figures, tell_judgement, tell_story, tell_verdict

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "Broken",
    "Comparison",
    "Difference",
    "Flow",
    "HeadValue",
    "Match",
    "Ranking",
    "Signature",
]

SHOWN = 20
"""So many moves or matches are shown to people; JSON holds all."""


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Compared):
    """Two sentences compared: the distance and its reasons; the fields are those of `Compared`."""

    @cached_property
    def broken(self) -> tuple[Broken, ...]:
        """The relations whose loss costs most, dearest first; none where structure is free."""
        return broken_relations(self)

    @property
    def verdict(self) -> str | None:
        """Similarity and differences in a sentence; None where the measure has no scale."""
        return tell_verdict(self)

    @property
    def judgement(self) -> dict[str, Any] | None:
        """What a judge says, as plain values with "says", "probability" and "text"."""
        return tell_judgement(self)

    @property
    def story(self) -> tuple[str, ...]:
        """What differs, in plain sentences."""
        return tell_story(self)

    @property
    def figures(self) -> tuple[str, ...]:
        """Where the distance comes from, in sentences with numbers."""
        return tell_figures(self, self.broken)

    def largest(self, count: int) -> tuple[tuple[Flow, ...], int]:
        """Return the moves of most mass, in the order of the source, and count the others."""
        moves = self.alignment
        places = sorted(sorted(range(len(moves)), key=lambda move: -moves[move].mass)[:count])
        return tuple(moves[move] for move in places), len(moves) - len(places)

    @cached_property
    def links(self) -> tuple[Link, ...]:
        """Words that go together under this comparison's own plan.

        Each is a share of both words: the geometric mean of what either gives the other. Links
        people would make are `Scorer.align`'s business; these show what the distance is made of.
        """
        if not self.plan.size:
            return ()
        shares = self.mutual_shares
        cost = self.cost if self.cost.size else np.full(self.plan.shape, np.nan)
        words = self.source_words, self.target_words
        spans = self.source_spans, self.target_spans
        return make_links(words, spans, (shares, shares, cost), threshold=LINKED)

    def __repr__(self) -> str:
        return f"Comparison({self.source!r}, {self.target!r}, {self.method}={self.distance:.6g})"

    def __str__(self) -> str:
        lines = [f"{self.method} {self.distance:.4f}"]
        if self.similarity is not None:
            lines[0] += f"  similarity {self.similarity:.2f}"
        if {"sentence", "at home"} & self.parts.keys():
            parts = (f"{name} {value:.4f}" for name, value in self.parts.items())
            lines[0] += f"  ({', '.join(parts)})"
        elif self.heads:
            lines[0] += f"  (words {self.linear:.4f}, structure {self.structural:.4f})"
        flows, left_out = self.largest(SHOWN)
        lines += [f"  {flow.source} → {flow.target}  {flow.mass:.3f}" for flow in flows]
        if left_out:
            lines.append(f"  … and {left_out} smaller moves")
        return "\n".join([*lines, f"  {self.signature}"])

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON; what is not a number becomes None."""
        return {
            "source": self.source,
            "target": self.target,
            "method": self.method,
            "distance": plain_number(self.distance),
            "similarity": None if self.similarity is None else plain_number(self.similarity),
            "verdict": self.verdict,
            "judged": self.judgement,
            "differences": [one.to_dict() for one in self.differences],
            "story": list(self.story),
            "figures": list(self.figures),
            "sentence": plain_number(self.sentence),
            "gate": plain_number(self.gate),
            "linear": plain_number(self.linear),
            "structural": plain_number(self.structural),
            "home": plain_number(self.at_home),
            "parts": {name: plain_number(value) for name, value in self.parts.items()},
            "mix": self.mix,
            "source_words": list(self.source_words),
            "target_words": list(self.target_words),
            "source_unread": self.source_unread,
            "target_unread": self.target_unread,
            "source_repairs": [asdict(one) for one in self.source_repairs],
            "target_repairs": [asdict(one) for one in self.target_repairs],
            "plan": self.plan.tolist(),
            "broken": [_plain(one) for one in self.broken],
            "alignment": [_plain(flow) for flow in self.alignment],
            "heads": [_plain(head) for head in self.heads],
            "signature": str(self.signature),
        }

    def to_html(self) -> str:
        """Return the comparison as a page: one file that needs neither server nor network.

        It shows the heads this comparison holds; `Scorer.explain` shows all.
        """
        return Explanation(self, self).to_html()

    def _repr_html_(self) -> str:
        """Return the page, framed so that a notebook and the page leave each other alone."""
        return framed(self.to_html())

    def plot(self, axes: Axes | None = None) -> Axes:
        """Draw which word went where with matplotlib; line width is mass, colour is cost.

        Parameters
        ----------
        axes
            Where to draw; None makes a new figure.
        """
        return draw_plan(self, axes)


@dataclass(frozen=True)
class Match:
    """One sentence of a ranking; ``unread`` counts its words that the model did not read."""

    index: int
    text: str
    distance: float
    similarity: float | None = None
    unread: int = 0


@dataclass(frozen=True, repr=False)
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

    def __repr__(self) -> str:
        shown = "".join(f"\n{line}" for line in str(self).splitlines()[1:][:SHOWN])
        more = len(self) - SHOWN
        return f"{type(self).__name__} of {self.query!r}:{shown}" + (
            f"\n     … and {more:,} more" if more > 0 else ""
        )

    def _repr_html_(self) -> str:
        """Return a table for notebooks."""
        scaled = any(match.similarity is not None for match in self.matches)
        heads = ["", "distance", *(["similarity"] if scaled else []), "sentence"]
        rows = []
        for place, one in enumerate(self.matches[:SHOWN], 1):
            alike = [] if one.similarity is None else [f"{one.similarity:.2f}"]
            rows.append([str(place), f"{one.distance:.4f}", *alike, one.text])
        more = len(self) - SHOWN
        left = f"<p>… and {more:,} more</p>" if more > 0 else ""
        return html_table(heads, rows, self.query) + left

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        matches = [_plain(match) for match in self.matches]
        return {"query": self.query, "matches": matches, "signature": str(self.signature)}

    def __getitem__(self, place: int) -> Match:
        return self.matches[place]


def _plain(record: Broken | Flow | HeadValue | Match) -> dict[str, Any]:
    """Return fields by name; None for what is not a number."""
    return {
        name: plain_number(value) if isinstance(value, float) else value
        for name, value in asdict(record).items()
    }
