"""One sentence held against two others: which is nearer, and what tells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from movers.explain.explanation import Explanation, framed
from movers.explain.page import export_page
from movers.explain.telling import Sight, tell_contrast


@dataclass(frozen=True, eq=False)
class Contrast:
    """Two explanations with the same source, called A; the targets are called B and C."""

    first: Explanation
    second: Explanation

    @property
    def verdict(self) -> str | None:
        """Which of the two is nearer; None for a measure without structure beside something."""
        return contrast_verdict(self.first.to_dict(), self.second.to_dict())

    def to_dict(self) -> dict[str, Any]:
        """What the page shows, as plain values for JSON."""
        return contrasted(self.first.to_dict(), self.second.to_dict())

    def to_html(self) -> str:
        """One file that shows it all and needs neither server nor network."""
        return export_page(self.to_dict())

    def _repr_html_(self) -> str:
        return framed(self.to_html())


def contrasted(first: dict[str, Any], second: dict[str, Any]) -> dict[str, Any]:
    """Two explanations as plain values, put together."""
    return {"verdict": contrast_verdict(first, second), "first": first, "second": second}


def contrast_verdict(first: dict[str, Any], second: dict[str, Any]) -> str | None:
    """What two explanations as plain values say about their targets."""
    if any(found["structure"] is None for found in (first, second)):
        return None
    priced = first["structure"]["sentence"] is not None
    alone = _sight(_alone(first), _alone(second))
    parts = (first["structure"], second["structure"])
    whole = _sight(*((part["distance"], part["chance"]) for part in parts))
    if alone is None or whole is None:
        return None
    return tell_contrast("by sentence vectors" if priced else "by words alone", alone, whole)


Seen = tuple[float | None, float | None]
"""A distance, and what it would be between unrelated sentences or by chance."""


def _alone(found: dict[str, Any]) -> Seen:
    """By sentence vectors where the measure has them, else by the words."""
    if (sentence := found["structure"]["sentence"]) is not None:
        return sentence, found["far"]
    alone = found["words"]
    return (None, None) if alone is None else (alone["distance"], alone["chance"])


def _sight(first: Seen, second: Seen) -> Sight | None:
    """Both distances in one unit, so that the smaller one is the nearer."""
    one, two, unit = first[0], second[0], max(first[1] or 0.0, second[1] or 0.0)
    return None if one is None or two is None or not unit else (one / unit, two / unit)
