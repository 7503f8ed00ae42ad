"""What became of every sentence of a text in another: same, reworded, changed, missing, new."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, Literal
from unicodedata import category

from movers.difference.finder import differences
from movers.difference.kinds import Difference, Kind
from movers.difference.verdicts import GRAVE, HEADLINES, REWORDED, judge

Fate = Literal["same", "reworded", "more", "replaced", "changed", "missing", "new"]
GRAVE_KINDS = GRAVE.keys() - {"tense"}
ELSE = (*dict.fromkeys(GRAVE[kind] for kind in GRAVE if kind in GRAVE_KINDS), "term")
"""Verdicts on two sentences of which one now says something else, the graver first."""
TOLD: tuple[Fate, ...] = ("changed", "missing", "new", "replaced", "more")
"""Fates that a reader has to know of, the graver first; a sentence that moved comes behind."""
SURE = frozenset({"number", "name"})
"""Kinds that are what they are however the rest of a sentence is put."""
UNSURE = 5
"""The power by which another change of meaning counts less for every difference beside it.

It also counts by that power of how far its two sentences are on the way to being none.
"""
SAID = {**HEADLINES, "term": "Alike, but about something else"}
"""What verdicts on two sentences are called."""
LONG_WORD = re.compile(r"[^\W\d_]{4,}")
SIGNS = frozenset({"Sm", "Sc", "So"})
"""Categories of signs that mean something where no word differs."""
RARE = 500
"""Words of a text among which a term occurs at least once, and twice in all."""
OTHER_WORD = 0.7
"""How far a word in place of another moves a sentence from which it is no other word for the same.

Chosen on the pairs of ``tests/documents/labelled_replacements.tsv``.
"""
MANY_WORDS = 50
"""Words of a sentence beyond which a single one hardly moves it, whatever it means."""
COUNTERPART = 0.5
"""Similarity from which two sentences are about the same thing."""


@dataclass(frozen=True)
class Change:
    """A sentence of either text, and what became of it.

    Parameters
    ----------
    fate
        "same": word by word; "reworded": the same in other words; "more": one says more;
        "replaced": a word stands in place of another, which may mean something else;
        "changed": it says something else; "missing" and "new": it has no counterpart.
    source, target
        The sentence in either text by number; None where a text has none.
    distance, similarity
        How far the two are apart; None where there are no two.
    words
        Words of the longer one.
    verdict
        Row of `movers.difference.verdicts.HEADLINES` for two that differ.
    differences
        What the two differ in, the graver first.
    moved
        Whether it stands elsewhere among the others.
    """

    fate: Fate
    source: int | None
    target: int | None
    words: int
    distance: float | None = None
    similarity: float | None = None
    verdict: str = ""
    differences: tuple[Difference, ...] = ()
    moved: bool = False

    @property
    def worded(self) -> bool:
        """Whether a reader has to know of it."""
        return self.fate in TOLD or self.moved

    @property
    def weight(self) -> float:
        """Return how much of a change of meaning it is, up to 1: less where the rest was reworded.

        Of a sentence that is put in quite other words, numbers and names alone are certain, unless
        the two are so far apart that they are hardly counterparts.
        """
        kinds = [difference.kind for difference in self.differences]
        if self.fate != "changed" or not SURE.isdisjoint(kinds):
            return float(self.fate in ("changed", "missing", "new"))
        others = sum(kind not in GRAVE_KINDS for kind in kinds)
        beside = (1 + others - (self.verdict == "term" and others > 0)) ** -UNSURE
        apart = (1.0 - (self.similarity or 0.0)) / (1.0 - COUNTERPART)
        return float(max(beside, apart**UNSURE))

    @property
    def gravity(self) -> tuple[int, float, int, float]:
        """What sorts changes, the graver first."""
        fate = TOLD.index(self.fate) if self.fate in TOLD else len(TOLD)
        verdict = ELSE.index(self.verdict) if self.verdict in ELSE else len(ELSE)
        apart = 1.0 if self.distance is None else self.distance
        return fate, -self.weight, verdict, -self.words * apart

    @property
    def text(self) -> str:
        """What is said of it in a sentence."""
        if self.fate in ("missing", "new"):
            return f"{'Only in A' if self.fate == 'missing' else 'Only in B'}."
        said = "The same word by word" if self.fate == "same" else SAID[self.verdict]
        reasons = "".join(f" {one.text}" for one in self.differences) * (self.fate != "reworded")
        return f"{said}{', elsewhere' * self.moved}.{reasons}"

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        facts = {name: value for name, value in vars(self).items() if name != "differences"}
        return {**facts, "differences": [one.to_dict() for one in self.differences]}


def terms_of(source: str, target: str) -> frozenset[str]:
    """Return words that two texts keep using, and so mean something by."""
    counts = (Counter(_words(text)) for text in (source, target))
    often = (
        {word for word, count in one.items() if count >= max(2, one.total() / RARE)}
        for one in counts
    )
    return frozenset.intersection(*map(frozenset, often))


def _words(text: str) -> list[str]:
    """Return the words of a text that are long enough to mean something."""
    return LONG_WORD.findall(text.casefold())


def judge_pair(
    source: str, target: str, similarity: float, terms: frozenset[str] = frozenset()
) -> tuple[Fate, str, tuple[Difference, ...]]:
    """Say what became of a sentence that has a counterpart: fate, verdict and differences.

    One of the ``terms`` of the texts in place of another is no other word for the same.
    """
    if source == target:
        return "same", "same", ()
    changes = differences(source, target)
    if not changes and (signs := _other_signs(source, target)):
        return "replaced", "words", signs
    verdict = judge(changes, similarity, shared=1.0)  # which matters to pairs less similar alone
    if verdict not in ELSE and any(_other_term(one, terms) for one in changes):
        verdict = "term"
    if verdict in ELSE:
        fate: Fate = "changed"
    elif verdict == "more":
        fate = "more"
    else:
        words = max(len(text.split()) for text in (source, target))
        fate = "replaced" if _means_other(changes, similarity, words) else "reworded"
    return fate, verdict, changes


def _means_other(found: Sequence[Difference], similarity: float, words: int) -> bool:
    """Tell whether what stands in place of something else hardly means the same."""
    kinds = {one.kind for one in found}
    replaced = [one.source + one.target for one in found if one.kind == "replaced"]
    if not all(any(map(str.isalnum, both)) for both in replaced):  # signs
        return True
    if kinds == {"replaced"}:  # all else is as it was
        return words > MANY_WORDS or words * (1.0 - similarity) >= OTHER_WORD * len(found)
    return similarity < REWORDED and not kinds <= {"spelling", "reordered"}


def _other_signs(source: str, target: str) -> tuple[Difference, ...]:
    """Return the first sign in place of another, ``<`` for ``>``, where the words are equal."""
    first, second = (
        [(place, place + 1) for place, letter in enumerate(text) if category(letter) in SIGNS]
        for text in (source, target)
    )
    for here, there in zip_longest(first, second):
        one, other = source[slice(*here or (0, 0))], target[slice(*there or (0, 0))]
        if one and other and one != other:
            said = f"“{one}” in A, “{other}” in B."
            return (Difference("replaced", one, other, here, there, 1.0, said),)
        if one != other:
            said = f"{'A' if one else 'B'} alone has “{one or other}”."
            kind: Kind = "removed" if one else "added"
            return (Difference(kind, one, other, here, there, 1.0, said),)
    return ()


def _other_term(one: Difference, terms: frozenset[str]) -> bool:
    """Tell whether a difference puts a term in place of another."""
    if one.kind != "replaced":
        return False
    first, second = ({*_words(text)} & terms for text in (one.source, one.target))
    return bool(first and second and first != second)
