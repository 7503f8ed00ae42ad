"""One sentence held against two others: which is nearer, and what tells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from movers.explain.explanation import Explanation, framed
from movers.explain.page import export_page

Sight = tuple[float, float]
TELLING = 0.02
"""Share of the way to unrelated that two sentences differ by if one is called nearer."""
NEITHER = "B and C are equally far from A."


@dataclass(frozen=True, eq=False)
class Contrast:
    """Two explanations with the same source, called A; the targets are called B and C."""

    first: Explanation
    second: Explanation

    @property
    def verdict(self) -> str | None:
        """Which of the two is nearer; None for a measure without structure beside something."""
        verdict: str | None = self.to_dict()["verdict"]
        return verdict

    def to_dict(self) -> dict[str, Any]:
        """Return what the page shows, as plain values for JSON."""
        return contrasted(self.first.to_dict(), self.second.to_dict())

    def to_html(self) -> str:
        """Return one file that shows it all and needs neither server nor network."""
        return export_page(self.to_dict())

    def _repr_html_(self) -> str:
        return framed(self.to_html())


def contrasted(first: dict[str, Any], second: dict[str, Any]) -> dict[str, Any]:
    """Return two explanations as plain values, put together."""
    return {"verdict": _verdict(first, second), "first": first, "second": second}


def _verdict(first: dict[str, Any], second: dict[str, Any]) -> str | None:
    """Return what two explanations as plain values say about their targets.

    Alone are the sentence vectors where the measure has them, else the words.
    """
    whole: list[Any] = [explanation["structure"] for explanation in (first, second)]
    if None in whole:
        return None
    alone: list[Any] = [explanation["words"] for explanation in (first, second)]
    if priced := first["structure"]["sentence"] is not None:
        vectors = zip(whole, (first["far"], second["far"]), strict=True)
        alone = [{"distance": part["sentence"], "chance": far} for part, far in vectors]
    sights = []
    for parts in (alone, whole):
        distances = [part and part["distance"] for part in parts]
        # What is usual is one unit for both, so that the smaller distance is the nearer.
        unit = max((part and part["chance"]) or 0.0 for part in parts)
        if None in distances or not unit:
            return None
        sights.append((distances[0] / unit, distances[1] / unit))
    return tell_contrast("by sentence vectors" if priced else "by words alone", *sights)


def tell_contrast(by: str, alone: Sight, whole: Sight) -> str:
    """Tell whether a part of the measure tells two sentences apart, and whether the whole does.

    ``by`` says what the part looks at. Either sight has how far each of the two is from the first
    sentence, as a share of what unrelated sentences are.
    """
    # None if it can hardly be said which of the two is nearer.
    before, after = (
        None if abs(first - second) < TELLING else "B" if first < second else "C"
        for first, second in (alone, whole)
    )
    if before == after:
        return f"{before} is nearer to A, {by} and with structure." if before else NEITHER
    if before and after:
        return f"{by.capitalize()} {before} is nearer to A; with structure, {after} is."
    if after:
        return f"{by.capitalize()} B and C cannot be told apart; with structure {after} is nearer."
    return f"{by.capitalize()} {before} is nearer to A; with structure they are equally far."
