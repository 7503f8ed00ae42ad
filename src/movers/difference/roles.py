"""Whether words that moved changed partners: roles exchanged, or an order without effect.

Two words are exchanged if putting each in the place of the other makes the second text more like
the first. That has an effect unless they are joined by *and* or *or*, a verb that works both ways
stands between them (*borders*), or the voice changed as well (*caught*, *was caught by*). A changed
voice without an exchange has the effect of one.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, islice

from rapidfuzz.distance import LCSseq

from movers.difference import lexicon
from movers.difference.counterparts import (
    MOVABLE,
    PERSONS,
    Counterparts,
    Link,
    preposition_before,
)
from movers.difference.plain_words import (
    CONTENT,
    DATE,
    FUNCTION,
    NAME,
    NUMBER,
    UNIT,
    Word,
)

MOST = 60
"""Pairs of words that are tried for an exchange."""
LONGEST = 400
"""Words of a text that are tried with each other."""
GAIN = 2
"""Words in order that an exchange must win: two, for any single word that moved wins one."""
SURE, UNSURE = 0.9, 0.6
BROKEN = 0.5
"""Evidence from attention above which an exchange in doubt is held for one."""


Order = tuple[bool, float, tuple[Link, ...]]
"""Whether roles changed, how sure that is, and links of two words that changed places, if any."""


def judge_order(found: Counterparts, broken: float | None = None) -> Order | None:
    """Return what the order of equal words says; None where all stand in the same order.

    Parameters
    ----------
    found
        The words of both texts, matched.
    broken
        Share of the relations between words that a model sees broken, from 0 to 1, if known.
    """
    if not found.moved and not any(word.key == "by" for words in found.words for word in words):
        return None
    exchanged = _exchanged(found)
    voices = [_passives(words) for words in found.words]
    turned = voices[0] != voices[1]
    telling = [pair for pair in exchanged if not _harmless(found, *pair)]
    if telling and not turned:
        return True, SURE, telling[0]
    if turned and not exchanged and _arguments_kept(found, voices):
        return True, UNSURE + 0.2, ()
    if not _moved(found):
        return None
    doubtful = broken is not None and broken > BROKEN and not turned and not exchanged
    if doubtful:
        return True, UNSURE, ()
    return False, SURE if exchanged or turned else UNSURE + 0.2, ()


def _moved(found: Counterparts) -> bool:
    source = found.words[0]
    return any(source[i].part in MOVABLE or source[i].key in PERSONS for i, _ in found.moved)


def _exchanged(found: Counterparts) -> list[tuple[Link, Link]]:
    """Return pairs of equal words that stand in each other's places, surest first."""
    source = found.words[0]
    moved = {i for i, _ in found.moved}
    links = sorted(
        link
        for link in (*found.same, *found.moved)
        if source[link[0]].part in MOVABLE or source[link[0]].key in PERSONS
    )
    sorts = {i: _sort(source[i]) for i, _ in links}
    inverted = (
        (first, second)
        for first, second in combinations(links[:LONGEST], 2)
        if first[1] > second[1]
        and (first[0] in moved or second[0] in moved)
        and (
            sorts[first[0]] == sorts[second[0]]
            or _changed_prepositions(found, first, second)
            or _changed_adjectives(found, first, second)
        )
    )
    candidates = [*islice(inverted, MOST)]
    if not candidates:
        return []
    letters: dict[str, str] = {}
    articles = lexicon.cues()["determiner"]
    first_text, second_text = (
        ["" if word.key in articles else letters.setdefault(word.key, chr(0x4E00 + len(letters)))
         for word in words]
        for words in found.words
    )  # fmt: skip
    plain = "".join(first_text)
    before = LCSseq.similarity(plain, "".join(second_text))
    scored = []
    for first, second in candidates:
        tried = [*second_text]
        tried[first[1]], tried[second[1]] = tried[second[1]], tried[first[1]]
        gain = LCSseq.similarity(plain, "".join(tried)) - before
        if gain >= GAIN or (gain == 1 and _neighbours(found, first, second)):
            scored.append((-gain, first, second))
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


def _changed_adjectives(found: Counterparts, first: Link, second: Link) -> bool:
    """Tell whether two words that may be adjectives stand exactly in each other's places."""
    source, places = found.words[0], found.gaps
    exact = (
        places[0][first[0]] == places[1][second[1]] and places[0][second[0]] == places[1][first[1]]
    )
    return exact and all("a" in lexicon.words().get(source[i].key, "") for i, _ in (first, second))


def _neighbours(found: Counterparts, first: Link, second: Link) -> bool:
    """Tell whether nothing but words of grammar stands between two words, in both texts."""
    source, target = found.words
    inner = (*source[first[0] + 1 : second[0]], *target[second[1] + 1 : first[1]])
    return all(word.part == FUNCTION for word in inner)


def _sort(word: Word) -> str:
    """Return what can have a word's place: two things have each other's, or two of another sort."""
    if word.part == NAME or word.key in PERSONS:
        return "n"
    if word.part in (NUMBER, DATE, UNIT):
        return "#" if word.part == NUMBER else word.part
    parts = lexicon.words().get(word.key, "n")
    return "n" if "n" in parts[:2] and word.form not in ("past", "participle") else parts[0]


def _harmless(found: Counterparts, first: Link, second: Link) -> bool:
    """Tell whether it is all the same which of two words comes first."""
    source, target = found.words
    inside = source[first[0] + 1 : second[0]], target[second[1] + 1 : first[1]]
    keys = [{word.key for word in between} for between in inside]
    if keys[0] ^ keys[1] >= {"of", "'s"}:  # the roof of the barn, the barn's roof
        return True
    if _is_dative(found, first, second):
        return True
    for between, own in zip(inside, keys, strict=True):
        if any(map(_is_verb, between)):
            continue
        if own & lexicon.cues()["coordinator"].keys():
            return True
        if all(word.part == FUNCTION for word in between) and _adjuncts(source, first, second):
            return True
    symmetric = keys[0] & lexicon.cues()["symmetric"].keys()
    return bool(symmetric) and _is_head(source, first[0]) and _is_head(source, second[0])


def _is_dative(found: Counterparts, first: Link, second: Link) -> bool:
    """Tell whether one text has *the book to her son* and the other *her son the book*."""
    (x, i), (y, j) = first, second
    heads = [
        [preposition_before(words, place) for place in places]
        for words, places in zip(found.words, ((x, y), (j, i)), strict=True)
    ]
    return [None, None] in heads and any(head in ([None, "to"], [None, "for"]) for head in heads)


def _is_head(words: Sequence[Word], place: int) -> bool:
    """Tell whether a word is not followed by another that it belongs to."""
    behind = words[place + 1 : place + 2]
    return not behind or behind[0].part not in (CONTENT, NAME) or _is_verb(behind[0])


def _adjuncts(words: Sequence[Word], first: Link, second: Link) -> bool:
    """Tell whether two words each follow the same preposition: *in May in Rome*."""
    heads = []
    for place in (first[0], second[0]):
        before = [word for word in words[max(0, place - 2) : place] if word.part == FUNCTION]
        heads.append(
            next((w.key for w in reversed(before) if w.key in lexicon.cues()["preposition"]), None)
        )
    return heads[0] is not None and heads[0] == heads[1]


def _is_verb(word: Word) -> bool:
    if word.part == FUNCTION:
        return word.key == "be"
    if word.part != CONTENT or not word.form:
        return False
    return word.form != "base" or lexicon.words().get(word.key, "")[:1] == "v"


def _passives(words: Sequence[Word]) -> int:
    """Return how many verbs are in the passive voice with *by*."""
    count = 0
    for place, word in enumerate(words):
        if word.key != "by" or word.part != FUNCTION:
            continue
        before = words[max(0, place - 4) : place]
        verb = any(one.form == "past" and one.part == CONTENT for one in before)
        count += verb and any(one.key == "be" for one in words[max(0, place - 6) : place])
    return count


def _arguments_kept(found: Counterparts, voices: Sequence[int]) -> bool:
    """Tell whether what stands around the turned verb has the same order in both texts."""
    if sum(voices) != 1:
        return False
    side = 0 if voices[0] else 1
    words = found.words[side]
    by = next(place for place, word in enumerate(words) if word.key == "by")
    partner = {link[side]: link for link in found.same}
    agent = [p for p in range(by + 1, min(by + 4, len(words))) if words[p].part in (CONTENT, NAME)]
    subject = [p for p in range(by) if words[p].part in (CONTENT, NAME) and not _is_verb(words[p])]
    return bool(agent and subject) and agent[0] in partner and subject[-1] in partner
