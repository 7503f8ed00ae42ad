"""The kinds of differences, and what is said of one."""

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
