"""Whether words that moved changed partners: roles exchanged, or an order without effect.

Two words are exchanged if putting each in the place of the other makes the second text more like
the first. That has an effect unless they are joined by *and* or *or* with all that belongs to them,
a verb that works both ways stands between them (*borders*), or the voice changed as well (*caught*,
*was caught by*). A changed voice without an exchange has the effect of one, and so have clauses
that were exchanged around what joins them (*if*, *because*, *then*).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, islice

from movers.difference import clauses, lexicon
from movers.difference.clauses import is_verb, pause_behind
from movers.difference.common_order import gains_of_exchanges
from movers.difference.counterparts import (
    MOVABLE,
    Counterparts,
    Link,
    is_person,
    preposition_before,
)
from movers.difference.plain_words import Word

MOST = 60
"""Pairs of words that are tried for an exchange."""
LONGEST = 400
"""Words of a text that are tried with each other."""
GAIN = 2
"""Words in order that an exchange must win: two, for any single word that moved wins one."""
SURE, LIKELY = 0.9, 0.8
COMPOUND = frozenset(("of", "'s", "the"))
"""What stands between two words in *the roof of the barn*, *the barn's roof*, *the barn roof*."""
NEIGHBOURS = 3
"""Words beside one of two joined words among which the other's may stand once more."""


Order = tuple[bool, float, tuple[Link, ...]]
"""Whether roles changed, how sure that is, and links of two words that changed places, if any."""


def judge_order(found: Counterparts) -> Order | None:
    """Return what the order of equal words says; None where all stand in the same order."""
    if not found.moved and not any(word.key == "by" for words in found.words for word in words):
        return None
    if clauses.exchanged(found):
        return True, SURE, ()
    passives = [clauses.passives_of(words) for words in found.words]
    turned = clauses.is_turned(found, passives)
    if not turned and (pair := clauses.subjects_exchanged(found)):
        return True, SURE, pair
    moved = any(_has_role(found.words[0][i]) for i, _ in found.moved)
    if moved and clauses.same_parts(found):
        return False, SURE, ()
    exchanged = _exchanged(found)
    telling = [pair for pair in exchanged if not _harmless(found, *pair)]
    if telling and not turned:
        return True, SURE, telling[0]
    if turned and not exchanged and clauses.arguments_kept(found, passives):
        return True, LIKELY, ()
    if not moved:
        return None
    return False, SURE if exchanged or turned else LIKELY, ()


def _has_role(word: Word) -> bool:
    return word.part in MOVABLE or is_person(word)


def _exchanged(found: Counterparts) -> list[tuple[Link, Link]]:
    """Return pairs of equal words that stand in each other's places, surest first."""
    source = found.words[0]
    links = sorted(link for link in found.links if _has_role(source[link[0]]))
    sorts = {i: sort_of(source[i]) for i, _ in links}
    inverted = (
        (first, second)
        for first, second in combinations(links[:LONGEST], 2)
        if first[1] > second[1]  # so that either moved
        and (
            sorts[first[0]] == sorts[second[0]]
            or _changed_prepositions(found, first, second)
            or _changed_places(found, first, second)
        )
    )
    candidates = [*islice(inverted, MOST)]
    if not candidates:
        return []
    articles = lexicon.cues()["determiner"]
    plain = [word.key for word in source if word.key not in articles]
    places = ((second[1], first[1]) for first, second in candidates)
    gains = gains_of_exchanges(plain, [word.key for word in found.words[1]], places)
    scored = [
        (-gain, first, second)
        for gain, (first, second) in zip(gains, candidates, strict=True)
        if gain >= GAIN or (gain == 1 and _neighbours(found, first, second))
    ]
    best: list[tuple[Link, Link]] = []
    for _, first, second in sorted(scored):
        if not any(link in pair for pair in best for link in (first, second)):
            best.append((first, second))
    return best


def _changed_prepositions(found: Counterparts, first: Link, second: Link) -> bool:
    """Tell whether each of two words follows the other's preposition: *from left to right*.

    Whatever follows a preposition is a thing, whichever other sort a list of words has it in.
    """
    source, target = found.words
    one = preposition_before(source, first[0])
    if one is None or one != preposition_before(target, second[1]):
        return False
    other = preposition_before(source, second[0])
    return other not in (None, one) and other == preposition_before(target, first[1])


def _changed_places(found: Counterparts, first: Link, second: Link) -> bool:
    """Tell whether two words that may be the same part stand exactly in each other's places."""
    source, places = found.words[0], found.gaps
    exact = (
        places[0][first[0]] == places[1][second[1]] and places[0][second[0]] == places[1][first[1]]
    )
    one, other = ({*lexicon.words().get(source[i].key, "")} for i, _ in (first, second))
    return exact and bool(one & other)


def _neighbours(found: Counterparts, first: Link, second: Link) -> bool:
    """Tell whether nothing but words of grammar stands between two words, in both texts."""
    source, target = found.words
    inner = (*source[first[0] + 1 : second[0]], *target[second[1] + 1 : first[1]])
    return all(word.part == "function" for word in inner)


def sort_of(word: Word) -> str:
    """Return what can have a word's place: two things have each other's, or two of another sort."""
    if word.part == "name" or is_person(word):
        return "n"
    if word.part in ("number", "date", "unit"):
        return "#" if word.part == "number" else word.part
    parts = lexicon.words().get(word.key, "n")
    if word.form in ("past", "participle"):
        return "v"
    return "n" if "n" in parts[:2] else parts[0]


def _harmless(found: Counterparts, first: Link, second: Link) -> bool:
    """Tell whether it is all the same which of two words comes first."""
    source, target = found.words
    inner = range(first[0] + 1, second[0]), range(second[1] + 1, first[1])
    keys = [
        {words[place].key for place in between}
        for words, between in zip(found.words, inner, strict=True)
    ]
    if (not keys[0]) != (not keys[1]):  # a brown dog, a dog that is brown
        return True
    if "of" in keys[0] ^ keys[1] and keys[0] | keys[1] <= COMPOUND:
        return True
    if _is_dative(found, first, second):
        return True
    kept = [(i, j) for i, j in found.same if i in inner[0] and j in inner[1]]
    stayed = [{link[side] for link in kept} for side in (0, 1)]
    for words, between, own, here in zip((source, target), inner, keys, stayed, strict=True):
        if any(is_verb(words[place]) and not _is_member(words, place) for place in between):
            continue
        joined = own & lexicon.cues()["coordinator"].keys()
        if joined and not _left_behind(words, between, here):
            texts = [word.lower for word in words]
            return not clauses.between_clauses(texts, between.start - 1, between.stop + 1)
        plain = all(words[place].part == "function" for place in between)
        if plain and _adjuncts(source, first, second):
            return True
    symmetric = keys[0] & lexicon.cues()["symmetric"].keys()
    return bool(symmetric) and _is_head(source, first[0]) and _is_head(source, second[0])


def _left_behind(words: Sequence[Word], between: range, stayed: set[int]) -> bool:
    """Tell whether a word that belongs to one of two joined words did not go with it.

    *Raise the blind and lower the lamp*, *milk from Wales and tea from Assam*. A third member of
    the list, *salt, pepper and tea*, belongs to none, and what both have beside them, *green tea
    and black tea*, to both.
    """
    first, second = between.start - 1, between.stop
    joining = lexicon.cues()["coordinator"].keys()
    cuts = [
        place
        for place in (first, *between)
        if words[place].key in joining or pause_behind(words, place)
    ]
    before = {word.key for word in words[max(0, first - NEIGHBOURS) : first]}
    behind = {word.key for word in words[second + 1 : second + 1 + NEIGHBOURS]}
    return any(
        words[place].part in MOVABLE
        and not min(cuts) < place <= max(cuts)
        and words[place].key not in (behind if place <= min(cuts) else before)
        for place in stayed
    )


def _is_member(words: Sequence[Word], place: int) -> bool:
    """Tell whether a word stands alone in a list, between commas or *and*."""
    joining = lexicon.cues()["coordinator"].keys()
    behind = words[place + 1 : place + 2]
    return (pause_behind(words, place - 1) or words[place - 1].key in joining) and (
        pause_behind(words, place) or any(word.key in joining for word in behind)
    )


def _is_dative(found: Counterparts, first: Link, second: Link) -> bool:
    """Tell whether one text has *the book to her son* and the other *her son the book*."""
    (x, i), (y, j) = first, second
    heads = [
        [preposition_before(words, place) for place in places]
        for words, places in zip(found.words, ((x, y), (j, i)), strict=True)
    ]
    return [None, None] in heads and any(
        head in ([None, "to"], [None, "for"], [None, "from"]) for head in heads
    )


def _is_head(words: Sequence[Word], place: int) -> bool:
    """Tell whether a word is not followed by another that it belongs to."""
    behind = words[place + 1 : place + 2]
    return not behind or behind[0].part not in ("content", "name") or is_verb(behind[0])


def _adjuncts(words: Sequence[Word], first: Link, second: Link) -> bool:
    """Tell whether two words each follow the same preposition: *in May in Rome*."""
    if any(word.key == "than" for word in words[first[0] : second[0]]):
        return False
    heads = []
    for place in (first[0], second[0]):
        before = [word for word in words[max(0, place - 2) : place] if word.part == "function"]
        heads.append(
            next((w.key for w in reversed(before) if w.key in lexicon.cues()["preposition"]), None)
        )
    return heads[0] is not None and heads[0] == heads[1]
