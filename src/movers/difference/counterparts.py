"""Which words of two texts are the same, which only moved, and which are left over."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from movers.difference import lexicon
from movers.difference.common_order import common_places
from movers.difference.plain_words import (
    CONTENT,
    DATE,
    FUNCTION,
    NAME,
    NUMBER,
    QUANTITY,
    UNIT,
    Word,
)

MOVABLE = frozenset((CONTENT, NAME, NUMBER, DATE, UNIT, QUANTITY))
"""Parts of words that are worth telling of when they moved."""
PERSONS = frozenset(("i", "you", "he", "she", "we", "they", "it"))
"""Pronouns that have roles as names do."""
Link = tuple[int, int]


@dataclass
class Counterparts:
    """Words by place: ``same`` in the same order, ``moved``, and those ``left`` on either side.

    ``gaps`` say for every word how many words of the same order come before it.
    """

    words: tuple[Sequence[Word], Sequence[Word]]
    same: list[Link]
    moved: list[Link]
    left: tuple[list[int], list[int]]
    gaps: tuple[list[int], list[int]]
    linked: frozenset[Link] = field(default_factory=frozenset)

    def take(self, side: int, place: int) -> None:
        """Take a word of the first text or the second out of those left over."""
        if place in self.left[side]:
            self.left[side].remove(place)

    def in_gap(self, i: int, j: int) -> bool:
        """Tell whether two words stand between the same words, or a plan moves one to the other."""
        return self.gaps[0][i] == self.gaps[1][j] or (i, j) in self.linked


def find_counterparts(
    source: Sequence[Word], target: Sequence[Word], linked: Iterable[Link] = ()
) -> Counterparts:
    """Match equal words: a longest common sequence first, then those that stand elsewhere.

    ``linked`` are pairs of words that somebody else, a transport plan say, holds for counterparts.
    """
    keys = [word.key for word in source], [word.key for word in target]
    same = common_places(*keys)
    left: tuple[list[int], list[int]] = [], []
    gaps: tuple[list[int], list[int]] = [], []
    for side, words in enumerate(keys):
        met = {link[side] for link in same}
        left[side].extend(place for place in range(len(words)) if place not in met)
        gaps[side].extend(accumulate((place in met for place in range(len(words) - 1)), initial=0))
    elsewhere: dict[str, list[int]] = {}
    for j in left[1]:
        elsewhere.setdefault(keys[1][j], []).append(j)
    moved = [(i, elsewhere[keys[0][i]].pop(0)) for i in left[0] if elsewhere.get(keys[0][i])]
    if moved:
        sources, targets = ({*side} for side in zip(*moved, strict=True))
        left = [i for i in left[0] if i not in sources], [j for j in left[1] if j not in targets]
    return Counterparts((source, target), same, moved, left, gaps, frozenset(linked))


def preposition_before(words: Sequence[Word], place: int) -> str | None:
    """Return the preposition that a word follows, with nothing but an article between."""
    prepositions = lexicon.cues()["preposition"]
    for before in (place - 1, place - 2):
        if before < 0:
            break
        word = words[before]
        if word.key in prepositions:
            return word.key
        if word.part != FUNCTION:
            break
    return None
