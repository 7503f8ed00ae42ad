"""The longest sequence that two others have in common, with numbers for sets of places.

Places of the first sequence are bits of a number; for each item of the second one, the bits that
are off are where the sequence in common with all up to it grows (Hyyrö, A note on bit-parallel
alignment computation, 2004).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence


def gains_of_exchanges(
    first: Sequence[Hashable], second: Sequence[Hashable], exchanges: Iterable[tuple[int, int]]
) -> Iterator[int]:
    """Yield by how much a sequence in common grows if two items of ``second`` change places.

    ``exchanges`` are the places of the two, the earlier one first.

    Examples
    --------
    >>> [*gains_of_exchanges("abcd", "acbd", [(1, 2), (0, 3)])]
    [1, -2]
    """
    hits, whole = _hits(first, second), (1 << len(first)) - 1
    rows = [whole, *_growth(hits, whole)]
    for low, high in exchanges:  # all is as it was before the earlier place
        bits = rows[low]
        for hit in (hits[high], *hits[low + 1 : high], hits[low], *hits[high + 1 :]):
            hit &= bits
            bits = (bits + hit | bits - hit) & whole
        yield rows[-1].bit_count() - bits.bit_count()


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
    rows = [-1, *_growth(_hits(first[begin:i], second[begin:j]), (1 << i - begin) - 1)]
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


def _hits(first: Sequence[Hashable], second: Sequence[Hashable]) -> list[int]:
    """Return for each item of ``second`` the bits of its places in ``first``."""
    places: dict[Hashable, int] = {}
    for place, item in enumerate(first):
        places[item] = places.get(item, 0) | 1 << place
    return [places.get(item, 0) for item in second]


def _growth(hits: Sequence[int], whole: int) -> list[int]:
    """Return the bits after each item, from all of them on."""
    bits, rows = whole, []
    for hit in hits:
        hit &= bits
        bits = (bits + hit | bits - hit) & whole
        rows.append(bits)
    return rows
