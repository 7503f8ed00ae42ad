"""Two texts compared sentence by sentence: what changed, in numbers, in words and as a page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from movers.difference import verdicts
from movers.difference.kinds import Difference
from movers.difference.verdicts import NEAR, UNRELATED
from movers.documents.changes import Change
from movers.documents.measure import Matched
from movers.explain.compared import Signature
from movers.explain.page import export_texts
from movers.results import Comparison

MOST = 5
"""Changes that are told in sentences; JSON holds all."""
SHORT = 80
"""Letters of a sentence that are quoted."""
HEADLINES = {
    "changed": "Alike, but {count} say something else",
    "missing": "Alike, but {count} of A are missing in B",
    "new": "Alike, but {count} of B are new",
    "replaced": "Alike, but {count} put other words in place",
    "more": "Alike, but {count} say more or less",
    "moved": "The same in another order",
    "reworded": "The same in other words",
    "same": "The same",
}
"""The verdict by the gravest change there is."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class TextComparison(Comparison):
    """Two texts compared: what became of every sentence.

    What a `Comparison` calls words are sentences here; ``parts`` are what the sentences cost, their
    order and their meaning (`movers.documents.measure`).

    Parameters
    ----------
    matched
        The sentences of both texts and the pairs of them.
    """

    matched: Matched

    @classmethod
    def of(cls, matched: Matched, method: str, signature: Signature) -> TextComparison:
        """Tell what a match of two texts comes to."""
        sides, parts = (matched.source, matched.target), matched.parts
        words = [tuple(one.text for one in side.sentences) for side in sides]
        spans = [tuple((one.start, one.end) for one in side.sentences) for side in sides]
        return cls(
            source=sides[0].text,
            target=sides[1].text,
            source_words=words[0],
            target_words=words[1],
            source_spans=spans[0],
            target_spans=spans[1],
            method=method,
            distance=matched.distance,
            linear=parts["sentences"],
            structural=parts["order"] + parts["meaning"],
            mix=0.0,
            plans=np.zeros((1, 0, 0)),
            cost=np.zeros((0, 0)),
            heads=(),
            far=matched.far,
            parts=parts,
            signature=signature,
            matched=matched,
        )

    @property
    def changes(self) -> tuple[Change, ...]:
        """What became of every sentence, in the order of the texts."""
        return self.matched.changes

    @cached_property
    def gravest(self) -> tuple[Change, ...]:
        """The changes that a reader has to know of, the graver first."""
        return tuple(sorted((one for one in self.changes if one.worded), key=lambda x: x.gravity))

    @cached_property
    def differences(self) -> tuple[Difference, ...]:
        """What differs within the sentences that changed, with its places in the texts."""
        return tuple(
            replace(
                one,
                source_span=_shifted(one.source_span, self.source_spans, change.source),
                target_span=_shifted(one.target_span, self.target_spans, change.target),
            )
            for change in self.gravest
            for one in change.differences
        )

    @property
    def verdict(self) -> str | None:
        """Similarity and changes in a sentence."""
        alike = self.similarity or 0.0
        shared = self.alike(self.linear) or 0.0  # however grave what changed
        if shared < NEAR:
            said = verdicts.HEADLINES["related" if shared >= UNRELATED else "unrelated"]
        else:
            counts = self.counts
            worst = next(name for name in HEADLINES if counts[name] or name == "same")
            count = counts[worst]
            said = HEADLINES[worst].format(count=f"{count} sentence{'s' * (count != 1)}")
            said = _one(said) if count == 1 else said
        return f"{said}: {alike:.2f} alike."

    @cached_property
    def counts(self) -> Counter[str]:
        """How many sentences met which fate, and how many moved."""
        moved = ("moved" for one in self.changes if one.moved)
        return Counter((*(one.fate for one in self.changes), *moved))

    @property
    def story(self) -> tuple[str, ...]:
        """What became of the texts, the gravest changes first."""
        sentences = [*self._cut(), *(self.tell(one) for one in self.gravest[:MOST])]
        more = len(self.gravest) - MOST
        return (*sentences, *([f"And {more} more."] if more > 0 else []))

    def _cut(self) -> Iterator[str]:
        for name, side in (("A", self.matched.source), ("B", self.matched.target)):
            if side.cut:
                many = f"{side.cut} sentences of {name}, longer than the model reads, were"
                one = f"1 sentence of {name}, longer than the model reads, was"
                yield f"{one if side.cut == 1 else many} cut at clauses."

    def tell(self, change: Change) -> str:
        """Quote a change and say what it is."""
        place = self.source_words[change.source] if change.source is not None else ""
        place = self.target_words[change.target] if change.target is not None else place
        quoted = place if len(place) <= SHORT else f"{place[: SHORT - 1].rstrip()}…"
        return f"“{quoted}” {change.text}"

    def __repr__(self) -> str:
        sizes = f"{len(self.source_words)} and {len(self.target_words)} sentences"
        return f"TextComparison({sizes}, {self.method}={self.distance:.6g})"

    def __str__(self) -> str:
        parts = ", ".join(f"{name} {value:.4f}" for name, value in self.parts.items())
        head = f"{self.method} {self.distance:.4f}  similarity {self.similarity:.2f}  ({parts})"
        return "\n".join([head, f"  {self.verdict}", *(f"  {one}" for one in self.story),
                          f"  {self.signature}"])  # fmt: skip

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            **super().to_dict(),
            "parts": dict(self.parts),
            "sentences": [
                [asdict(one) for one in side.sentences]
                for side in (self.matched.source, self.matched.target)
            ],
            "changes": [one.to_dict() | {"text": one.text} for one in self.changes],
        }

    def to_html(self) -> str:
        """Return the texts side by side, as a page that needs neither server nor network."""
        return export_texts(self.to_dict())


def _shifted(span: Any, spans: Any, number: int | None) -> Any:
    if span is None or number is None:
        return None
    return span[0] + spans[number][0], span[1] + spans[number][0]


def _one(said: str) -> str:
    """Return what is said of several sentences as said of one."""
    for many, one in ((" say ", " says "), (" are ", " is "), (" put ", " puts ")):
        said = said.replace(many, one)
    return said
