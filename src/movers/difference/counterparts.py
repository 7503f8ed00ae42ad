"""Which words of two texts are the same, which only moved, and which are left over."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from rapidfuzz.distance import LCSseq

from movers.difference.plain_words import CONTENT, DATE, NAME, NUMBER, QUANTITY, UNIT, Word

MOVABLE = frozenset((CONTENT, NAME, NUMBER, DATE, UNIT, QUANTITY))
"""Parts of words that are worth telling of when they moved."""
PERSONS = frozenset("i you he she we they it".split())

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

    def take(self, i: int | None, j: int | None) -> None:
        """Settle words, so that nothing else is said of them."""
        for side, place in enumerate((i, j)):
            if place is not None and place in self.left[side]:
                self.left[side].remove(place)

    def in_gap(self, i: int, j: int) -> bool:
        """Whether two words stand between the same words, or a plan moves one to the other."""
        return self.gaps[0][i] == self.gaps[1][j] or (i, j) in self.linked


def find_counterparts(
    source: Sequence[Word], target: Sequence[Word], linked: Iterable[Link] = ()
) -> Counterparts:
    """Match equal words: a longest common sequence first, then those that stand elsewhere.

    ``linked`` are pairs of words that somebody else, a transport plan say, holds for counterparts.
    """
    keys = [word.key for word in source], [word.key for word in target]
    same = _common(*keys)
    gaps = _gaps(same, len(source), 0), _gaps(same, len(target), 1)
    left = [*range(len(source))], [*range(len(target))]
    for i, j in same:
        left[0].remove(i)
        left[1].remove(j)
    elsewhere: dict[str, list[int]] = defaultdict(list)
    for j in left[1]:
        elsewhere[keys[1][j]].append(j)
    moved = []
    for i in left[0]:
        if elsewhere[keys[0][i]]:
            moved.append((i, elsewhere[keys[0][i]].pop(0)))
    for i, j in moved:
        left[0].remove(i)
        left[1].remove(j)
    return Counterparts((source, target), same, moved, left, gaps, frozenset(linked))


def _common(first: Sequence[str], second: Sequence[str]) -> list[Link]:
    """The places of a longest common sequence."""
    same = []
    for step in LCSseq.opcodes(first, second):
        if step.tag == "equal":
            same += zip(
                range(step.src_start, step.src_end),
                range(step.dest_start, step.dest_end),
                strict=True,
            )
    return same


def _gaps(same: Sequence[Link], count: int, side: int) -> list[int]:
    gaps, before = [], 0
    places = {link[side] for link in same}
    for place in range(count):
        gaps.append(before)
        before += place in places
    return gaps
