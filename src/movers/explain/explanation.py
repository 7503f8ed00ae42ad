"""Why two sentences are near or far: the plan with and without structure, under every head."""

from __future__ import annotations

import html
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import repeat
from typing import Any

import numpy as np

from movers.arrays import Floats
from movers.encode.encodings import Head
from movers.explain.compared import Compared, Span
from movers.explain.page import export_page
from movers.explain.relations import broken_relations, scales_of, strain
from movers.explain.summary import tell_figures, tell_judgement, tell_story, tell_verdict

TRACE = 1e-5
"""Mass too small to see."""
MAPPED = 80
"""Words of a sentence whose attention can still be drawn."""
LEVELS = 255
"""Steps of attention that a page gets, one byte each."""


@dataclass(frozen=True, eq=False)
class Explanation:
    """A comparison, and the same under every head there is to show.

    ``links`` say which word goes with which, and which with none, as `Alignment.to_dict` has it;
    None if nobody asked.
    """

    comparison: Compared
    every: Compared
    links: Mapping[str, Any] | None = None

    @property
    def selected(self) -> tuple[Head, ...]:
        """Heads whose mean is the distance."""
        return tuple((head.layer, head.head) for head in self.comparison.heads)

    @property
    def distance(self) -> float:
        """The distance: mean over the selected heads."""
        return self.comparison.distance

    def to_html(self) -> str:
        """Return one file that shows it all and needs neither server nor network."""
        return export_page(self.to_dict())

    def _repr_html_(self) -> str:
        return framed(self.to_html())

    def to_dict(self, *, attention: bool = True) -> dict[str, Any]:
        """Return what the page shows, as plain values for JSON; attention is most of it."""
        pair = self.comparison
        settings = dict(pair.signature.fields)
        return {
            "verdict": tell_verdict(pair),
            "judged": tell_judgement(pair),
            "differences": [one.to_dict() for one in pair.differences],
            "story": list(tell_story(pair)),
            "figures": list(tell_figures(pair, broken_relations(pair))),
            "similarity": None if pair.similarity is None else plain_number(pair.similarity),
            "far": pair.far,
            "source": pair.source,
            "target": pair.target,
            "source_words": list(pair.source_words),
            "target_words": list(pair.target_words),
            "source_unread": pair.source_unread,
            "target_unread": pair.target_unread,
            "source_parts": _parts(pair.source, pair.source_words, pair.source_spans),
            "target_parts": _parts(pair.target, pair.target_words, pair.target_spans),
            "source_weights": [_short(weight) for weight in pair.weights[0]],
            "target_weights": [_short(weight) for weight in pair.weights[1]],
            "home": plain_number(pair.at_home),
            "cost": [[_short(cell) for cell in row] for row in pair.cost],
            "words": self._words(),
            "structure": self._structure(attention=attention) if pair.heads else None,
            "links": None if self.links is None else _linked(self.links),
            "signature": str(pair.signature),
            "model": settings.get("model"),
            "settings": settings,
        }

    def _words(self) -> dict[str, Any] | None:
        """Return the words alone, as plain values."""
        alone, priced = self.comparison.words, self.comparison.cost.size
        return (
            None
            if alone is None
            else {
                "method": alone.method,
                "distance": plain_number(alone.distance),
                "chance": _short(self._chance[0]) if priced else None,
                "plan": plain_flows(alone.plan),
            }
        )

    def _structure(self, *, attention: bool) -> dict[str, Any]:
        pair = self.comparison
        trust = pair.trust
        heads = list(self._heads(attention=attention))
        chosen = [head for head in heads if (head["layer"], head["head"]) in self.selected]
        return {
            "method": pair.method,
            "distance": plain_number(pair.distance),
            "sentence": pair.sentence if "sentence" in pair.parts else None,
            "gate": pair.gate,
            "linear": plain_number(pair.linear),
            "structural": plain_number(pair.structural),
            "mix": pair.mix,
            "shares": pair.shares,
            "chance": _short(float(np.mean([head["chance"] for head in chosen]))),
            "trust": None if trust is None else [[_short(cell) for cell in row] for row in trust],
            "selected": [list(head) for head in self.selected],
            "heads": heads,
        }

    def _heads(self, *, attention: bool) -> Iterator[dict[str, Any]]:
        every = self.every
        words, structure = every.shares
        linear_chance, structural_chance = self._chance
        strains, paid = strain(every), every.home.paid if every.home else None
        homes = np.zeros(len(every.heads)) if paid is None else paid
        for place, head in enumerate(every.heads):
            parts = every.sentence + words * head.linear + structure * head.structural
            chance = words * linear_chance + structure * structural_chance[place]
            if "sentence" in every.parts and every.far is not None:
                chance = every.far
            yield {
                "layer": head.layer,
                "head": head.head,
                "value": _short(parts + homes[place]),
                "linear": _short(head.linear),
                "structural": _short(head.structural),
                "home": _short(homes[place]),
                "scale": _short(head.scale),
                "chance": _short(chance),
                "plan": plain_flows(every.plans[place], strains[place]),
                "source_attention": _bytes(every.source_attention[place]) if attention else "",
                "target_attention": _bytes(every.target_attention[place]) if attention else "",
            }

    @cached_property
    def _chance(self) -> tuple[float, Floats]:
        """Both parts of the distance if every word went everywhere, the second by head."""
        every = self.every
        u, v = every.weights
        linear = float(u @ every.cost @ v) if every.cost.size else 0.0
        a, b = every.source_attention, every.target_attention
        squares = u @ a**2 @ u + v @ b**2 @ v
        return linear, scales_of(every) * (squares - 2 * (u @ a @ u) * (v @ b @ v))


def framed(page: str) -> str:
    """Return a page in a frame, so that a notebook and the page leave each other alone."""
    return (
        f'<iframe srcdoc="{html.escape(page)}" sandbox="allow-scripts" title="movers: explanation" '
        'style="width:100%;height:60em;border:0;resize:vertical"></iframe>'
    )


def _parts(text: str, words: Sequence[str], spans: Sequence[Span]) -> list[list[Any]]:
    """Cut a sentence into the words compared, each with its number, and the text between."""
    parts: list[list[Any]] = []
    read = 0
    places = zip(words, spans or repeat((0, 0)), strict=False)
    for number, (word, (start, end)) in enumerate(places):
        if start > read:
            parts.append([text[read:start], None])
        parts.append([word, number])
        read = max(read, end)
    rest = text[read:] if spans else ""
    return [*parts, [rest, None]] if rest else parts


def _linked(alignment: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the page shows of links: the words of both sentences, and which go together."""
    copied = ("source_words", "target_words", "unmatched_source", "unmatched_target", "signature")
    shown = {name: alignment[name] for name in copied}
    for side in ("source", "target"):
        cut = (alignment[name] for name in (side, f"{side}_words", f"{side}_spans"))
        shown[f"{side}_parts"] = _parts(*cut)
    shown["links"] = [
        [link["source_index"], link["target_index"], _short(link["confidence"])]
        for link in alignment["links"]
    ]
    return shown


def plain_flows(plan: Floats, *prices: Floats) -> list[list[float | None]]:
    """Return the cells of a plan that hold mass: row, column, mass, and what else is known."""
    return [
        [int(i), int(j), *(_short(array[i, j]) for array in (plan, *prices))]
        for i, j in np.argwhere(plan > TRACE)
    ]


def _bytes(attention: Floats) -> str:
    """Return a matrix of shares as base64, a byte a cell; nothing if it is too large to draw."""
    if len(attention) > MAPPED:
        return ""
    return b64encode(np.rint(attention * LEVELS).astype(np.uint8).tobytes()).decode()


def _short(value: float) -> float | None:
    """Return a number with the digits a page can show."""
    return plain_number(float(f"{value:.5g}"))


def plain_number(value: float | None) -> float | None:
    """Return a number; None for none, and for what JSON has no word for."""
    return value if value is not None and np.isfinite(value) else None
