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

from movers.difference import lexicon
from movers.difference.common_order import common_length
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
CROSSED = 2
"""Words that went from either clause to the other, from which clauses may be exchanged."""
COMPOUND = frozenset(("of", "'s", "the"))
"""What stands between two words in *the roof of the barn*, *the barn's roof*, *the barn roof*."""
LONG_CLAUSE = 8
CLOSE = 3
"""Words of a clause, and words between *was* and its verb, with *not* and an adverb."""
NEIGHBOURS = 3
"""Words beside one of two joined words among which the other's may stand once more."""
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
    if clauses_exchanged(found):
        return True, SURE, ()
    passives = [_passives(words) for words in found.words]
    turned = _is_turned(found, passives)
    if not turned and (pair := _subjects_exchanged(found)):
        return True, SURE, pair
    if _moved(found) and _same_parts(found):
        return False, SURE, ()
    exchanged = _exchanged(found)
    telling = [pair for pair in exchanged if not _harmless(found, *pair)]
    if telling and not turned:
        return True, SURE, telling[0]
    if turned and not exchanged and _arguments_kept(found, passives):
        return True, UNSURE + 0.2, ()
    if not _moved(found):
        return None
    doubtful = broken is not None and broken > BROKEN and not turned and not exchanged
    if doubtful:
        return True, UNSURE, ()
    return False, SURE if exchanged or turned else UNSURE + 0.2, ()


def clauses_exchanged(found: Counterparts) -> bool:
    """Tell whether two clauses stand in each other's places: *if A then B*, *if B then A*."""
    clauses = [_subordinate(words) for words in found.words]
    if None in clauses:
        return False
    (joint, first), (other, second) = clauses  # type: ignore[misc]
    source = found.words[0]
    crossed = [
        (i in first) != (j in second)
        for i, j in (*found.same, *found.moved)
        if source[i].part in MOVABLE
    ]
    return joint == other and sum(crossed) >= CROSSED and 2 * sum(crossed) > len(crossed)


def _subjects_exchanged(found: Counterparts) -> tuple[Link, Link] | None:
    """Return the subjects of one verb in both texts if each is behind it in the other text.

    Whatever else moved: *in May Ann sued Tom*, *Tom sued Ann in May*.
    """
    source, target = found.words
    partners = dict((*found.same, *found.moved))
    backwards = {j: i for i, j in partners.items()}
    for i, j in sorted(partners.items()):
        if not (_is_verb(source[i]) and _is_verb(target[j]) and source[i].part == CONTENT):
            continue
        first, second = _subject(source, i), _subject(target, j)
        if first is None or second is None or source[i].key in lexicon.cues()["symmetric"]:
            continue
        behind = partners.get(first, -1) > j and backwards.get(second, -1) > i
        if behind and not _joined(source, first, backwards[second]):
            return (first, partners[first]), (backwards[second], second)
    return None


def _subject(words: Sequence[Word], verb: int) -> int | None:
    """Return the place of the nearest word before a verb that may be its subject, if any."""
    for place in range(verb - 1, -1, -1):
        word = words[place]
        if _pause_behind(words, place) or word.key in lexicon.cues()["coordinator"]:
            return None
        if word.part in (CONTENT, NAME) and _is_verb(word) and word.form != "base":
            return None
        if word.part in (CONTENT, NAME) or word.key in PERSONS:
            return None if preposition_before(words, place) else place
    return None


def _joined(words: Sequence[Word], low: int, high: int) -> bool:
    """Tell whether *with*, say, joins two words around a verb: *tea goes with milk*."""
    low, high = sorted((low, high))
    between = {word.key for word in words[low:high]}
    return bool(between & lexicon.cues()["symmetric"].keys())


def _same_parts(found: Counterparts) -> bool:
    """Tell whether two texts are the same parts between commas and *and*, in another order."""
    if all(word.part == NUMBER for word in found.words[0]):  # 5 - 3
        return False
    parts = [sorted(_parts(words)) for words in found.words]
    return parts[0] == parts[1]


def _parts(words: Sequence[Word]) -> list[tuple[str, ...]]:
    """Return the words of a text in parts, without articles and what joins the parts."""
    joining, articles = lexicon.cues()["coordinator"], lexicon.cues()["determiner"]
    parts: list[list[str]] = [[]]
    for place, word in enumerate(words):
        if word.key in joining:
            parts.append([])
        elif word.key not in articles:
            parts[-1].append(word.key)
        if _pause_behind(words, place):
            parts.append([])
    return [tuple(part) for part in parts if part]


def _subordinate(words: Sequence[Word]) -> tuple[str, range] | None:
    """Return the one word that joins clauses, and where the clause behind it is; None without one.

    A clause goes on to the next pause; one that opens a text and has none may end anywhere.
    """
    joints = [p for p, word in enumerate(words) if word.text.lower() in lexicon.cues()["joint"]]
    paired = len(joints) == 2 and words[joints[1]].key == "then"  # if …, then …
    if len(joints) != 1 and not paired:
        return None
    start = joints[0] + 1
    ends = (place + 1 for place in range(start, len(words)) if _pause_behind(words, place))
    end = joints[1] if paired else next(ends, len(words))
    if start == 1 and end == len(words):
        return None
    return words[start - 1].text.lower(), range(start, end)


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
    sorts = {i: sort_of(source[i]) for i, _ in links}
    inverted = (
        (first, second)
        for first, second in combinations(links[:LONGEST], 2)
        if first[1] > second[1]
        and (first[0] in moved or second[0] in moved)
        and (
            sorts[first[0]] == sorts[second[0]]
            or _changed_prepositions(found, first, second)
            or _changed_places(found, first, second)
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
    before = common_length(plain, "".join(second_text))
    scored = []
    for first, second in candidates:
        tried = [*second_text]
        tried[first[1]], tried[second[1]] = tried[second[1]], tried[first[1]]
        gain = common_length(plain, "".join(tried)) - before
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
    return all(word.part == FUNCTION for word in inner)


def sort_of(word: Word) -> str:
    """Return what can have a word's place: two things have each other's, or two of another sort."""
    if word.part == NAME or word.key in PERSONS:
        return "n"
    if word.part in (NUMBER, DATE, UNIT):
        return "#" if word.part == NUMBER else word.part
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
        if any(_is_verb(words[place]) and not _is_member(words, place) for place in between):
            continue
        joined = own & lexicon.cues()["coordinator"].keys()
        if joined and not _left_behind(words, between, here):
            return True
        plain = all(words[place].part == FUNCTION for place in between)
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
        if words[place].key in joining or _pause_behind(words, place)
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
    return (_pause_behind(words, place - 1) or words[place - 1].key in joining) and (
        _pause_behind(words, place) or any(word.key in joining for word in behind)
    )


def _pause_behind(words: Sequence[Word], place: int) -> bool:
    """Tell whether more than a blank, a comma say, stands between a word and the next."""
    return place + 1 < len(words) and words[place + 1].start > words[place].end + 1


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
    return not behind or behind[0].part not in (CONTENT, NAME) or _is_verb(behind[0])


def _adjuncts(words: Sequence[Word], first: Link, second: Link) -> bool:
    """Tell whether two words each follow the same preposition: *in May in Rome*."""
    if any(word.key == "than" for word in words[first[0] : second[0]]):
        return False
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


def _passives(words: Sequence[Word]) -> set[int]:
    """Return the places of verbs in the passive voice with *by*."""
    verbs: set[int] = set()
    for place, word in enumerate(words):
        if word.key == "by" and word.part == FUNCTION:
            near = range(place - 1, max(-1, place - 1 - LONG_CLAUSE), -1)
            verbs.update([p for p in near if _is_passive(words, p, within=CLOSE)][:1])
    return verbs


def _may_be_past(word: Word) -> bool:
    return word.form == "past" or word.text.lower() in lexicon.cues()["unchanged"]


def _is_turned(found: Counterparts, passives: Sequence[set[int]]) -> bool:
    """Tell whether a verb is active in one text and passive with *by* in the other."""
    alone = []
    for side in (0, 1):
        partners = {link[side]: link[1 - side] for link in (*found.same, *found.moved)}
        others = found.words[1 - side]
        matched = [partners[verb] for verb in passives[side] if verb in partners]
        if not all(_is_passive(others, verb, within=LONG_CLAUSE) for verb in matched):
            return True
        alone.append(len(passives[side]) - len(matched))
    return alone[0] != alone[1]


def _is_passive(words: Sequence[Word], place: int, within: int) -> bool:
    """Tell whether a verb has *was* or *got* among so many words before it."""
    if words[place].part != CONTENT or not _may_be_past(words[place]):
        return False
    return any(word.key in ("be", "get") for word in words[max(0, place - within) : place])


def _arguments_kept(found: Counterparts, passives: Sequence[set[int]]) -> bool:
    """Tell whether what stands around the turned verb has the same order in both texts."""
    if sum(map(len, passives)) != 1:
        return False
    side = 0 if passives[0] else 1
    words = found.words[side]
    by = next(place for place, word in enumerate(words) if word.key == "by")
    partner = {link[side]: link for link in found.same}
    agent = [p for p in range(by + 1, min(by + 4, len(words))) if words[p].part in (CONTENT, NAME)]
    subject = [p for p in range(by) if words[p].part in (CONTENT, NAME) and not _is_verb(words[p])]
    return bool(agent and subject) and agent[0] in partner and subject[-1] in partner
