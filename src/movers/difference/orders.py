"""What words alone tell of another order: of lists, of the two sides of a verb, and of its voice.

Attention and vectors see that words stand elsewhere, and hardly that *and* makes both orders say
the same, that *borders* does and that *beat* does not. The words themselves tell it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import product

import numpy as np
from numpy.typing import NDArray

from movers.arrays import Ints
from movers.difference.clauses import between_clauses
from movers.difference.sides import changes_roles, find_sides, holds_both_ways, shared_words
from movers.difference.voices import keeps_roles

HARMLESS, TELLING = 1, -1
"""What another order is: without effect, or another meaning."""

JOINING = frozenset(
    "and or nor & plus versus vs und oder sowie et ou y e o oppure och og eller oraz albo lub "
    "и или та або και ή ve veya 和 或".split()
)
"""Words whose two sides may change places, and that say nothing else in another language."""
ORDERED = frozenset("respectively former latter beziehungsweise respectivement".split())
"""Words beside which the order of all lists matters."""
LATER = frozenset(
    "then later afterwards subsequently eventually finally thereby therefore thus hence so "
    "dann danach puis ensuite luego después poi".split()
)
"""Words with which a member cannot begin that stands as well before as after another."""
SHARED = 4
"""So many words beside a member may stand beside the other as well: *the* dog and *the* cat."""
CHARACTERS = 4000
"""The longest sentence of which an order is told."""
LONGEST = 64
"""Words of a sentence whose sides and voice are looked at."""
MOST = 16
"""Joining words of a sentence that are looked at."""
COMMA = ","
_WORD = re.compile(r"\w+|&|,")


def effects_of_order(texts: Sequence[str], rows: Ints) -> NDArray[np.int8]:
    """Return what words tell of another order: `HARMLESS`, `TELLING`, or 0 where they do not.

    It is harmless if members of a list changed places and nothing else did, beside which words that
    only one of the two has may stand for each other in the same place; if the sides of a relation
    that holds both ways did; and if the sides of a verb did with its voice. It is telling if the
    sides of any other verb changed places, whatever else was added, or the voice alone changed.
    Clauses are no list: *Tom likes Ann and Bob likes Sue*.

    Parameters
    ----------
    texts
        The sentences.
    rows : (pairs, 2)
        Which of them are compared.
    """
    effects = [effect_of_order(texts[one], texts[other]) for one, other in rows.tolist()]
    return np.array(effects, np.int8)


def effect_of_order(source: str, target: str) -> int:
    """Return what words tell of the order of two sentences, as `effects_of_order` does of many.

    Examples
    --------
    >>> effect_of_order("Ann met Bob", "Bob met Ann") == HARMLESS
    True
    """
    if max(len(source), len(target)) > CHARACTERS:
        return 0
    return _effect(*sorted((source, target)))  # the same both ways round


@lru_cache(maxsize=4096)
def _words(text: str) -> tuple[list[str], list[str]]:
    """Return the words and commas of a sentence, and its words alone.

    There are none of either if the order of all lists matters.
    """
    words = _WORD.findall(text.casefold())
    if not ORDERED.isdisjoint(words):
        return [], []
    return words, [word for word in words if word != COMMA] if COMMA in words else words


@lru_cache(maxsize=4096)  # what judges pairs asks twice
def _effect(source: str, target: str) -> int:
    """Return what the order of two sentences tells."""
    (first, first_plain), (second, second_plain) = _words(source), _words(target)
    plain = first_plain, second_plain
    if not JOINING.isdisjoint(first) and (
        _only_exchanged(*plain) or (first is not first_plain and _only_exchanged(first, second))
    ):
        return HARMLESS
    if max(map(len, plain)) > LONGEST:
        return 0
    sides = find_sides(*plain)
    if sides is not None and holds_both_ways(sides):
        return HARMLESS
    kept = keeps_roles(*plain)
    if kept is not None:
        return HARMLESS if kept else TELLING
    shared = shared_words(*plain)
    sides = None if shared is None else find_sides(*shared)
    return TELLING if sides is not None and changes_roles(sides) else 0


def _only_exchanged(source: list[str], target: list[str]) -> bool:
    """Walk two lists side by side, past words in the same place; tell whether members remain."""
    alone, place, found = {*source} ^ {*target}, 0, False
    if len(source) != len(target) or _others(source, alone) != _others(target, alone):
        return False
    while place < len(source):
        if source[place] == target[place] or {source[place], target[place]} <= alone:
            place += 1
        elif place := _end_of_exchange(source, target, place):
            found = True
        else:
            return False
    return found


def _others(words: list[str], alone: set[str]) -> list[str]:
    """Return all words but some, in order of the alphabet."""
    return sorted(word for word in words if word not in alone) if alone else sorted(words)


def _end_of_exchange(source: list[str], target: list[str], start: int) -> int:
    """Return where two members end that were exchanged from a place on, 0 if there are none."""
    joints, others = (
        [place for place in range(start, len(words) - 1) if _joins(words, place)][:MOST]
        for words in (source, target)
    )
    for joint, other in product(joints, others):
        for before in range(min(SHARED, joint - start, other - start) + 1):
            for after in range(min(SHARED, start) + 1):
                middle = source[joint - before : joint + after + 1]
                first, second = source[start : joint - before], target[start : other - before]
                end = start + len(first) + len(middle) + len(second)
                if (
                    (before or after or (first and second))
                    and source[start:end] == [*first, *middle, *second]
                    and target[start:end] == [*second, *middle, *first]
                    and source[end : end + before] == middle[:before]
                    and source[start - after : start] == middle[before + 1 :]
                    and (source[joint] != COMMA or _joins(source, end))
                    and not any(between_clauses(words, start, end) for words in (source, target))
                ):
                    return end
    return 0


def _joins(words: list[str], place: int) -> bool:
    """Tell whether a word joins what stands on either side."""
    word, following = (*words[place : place + 2], "", "")[:2]
    return word == COMMA or (word in JOINING and following not in LATER)
