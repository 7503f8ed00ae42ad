"""Which words of two texts are the same, which only moved, and which are left over."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

from movers.difference import lexicon
from movers.difference.common_order import common_places
from movers.difference.kinds import Span
from movers.difference.plain_words import Part, Word, read

MOVABLE = frozenset(("content", "name", "number", "date", "unit", "quantity"))
"""Parts of words that are worth telling of when they moved."""
Link = tuple[int, int]
Places = tuple[list[int], list[int]]
"""Places of words in the first text and in the second."""


@dataclass
class Counterparts:
    """Words by place: ``same`` in the same order, ``moved``, and those ``left`` on either side.

    ``gaps`` say for every word how many words of the same order come before it; ``linked`` are
    pairs of words that somebody else, a transport plan say, holds for counterparts.
    """

    words: tuple[Sequence[Word], Sequence[Word]]
    same: list[Link]
    moved: list[Link]
    left: Places
    gaps: Places
    linked: frozenset[Link]

    @cached_property
    def links(self) -> tuple[Link, ...]:
        """Equal words of both texts, in the same order or not."""
        return (*self.same, *self.moved)

    def take(self, first: Iterable[int], second: Iterable[int]) -> None:
        """Take words of the first text and the second out of those left over."""
        for left, taken in zip(self.left, (first, second), strict=True):
            for place in taken:
                if place in left:
                    left.remove(place)

    def left_of(self, *parts: Part) -> Places:
        """Return the words left over of some parts."""
        (first, second), (left, right) = self.words, self.left
        return (
            [place for place in left if first[place].part in parts],
            [place for place in right if second[place].part in parts],
        )

    def left_where(self, holds: Callable[[Word], bool]) -> Places:
        """Return the words left over of which something holds."""
        first, second = (
            [place for place in left if holds(words[place])]
            for words, left in zip(self.words, self.left, strict=True)
        )
        return first, second

    def in_gap(self, i: int, j: int) -> bool:
        """Tell whether two words stand between the same words, or a plan moves one to the other."""
        return self.gaps[0][i] == self.gaps[1][j] or (i, j) in self.linked

    def pair(self, left: Sequence[int], right: Sequence[int]) -> list[Link]:
        """Pair words that stand for each other: in the same gap first, the others in order."""
        pairs, later, free = [], [], [*right]
        for i in left:
            near = next((j for j in free if self.in_gap(i, j)), None)
            if near is None:
                later.append(i)
            else:
                pairs.append((i, near))
                free.remove(near)
        return sorted([*pairs, *zip(later, free, strict=False)])

    def pair_linked(self, left: Sequence[int], right: Sequence[int]) -> list[Link]:
        """Pair words of different gaps that a plan moves to each other, each at most once."""
        pairs: list[Link] = []
        for i, j in sorted(self.linked):
            taken = any(i == one or j == other for one, other in pairs)
            if i in left and j in right and not taken and not self.in_gap(i, j):
                pairs.append((i, j))
        return pairs

    def pair_runs(self, left: Sequence[int], right: Sequence[int]) -> list[Places]:
        """Pair runs of words in the same gap that are not behind two different prepositions."""
        pairs, free = [], runs(right, self.words[1])
        for run in runs(left, self.words[0]):
            near = next((one for one in free if self._in_place(run[0], one[0])), None)
            if near is not None:
                pairs.append((run, near))
                free.remove(near)
        return pairs

    def _in_place(self, i: int, j: int) -> bool:
        if not self.in_gap(i, j):
            return False
        heads = {preposition_before(*side) for side in zip(self.words, (i, j), strict=True)}
        return len(heads) == 1 or None in heads or (i, j) in self.linked


def find_counterparts(
    source: str, target: str, links: Iterable[tuple[Span, Span]] = ()
) -> Counterparts:
    """Match equal words: a longest common sequence first, then those that stand elsewhere.

    ``links`` are places of words that somebody else holds for counterparts.
    """
    words = read(source), read(target)
    keys = [[word.key for word in side] for side in words]
    same = common_places(*keys)
    left: Places = [], []
    gaps: Places = [], []
    for side, every in enumerate(keys):
        met = {link[side] for link in same}
        left[side].extend(place for place in range(len(every)) if place not in met)
        gaps[side].extend(accumulate((place in met for place in range(len(every) - 1)), initial=0))
    elsewhere: dict[str, list[int]] = {}
    for j in left[1]:
        elsewhere.setdefault(keys[1][j], []).append(j)
    moved = [(i, elsewhere[keys[0][i]].pop(0)) for i in left[0] if elsewhere.get(keys[0][i])]
    if moved:
        sources, targets = ({*side} for side in zip(*moved, strict=True))
        left = [i for i in left[0] if i not in sources], [j for j in left[1] if j not in targets]
    return Counterparts(words, same, moved, left, gaps, frozenset(_linked_words(words, links)))


def _linked_words(
    words: tuple[Sequence[Word], Sequence[Word]], links: Iterable[tuple[Span, Span]]
) -> Iterable[Link]:
    """Return links of places in the texts as links of words."""
    if not (links := [*links]):
        return ()
    first, second = ({word.start: k for k, word in enumerate(side)} for side in words)
    pairs = ((first.get(one[0]), second.get(two[0])) for one, two in links)
    return [(i, j) for i, j in pairs if i is not None and j is not None]


def runs(places: Sequence[int], words: Sequence[Word]) -> list[list[int]]:
    """Return places in runs with nothing but words of grammar between them."""
    found: list[list[int]] = []
    for place in places:
        between = words[found[-1][-1] + 1 : place] if found else ()
        if found and all(word.part == "function" and word.key != "and" for word in between):
            found[-1].append(place)
        else:
            found.append([place])
    return found


def is_person(word: Word) -> bool:
    """Tell whether a word is a pronoun that has roles as names do."""
    return word.key in lexicon.cues()["person"]


def is_party(word: Word) -> bool:
    """Tell whether a word may be a subject or an object."""
    return word.part in ("content", "name") or is_person(word)


def preposition_before(words: Sequence[Word], place: int) -> str | None:
    """Return the preposition that a word follows, with nothing but an article between."""
    prepositions = lexicon.cues()["preposition"]
    for word in reversed(words[max(0, place - 2) : place]):
        if word.key in prepositions:
            return word.key
        if word.part != "function":
            break
    return None
