"""Which words of two texts are the same, which only moved, and which are left over."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from rapidfuzz.distance import LCSseq

from movers.difference import lexicon
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
        """Settle a word of the first text or the second, so that nothing else is said of it."""
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
    same = _common(*keys)
    gaps = _gaps([i for i, _ in same], len(source)), _gaps([j for _, j in same], len(target))
    settled: tuple[set[int], set[int]] = {i for i, _ in same}, {j for _, j in same}
    elsewhere: dict[str, list[int]] = {}
    for j, key in enumerate(keys[1]):
        if j not in settled[1]:
            elsewhere.setdefault(key, []).append(j)
    moved = []
    for i, key in enumerate(keys[0]):
        if i not in settled[0] and elsewhere.get(key):
            moved.append((i, elsewhere[key].pop(0)))
    settled[0].update(i for i, _ in moved)
    settled[1].update(j for _, j in moved)
    left = (
        [i for i in range(len(source)) if i not in settled[0]],
        [j for j in range(len(target)) if j not in settled[1]],
    )
    return Counterparts((source, target), same, moved, left, gaps, frozenset(linked))


def _common(first: Sequence[str], second: Sequence[str]) -> list[Link]:
    """Return the places of a longest common sequence."""
    same: list[Link] = []
    for step in LCSseq.opcodes(first, second):
        if step.tag == "equal":
            same += zip(
                range(step.src_start, step.src_end),
                range(step.dest_start, step.dest_end),
                strict=True,
            )
    return same


def _gaps(places: Sequence[int], count: int) -> list[int]:
    """Return how many of some places come before each."""
    gaps: list[int] = []
    for before, place in enumerate((*places, count)):
        gaps += [before] * (place + 1 - len(gaps))
    return gaps[:count]


def preposition_before(words: Sequence[Word], place: int) -> str | None:
    """Return the preposition that a word follows, with nothing but an article between."""
    for before in reversed(words[max(0, place - 2) : place]):
        if before.key in lexicon.cues()["preposition"]:
            return before.key
        if before.part != FUNCTION:
            break
    return None
