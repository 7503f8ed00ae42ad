"""What one text says and the other denies: negations that do not cancel, and opposites."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from movers.difference import lexicon
from movers.difference.counterparts import MOVABLE, Counterparts, Link, find_counterparts, is_party
from movers.difference.misspelt import are_spellings
from movers.difference.plain_words import Word

Given = str | Sequence[str]
TELLING = frozenset(("content", "name", "number"))
"""Parts of words that have a meaning by themselves."""
WITH_OPPOSITES = frozenset(("content", "function", "modality"))
SHARED = 0.5
"""Share of the words of the shorter text that both must have for a denial to be one."""


def find_opposites(found: Counterparts) -> list[Link]:
    """Return words left over on both sides that are antonyms.

    Words of grammar, *up* and *down*, must stand in the same place.
    """
    pairs, (source, target) = [], found.words
    for i in [*found.left[0]]:
        first = source[i]
        if first.part not in WITH_OPPOSITES or not lexicon.has_opposite(first.key):
            continue
        for j in found.left[1]:
            if _opposite(first, target[j]) and _answers(found, i, j):
                pairs.append((i, j))
                found.take([i], [j])
                break
    return pairs


def _opposite(first: Word, second: Word) -> bool:
    if second.part not in WITH_OPPOSITES:
        return False
    either = (first.key, second.key), (first.lower, second.lower)
    return any(lexicon.are_opposite(*pair) for pair in either)


def _answers(found: Counterparts, i: int, j: int) -> bool:
    """Tell whether two words stand in the same place: in the same gap, or beside the same word.

    Of converses, *sold* and *bought*, the words around them may have changed places.
    """
    source, target = found.words
    if found.in_gap(i, j):
        return True
    if source[i].part != "content" or target[j].part != "content":
        return False
    if found.moved and is_converse(found, i, j):
        return True
    links = {*found.links}
    before = (i - 1, j - 1) in links and source[i - 1].part in ("content", "name")
    behind = (i + 1, j + 1) in links and source[i + 1].part in ("content", "name")
    return before or behind


def is_converse(found: Counterparts, i: int, j: int) -> bool:
    """Tell whether two words say the same with their partners exchanged: *sold* and *bought*."""
    first, second = found.words[0][i], found.words[1][j]
    pairs = (first.key, second.key), (first.lower, second.lower)
    known = not lexicon.pairs_of("converse").isdisjoint(pairs)
    return known and not _same_before(found, i, j)


def _same_before(found: Counterparts, i: int, j: int) -> bool:
    """Tell whether the nearest words before two words that have counterparts are counterparts."""
    partner, (source, target) = dict(found.links), found.words
    before = next((p for p in range(i - 1, -1, -1) if p in partner and is_party(source[p])), None)
    if before is None or partner[before] >= j:
        return False
    return not any(is_party(word) for word in target[partner[before] + 1 : j])


def negations(words: Sequence[Word]) -> list[int]:
    """Return places of the words that deny something."""
    return [place for place, word in enumerate(words) if word.part == "negation"]


def shared(found: Counterparts) -> float:
    """Return the share of the words with a meaning of the shorter text that the other has too.

    Another spelling of a word is the word.
    """
    first, second = found.words
    counts = [sum(word.part in TELLING for word in words) for words in found.words]
    both = sum(first[i].part in TELLING for i, _ in found.links)
    if 2 * both < min(counts):
        left, right = found.left_of("content")
        others = [second[j].lower for j in right]
        both += sum(any(are_spellings(first[i].lower, other) for other in others) for i in left)
    return both / max(1, min(counts))


def share_words(source: str, target: str) -> float:
    """Return the share of the words with a meaning of the shorter text that the other has too."""
    return shared(find_counterparts(source, target))


def denies(found: Counterparts) -> tuple[bool, list[Link]]:
    """Tell whether negations of one text deny the other, and return the opposites in them."""
    first, second = (_denials(words) for words in found.words)
    negated = (first > 0) != (second > 0)
    if first % 2 != second % 2 and not negated:
        negated = not any(word.key == "neither" for words in found.words for word in words)
    return negated, find_opposites(found)


def _denials(words: Sequence[Word]) -> int:
    """Count clauses that are denied: two negations in one cancel, in two they do not."""
    count = negative = 0
    for word in words:
        negative += word.part == "negation"
        if word.key in ("and", "but", "or"):
            count, negative = count + negative % 2, 0
    return count + negative % 2


def polarity_differences(pairs: Iterable[tuple[Given, Given]]) -> NDArray[np.bool_]:
    """Tell whether one text of each pair denies the other, shape ``(pairs, 2)``; needs no model.

    The first column says that negations do not cancel, the second that a word has its opposite for
    a counterpart. Both together, *not open* and *closed*, deny nothing, and neither does a text
    that shares too few words with the other. English only. Texts may be lists of words.

    Examples
    --------
    >>> polarity_differences([("it is safe", "it is not safe"), ("turn it up", "turn it down")])
    array([[ True, False],
           [False,  True]])
    """
    flags = []
    for source, target in pairs:
        first, second = (one if isinstance(one, str) else " ".join(one) for one in (source, target))
        found = find_counterparts(first, second)
        negated, opposites = denies(found)
        if any(found.words[0][i].part in MOVABLE for i, _ in found.moved):
            opposites = [link for link in opposites if not is_converse(found, *link)]
        alike = shared(found) >= SHARED
        odd = len(opposites) % 2 == 1
        flags.append((alike and negated and not odd, alike and bool(opposites) and not negated))
    return np.array(flags, np.bool_).reshape(-1, 2)
