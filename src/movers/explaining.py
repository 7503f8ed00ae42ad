"""Why two sentences are near or far: the plan with and without structure, under every head."""

from __future__ import annotations

import html
from base64 import b64encode
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import repeat
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from movers.encode.encodings import Head
from movers.methods import find_method
from movers.results import Comparison, Signature, Span
from movers.solve import emd

if TYPE_CHECKING:
    from movers.scorer import Scorer

Floats = NDArray[np.float64]

TRACE = 1e-5
"""Mass too small to see."""
MAPPED = 80
"""Words of a sentence whose attention can still be drawn."""
LEVELS = 255
"""Steps of attention that a page gets, one byte each."""


def explain(scorer: Scorer, source: str, target: str) -> Explanation:
    """Compare two sentences under every head of the model, not only those of the distance.

    Examples
    --------
    >>> import movers
    >>> found = explain(movers.load("wsmd"), "a dog bites a man", "a man bites a dog")
    >>> len(found.comparison.heads), len(found.selected)
    (72, 12)
    """
    every = scorer.using(layers="all", heads="all") if scorer.heads else scorer
    return Explanation(every.compare(source, target), scorer.heads, scorer.signature)


@dataclass(frozen=True, eq=False)
class Explanation:
    """A comparison under many heads, and which of them make the distance.

    Parameters
    ----------
    comparison
        The sentences compared under every head there is to show.
    selected
        Heads whose mean is the distance.
    signature
        All settings that change that distance.
    """

    comparison: Comparison
    selected: tuple[Head, ...]
    signature: Signature

    @classmethod
    def of(cls, comparison: Comparison) -> Explanation:
        """Explain a comparison by what it holds itself."""
        heads = tuple((head.layer, head.head) for head in comparison.heads)
        return cls(comparison, heads, comparison.signature)

    @property
    def distance(self) -> float:
        """The distance: mean over the selected heads."""
        found = self.comparison
        if not self.selected or np.isnan(found.distance):
            return found.distance
        words, structure = self.shares
        linear, structural = self._mean("linear"), self._mean("structural")
        return words * linear + structure * structural

    @property
    def shares(self) -> tuple[float, float]:
        """How much the words and the structure count in the distance."""
        if find_method(self.comparison.method).reports == "linear":
            return 1.0, 0.0
        return 1.0 - self.comparison.mix, self.comparison.mix

    def to_html(self) -> str:
        """One file that shows it all and needs neither server nor network."""
        from movers.web.page import export_page

        return export_page(self.to_dict())

    def _repr_html_(self) -> str:
        page = html.escape(self.to_html())
        return (
            f'<iframe srcdoc="{page}" sandbox="allow-scripts" title="movers: explanation" '
            'style="width:100%;height:60em;border:0;resize:vertical"></iframe>'
        )

    def to_dict(self) -> dict[str, Any]:
        """What the page shows, as plain values for JSON."""
        found, settings = self.comparison, dict(self.signature.fields)
        return {
            "source": found.source,
            "target": found.target,
            "source_words": list(found.source_words),
            "target_words": list(found.target_words),
            "source_parts": _parts(found.source, found.source_words, found.source_spans),
            "target_parts": _parts(found.target, found.target_words, found.target_spans),
            "source_weights": [_short(weight) for weight in found.plan.sum(axis=1)],
            "target_weights": [_short(weight) for weight in found.plan.sum(axis=0)],
            "cost": [[_short(cell) for cell in row] for row in found.cost],
            "words": self._words(),
            "structure": self._structure() if found.heads else None,
            "signature": str(self.signature),
            "model": settings.get("model"),
            "settings": settings,
        }

    def _words(self) -> dict[str, Any] | None:
        """The words alone: solved anew where the comparison has structure beside them."""
        found = self.comparison
        if found.heads and not found.cost.size:
            return None
        distance, plan = found.distance, found.plan
        if found.heads:
            alone = emd(found.cost, plan.sum(axis=1), plan.sum(axis=0))
            distance, plan = alone.value, alone.plan
        return {
            "method": find_method(found.method).base or found.method,
            "distance": _number(distance),
            "chance": _short(self._chance[0]) if found.cost.size else None,
            "plan": _flows(plan),
        }

    def _structure(self) -> dict[str, Any]:
        found = self.comparison
        return {
            "method": found.method,
            "distance": _number(self.distance),
            "linear": _number(self._mean("linear")),
            "structural": _number(self._mean("structural")),
            "mix": found.mix,
            "shares": self.shares,
            "selected": [list(head) for head in self.selected],
            "heads": list(self._heads()),
        }

    def _mean(self, part: str) -> float:
        """Mean of a part of the distance over the selected heads."""
        chosen = set(self.selected)
        values = [
            getattr(head, part)
            for head in self.comparison.heads
            if (head.layer, head.head) in chosen
        ]
        return float(np.mean(values))

    def _heads(self) -> Iterator[dict[str, Any]]:
        found = self.comparison
        words, structure = self.shares
        linear_chance, structural_chance = self._chance
        strains = strain(found)
        for place, head in enumerate(found.heads):
            yield {
                "layer": head.layer,
                "head": head.head,
                "value": _short(words * head.linear + structure * head.structural),
                "linear": _short(head.linear),
                "structural": _short(head.structural),
                "scale": _short(head.scale),
                "chance": _short(words * linear_chance + structure * structural_chance[place]),
                "plan": _flows(found.plans[place], strains[place]),
                "source_attention": _bytes(found.source_attention[place]),
                "target_attention": _bytes(found.target_attention[place]),
            }

    @cached_property
    def _chance(self) -> tuple[float, Floats]:
        """Both parts of the distance if every word went everywhere, the second by head."""
        found = self.comparison
        u, v = found.plan.sum(axis=1), found.plan.sum(axis=0)
        linear = float(u @ found.cost @ v) if found.cost.size else 0.0
        a, b = found.source_attention, found.target_attention
        squares = u @ a**2 @ u + v @ b**2 @ v
        return linear, _scales(found) * (squares - 2 * (u @ a @ u) * (v @ b @ v))


def strain(comparison: Comparison) -> Floats:
    """What structure charges for each word pair under the plan, ``(heads, n, m)``.

        k/2 * sum ((A[i, k] - B[j, l])**2 + (A[k, i] - B[l, j])**2) P[k, l]

    Half of what the two words give to the others and half of what they get, so that
    ``(P * strain).sum()`` is the structural part of the distance.
    """
    a, b, plans = comparison.source_attention, comparison.target_attention, comparison.plans
    given = _disagreement(a, b, plans)
    gotten = _disagreement(a.swapaxes(1, 2), b.swapaxes(1, 2), plans)
    return _scales(comparison)[:, None, None] * (given + gotten) / 2


def _disagreement(a: Floats, b: Floats, plans: Floats) -> Floats:
    source = a**2 @ plans.sum(axis=2)[:, :, None]
    target = b**2 @ plans.sum(axis=1)[:, :, None]
    return np.asarray(source + target.swapaxes(1, 2) - 2 * a @ plans @ b.swapaxes(1, 2))


def _scales(comparison: Comparison) -> Floats:
    return np.array([head.scale for head in comparison.heads], dtype=np.float64)


def _parts(text: str, words: tuple[str, ...], spans: tuple[Span, ...]) -> list[list[Any]]:
    """The sentence cut into words compared, each with its number, and the text between them."""
    parts: list[list[Any]] = []
    read = 0
    for number, (word, (start, end)) in enumerate(
        zip(words, spans or repeat((0, 0)), strict=False)
    ):
        if start > read:
            parts.append([text[read:start], None])
        parts.append([word, number])
        read = max(read, end)
    rest = text[read:] if spans else ""
    return [*parts, [rest, None]] if rest else parts


def _flows(plan: Floats, *prices: Floats) -> list[list[float | None]]:
    """The cells of a plan that hold mass: row, column, mass, and what else is known of each."""
    return [
        [int(i), int(j), *(_short(array[i, j]) for array in (plan, *prices))]
        for i, j in np.argwhere(plan > TRACE)
    ]


def _bytes(attention: Floats) -> str:
    """A matrix of shares as base64, a byte a cell; nothing if it is too large to draw."""
    if len(attention) > MAPPED:
        return ""
    return b64encode(np.rint(attention * LEVELS).astype(np.uint8).tobytes()).decode()


def _short(value: float) -> float | None:
    """A number with the digits a page can show."""
    return _number(float(f"{value:.5g}"))


def _number(value: float) -> float | None:
    return value if np.isfinite(value) else None
