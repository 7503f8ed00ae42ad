"""The kinds of differences, and what is said of one in a plain sentence."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

Kind = Literal[
    "roles", "negation", "opposite", "number", "name", "quantity", "modality", "question", "tense",
    "replaced", "added", "removed", "spelling", "reordered",
]  # fmt: skip
KINDS: tuple[Kind, ...] = Kind.__args__  # type: ignore[attr-defined]
"""All kinds, the graver first."""
Span = tuple[int, int]


@dataclass(frozen=True)
class Difference:
    """One thing that two texts differ in.

    Parameters
    ----------
    kind
        One of `KINDS`.
    source, target
        The words in either text, empty where a text has none.
    source_span, target_span
        Where they stand, as ``(start, end)``; None where a text has none.
    sure
        How sure it is, up to 1.
    text
        The same in a plain sentence, the texts called A and B.
    """

    kind: Kind
    source: str
    target: str
    source_span: Span | None
    target_span: Span | None
    sure: float
    text: str

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return asdict(self)


BOTH: dict[Kind, str] = {
    "roles": "A: {0}. B: {1}.",
    "negation": "One denies the other: “{0}” in A, “{1}” in B.",
    "opposite": "The opposite: “{0}” in A, “{1}” in B.",
    "number": "“{0}” in A, “{1}” in B.",
    "name": "Another name: “{0}” in A, “{1}” in B.",
    "quantity": "Another quantity: “{0}” in A, “{1}” in B.",
    "modality": "Not as certain or binding: “{0}” in A, “{1}” in B.",
    "question": "{0} asks, the other states.",
    "tense": "Another time: “{0}” in A, “{1}” in B.",
    "replaced": "“{0}” in A, “{1}” in B.",
    "spelling": "Spelt “{0}” in A, “{1}” in B.",
    "reordered": "The same in another order: “{0}” in A, “{1}” in B.",
}
"""Where both texts have words for it."""
ALONE: dict[Kind, str] = {
    "negation": "{1} denies it: “{0}”.",
    "number": "Only {1} has “{0}”.",
    "quantity": "Only {1} says “{0}”.",
    "modality": "Only {1} says “{0}”.",
    "question": "{0} asks, the other states.",
    "added": "B adds “{0}”.",
    "removed": "A alone has “{0}”.",
}
"""Where one text has them."""
LONG = 60
"""Characters of a clause that are told; the middle of a longer one is left out."""


def say(kind: Kind, source: str, target: str) -> str:
    """Return one difference in a plain sentence, the texts called A and B."""
    if kind == "question":
        return BOTH[kind].format(source)
    source, target = _short(source), _short(target)
    if source and target:
        return BOTH[kind].format(source.rstrip(".") if kind == "roles" else source, target)
    return ALONE[kind].format(source or target, "A" if source else "B")


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 2 * LONG else f"{text[:LONG].rstrip()} … {text[-LONG:].lstrip()}"
