"""Clauses, their subjects and the voice of their verbs, as far as words tell them."""

from __future__ import annotations

from collections.abc import Sequence

from movers.difference import lexicon
from movers.difference.counterparts import (
    MOVABLE,
    PERSONS,
    Counterparts,
    Link,
    preposition_before,
)
from movers.difference.plain_words import CONTENT, FUNCTION, NAME, NUMBER, Word

CROSSED = 2
"""Words that went from either clause to the other, from which clauses may be exchanged."""
LONG_CLAUSE = 8
RELATIVE = frozenset(("that", "who", "which"))
SINGULAR = frozenset(("is", "was", "has", "does"))
"""Verbs of one person, before whom a list of two has ended."""
CLOSE = 3
"""Words of a clause, and words between *was* and its verb, with *not* and an adverb."""


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


def subjects_exchanged(found: Counterparts) -> tuple[Link, Link] | None:
    """Return the subjects of one verb in both texts if each is behind it in the other text.

    Whatever else moved: *in May Ann sued Tom*, *Tom sued Ann in May*.
    """
    source, target = found.words
    partners = dict((*found.same, *found.moved))
    backwards = {j: i for i, j in partners.items()}
    for i, j in sorted(partners.items()):
        if not (is_verb(source[i]) and is_verb(target[j]) and source[i].part == CONTENT):
            continue
        first, second = _subject(source, i), _subject(target, j)
        if first is None or second is None or source[i].key in lexicon.cues()["symmetric"]:
            continue
        behind = partners.get(first, -1) > j and backwards.get(second, -1) > i
        if behind and not _work_both_ways(source, first, backwards[second]):
            return (first, partners[first]), (backwards[second], second)
    return None


def _subject(words: Sequence[Word], verb: int) -> int | None:
    """Return the place of the nearest word before a verb that may be its subject, if any."""
    for place in range(verb - 1, -1, -1):
        word = words[place]
        if pause_behind(words, place) or word.key in lexicon.cues()["coordinator"]:
            return None
        if word.part in (CONTENT, NAME) and is_verb(word) and word.form != "base":
            return None
        if word.part in (CONTENT, NAME) or word.key in PERSONS:
            return None if preposition_before(words, place) else place
    return None


def _work_both_ways(words: Sequence[Word], low: int, high: int) -> bool:
    """Tell whether what stands between two words works both ways: *similar*, *next to*."""
    low, high = sorted((low, high))
    between = {word.key for word in words[low:high]}
    return bool(between & lexicon.cues()["symmetric"].keys())


def same_parts(found: Counterparts) -> bool:
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
        if pause_behind(words, place):
            parts.append([])
    return [tuple(part) for part in parts if part]


def _subordinate(words: Sequence[Word]) -> tuple[str, range] | None:
    """Return the one word that joins clauses, and where the clause behind it is; None without one.

    A clause goes on to the next pause; one that opens a text and has none may end anywhere.
    """
    joining = lexicon.cues()["joint"]
    joints = [place for place, word in enumerate(words) if word.text.lower() in joining]
    paired = len(joints) == 2 and words[joints[1]].key == "then"  # if …, then …
    if len(joints) != 1 and not paired:
        return None
    start = joints[0] + 1
    ends = (place + 1 for place in range(start, len(words)) if pause_behind(words, place))
    end = joints[1] if paired else next(ends, len(words))
    if start == 1 and end == len(words):
        return None
    return words[start - 1].text.lower(), range(start, end)


def pause_behind(words: Sequence[Word], place: int) -> bool:
    """Tell whether more than a blank, a comma say, stands between a word and the next."""
    if place + 1 >= len(words) or words[place + 1].start <= words[place].end + 1:
        return False
    return words[place].text.lower() not in lexicon.cues()["title"]


def is_verb(word: Word) -> bool:
    """Tell whether a word is a verb, or more often one than a noun."""
    if word.part == FUNCTION:
        return word.key == "be"
    if word.part != CONTENT or not word.form:
        return False
    return word.form != "base" or lexicon.words().get(word.key, "")[:1] == "v"


def between_clauses(words: Sequence[str], start: int, end: int) -> bool:
    """Tell whether what stands from one place to another belongs to two clauses, not to a list.

    *Tom likes [Ann and Bob] likes Sue*: a verb before it that takes an object, and a finite verb
    behind it. Words are lower-case. A clause that another opens (*said Ann and Bob left*) has its
    subject there; one that tells of a subject has ended there (*who saw Ann and Bob left*).

    Examples
    --------
    >>> between_clauses("tom likes ann and bob likes sue".split(), 2, 5)
    True
    >>> between_clauses("tom thinks ann and bob like sue".split(), 2, 5)
    False
    """
    cues = lexicon.cues()
    if end >= len(words) or not _is_finite(words, end):
        return False
    opening = cues["conjunction"].keys() | cues["question"].keys() | cues["complement"].keys()
    for place in range(start - 1, -1, -1):
        word = words[place]
        if word in opening or word in cues["coordinator"]:
            return False
        if word not in cues["auxiliary"] and _takes_object(words, place):
            relative = not RELATIVE.isdisjoint(words[max(0, place - 2) : place])
            return not relative and lexicon.lemma_of(word)[0] not in cues["complement"]
    return False


def _is_finite(words: Sequence[str], place: int) -> bool:
    """Tell whether a word is the finite verb of a clause, more often than anything else.

    What looks like the past is no verb before a preposition (*ordered in 1921*), nor is the
    present at the end (*finite sets*), unless it cannot be a thing.
    """
    word, behind = words[place], words[place + 1 : place + 2]
    lemma, form = lexicon.lemma_of(word)
    parts = lexicon.words().get(lemma, "")
    if form == lexicon.PAST and word not in SINGULAR:
        return lexicon.cues()["preposition"].keys().isdisjoint(behind)
    verb = parts.startswith("v") and (bool(behind) or "n" not in parts)
    return word in SINGULAR or (form == lexicon.PRESENT and verb)


def _takes_object(words: Sequence[str], place: int) -> bool:
    """Tell whether a word is a verb; one that may be a noun stands behind nothing that nouns do."""
    lemma, form = lexicon.lemma_of(words[place])
    if form in (lexicon.PAST, lexicon.PARTICIPLE):
        return True
    before = words[place - 1] if place else ""
    noun = before in lexicon.cues()["determiner"] or before in lexicon.cues()["preposition"]
    return bool(form) and lexicon.words().get(lemma, "").startswith("v") and not noun


def passives_of(words: Sequence[Word]) -> set[int]:
    """Return the places of verbs in the passive voice with *by*."""
    verbs: set[int] = set()
    for place, word in enumerate(words):
        if word.key == "by" and word.part == FUNCTION:
            near = range(place - 1, max(-1, place - 1 - LONG_CLAUSE), -1)
            verbs.update([p for p in near if _is_passive(words, p, within=CLOSE)][:1])
    return verbs


def _may_be_past(word: Word) -> bool:
    return word.form == "past" or word.text.lower() in lexicon.cues()["unchanged"]


def is_turned(found: Counterparts, passives: Sequence[set[int]]) -> bool:
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


def arguments_kept(found: Counterparts, passives: Sequence[set[int]]) -> bool:
    """Tell whether what stands around the turned verb has the same order in both texts."""
    if sum(map(len, passives)) != 1:
        return False
    side = 0 if passives[0] else 1
    words = found.words[side]
    by = next(place for place, word in enumerate(words) if word.key == "by")
    partner = {link[side]: link for link in found.same}
    agent = [p for p in range(by + 1, min(by + 4, len(words))) if words[p].part in (CONTENT, NAME)]
    subject = [p for p in range(by) if words[p].part in (CONTENT, NAME) and not is_verb(words[p])]
    return bool(agent and subject) and agent[0] in partner and subject[-1] in partner
