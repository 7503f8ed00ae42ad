"""The longest sequence that two others have in common, with numbers for sets of places.

Places of the first sequence are bits of a number; for each item of the second one, the bits that
are off are where the sequence in common with all up to it grows (Hyyrö, A note on bit-parallel
alignment computation, 2004).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence


def common_length(first: Sequence[Hashable], second: Sequence[Hashable]) -> int:
    """Return how long the longest sequence is that both have in common.

    Examples
    --------
    >>> common_length("cabbage", "baggage")
    4
    """
    bits = (1 << len(first)) - 1
    for bits in _growth(first, second):  # noqa: B007 (the last one)
        pass
    return len(first) - bits.bit_count()


def common_places(first: Sequence[Hashable], second: Sequence[Hashable]) -> list[tuple[int, int]]:
    """Return where items of a longest sequence stand in one and the other.

    What both begin and end with belongs to it. Of several that are as long it is the one that
    leaves out the last of ``first``, again and again.

    Examples
    --------
    >>> common_places("abcd", "acbd")
    [(0, 0), (1, 2), (3, 3)]
    """
    shorter = min(len(first), len(second))
    begin, end = 0, 0
    while begin < shorter and first[begin] == second[begin]:
        begin += 1
    while begin + end < shorter and first[-1 - end] == second[-1 - end]:
        end += 1
    i, j = len(first) - end, len(second) - end
    tail = [(i + place, j + place) for place in range(end)]
    rows = [-1, *_growth(first[begin:i], second[begin:j])]
    between = []
    while i > begin and j > begin:
        bit = i - begin - 1
        if rows[j - begin] >> bit & 1:
            i -= 1
        elif rows[j - begin - 1] >> bit & 1:
            i, j = i - 1, j - 1
            between.append((i, j))
        else:
            j -= 1
    return [*((place, place) for place in range(begin)), *reversed(between), *tail]


def _growth(first: Sequence[Hashable], second: Sequence[Hashable]) -> Iterator[int]:
    places: dict[Hashable, int] = {}
    for place, item in enumerate(first):
        places[item] = places.get(item, 0) | 1 << place
    whole = (1 << len(first)) - 1
    bits = whole
    for item in second:
        hit = bits & places.get(item, 0)
        bits = (bits + hit | bits - hit) & whole
        yield bits
