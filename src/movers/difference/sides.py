"""Two sides of a relation that changed places, and whether that changes the meaning.

It does not where the relation holds both ways, as between *Italy borders Austria* and *Austria
borders Italy*. It does across any other verb: *Italy invaded Austria*. Relations that hold both
ways are rows of the English cues by lemmas; a star stands for one word or two.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from typing import NamedTuple

from movers.difference import lexicon

PLACES = frozenset("next close far near beside alongside opposite".split())
"""Beginnings of relations that need a verb, without which one side belongs to the other."""
STANDING = frozenset("be live life lie stand sit stay run work sleep get become remain".split())
"""Verbs that say no more than that a relation holds; *lives* is read as a plural."""
TIMES = frozenset(("soon", "long", "far"))
"""What *as … as* joins clauses with."""
EITHER = frozenset("he she it they him her them his its their who which as".split())
"""Words around both sides that may belong to the one that stands first."""
BEHIND = frozenset(
    "on at during after before about since until yesterday today tomorrow this last every when "
    "while because although and but".split()
)
"""Words behind both sides with which something begins that belongs to neither."""
SAYING = frozenset("say reply add shout cry whisper exclaim".split())
"""Verbs before which stands what is said, or behind which."""
OPENING = frozenset("that who which whom whose and or nor".split())
"""Words across which sides that change places are no longer those of one verb."""
MUTUAL = frozenset("with like alike against together each both".split())
"""Words with which most verbs hold both ways, more or less."""
TURNING = frozenset("by to from that who whom which whose it".split())
"""Words that may tell who does what, as auxiliaries and verbs do."""
DEGREES = frozenset("more less as".split())
"""Words that compare."""
CONTRACTED = frozenset("s m re ve ll d t".split())
"""What follows an apostrophe."""
ADDED, MOST = 6, 10
"""Different words that may be added, and those that may differ by their forms as well."""
DIRECTIONS = frozenset(("to", "into", "onto", "than"))
"""Words that stand between a beginning and an end, or two that are compared."""
DISTANCES = frozenset("far distance between way road route relation connection".split())
"""What is the same from either end."""
TIMED = frozenset("then before after until till because unless".split())
"""Words across which clauses that change places tell another story."""


class Sides(NamedTuple):
    """The words of a sentence of which two groups stand in each other's places in another one."""

    before: list[str]
    first: list[str]
    between: list[str]
    second: list[str]
    behind: list[str]


def find_sides(source: list[str], target: list[str]) -> Sides | None:
    """Return what changed places if that is all two sentences differ in; words are lower-case.

    Examples
    --------
    >>> find_sides("once a cat saw dogs".split(), "once dogs saw a cat".split())
    Sides(before=['once'], first=['a', 'cat'], between=['saw'], second=['dogs'], behind=[])
    """
    if len(source) != len(target) or sorted(source) != sorted(target):
        return None
    low, high = 0, len(source)
    while low < high and source[low] == target[low]:
        low += 1
    while high > low and source[high - 1] == target[high - 1]:
        high -= 1
    one, other = source[low:high], target[low:high]
    for first in range(1, len(one)):
        if one[:first] == other[-first:]:
            for second in range(1, len(one) - first + 1):
                ends = len(one) - second, len(one) - first
                if (
                    one[ends[0] :] == other[:second]
                    and one[first : ends[0]] == other[second : ends[1]]
                ):
                    parts = one[:first], one[first : ends[0]], one[ends[0] :]
                    return _with_heads(Sides(source[:low], *parts, source[high:]))
    return None


def _with_heads(sides: Sides) -> Sides:
    """Add to both sides the words that follow either: *the first line … the second line*."""
    before, first, between, second, behind = sides
    same = 0
    while same < min(len(between), len(behind)) and between[same] == behind[same]:
        same += 1
    head = between[:same]
    return Sides(before, first + head, between[same:], second + head, behind[same:])


def shared_words(source: list[str], target: list[str]) -> tuple[list[str], list[str]] | None:
    """Return words that both sentences have as often, *he* for *him*; None if others turn roles.

    Examples
    --------
    >>> shared_words("a cat saw dogs".split(), "often dogs saw a cat".split())
    (['a', 'cat', 'saw', 'dogs'], ['dogs', 'saw', 'a', 'cat'])
    >>> shared_words("a cat saw dogs".split(), "dogs were seen by a cat".split())
    """
    case = lexicon.cues()["case"]
    if len({*source} ^ {*target}) > MOST:
        return None
    source, target = ([case.get(word, word) for word in words] for words in (source, target))
    other = {*source} ^ {*target}
    bare = {word: lemma for word in other if (lemma := _bare(word)) != word}
    source, target = ([bare.get(word, word) for word in words] for words in (source, target))
    other = {*source} ^ {*target}
    if len(source) + len(target) > 2 * len({*source, *target}) - len(other):  # some stand twice
        other = {word for word, _ in Counter(source).items() ^ Counter(target).items()}
    if len(other) > ADDED or any(_turns(word) for word in other):
        return None
    if any(then == "than" and word in other for word, then in pairwise([*source, "", *target])):
        return None  # another comparison
    first, second = ([word for word in words if word not in other] for words in (source, target))
    return first, second


def _bare(word: str) -> str:
    """Return the lemma of a verb in the present, *kill* for *kills*; other words as they are."""
    lemma, form = lexicon.lemma_of(word)
    return lemma if form == "present" and word.endswith("s") else word


def holds_both_ways(sides: Sides) -> bool:
    """Tell whether a relation stands between both sides that says the same either way round."""
    around = [*sides.before, *sides.behind]
    return (
        EITHER.isdisjoint(around)
        and _begins_anew(sides.behind)
        and not _is_open(sides.first[-1])
        and not _is_open(sides.second[-1])
        and _is_mutual(sides)
    )


def changes_roles(sides: Sides) -> bool:
    """Tell whether what stands between both sides says something else the other way round.

    That is a verb between two things, *to* between two ends, or *then* between two clauses.
    """
    between = set(sides.between) - lexicon.cues()["determiner"].keys()
    if between & TIMED and between <= TIMED | {"and"}:
        return not sides.before and not sides.behind
    if not _are_things(sides):
        return False
    if between and between <= DIRECTIONS:
        return DISTANCES.isdisjoint(sides.before)
    lemmas = {lexicon.lemma_of(word)[0] for word in sides.between}
    return (
        any(_is_verb(word) or word == "than" for word in sides.between)
        and lemmas.isdisjoint(lexicon.cues()["symmetric"].keys() | SAYING)
        and OPENING.isdisjoint(sides.between)
        and MUTUAL.isdisjoint(sides.between)
    )


def _are_things(sides: Sides) -> bool:
    """Tell whether sides are no clauses, nor places and times, which may stand anywhere."""
    both = sides.first, sides.second
    return not any(
        _is_open(side[-1]) or _is_adverbial(side[0]) or any(map(_is_clausal, side)) for side in both
    )


def _is_mutual(sides: Sides) -> bool:
    """Tell whether words say a relation that holds both ways, with a verb that may stand before."""
    cues = lexicon.cues()
    plain = (word for word in sides.between if word == "same" or word not in cues["determiner"])
    lemmas = [lexicon.lemma_of(word)[0] for word in plain]
    verbs = {"be" if word in cues["auxiliary"] else word for word in (*sides.before, *lemmas)}
    bare = [lemma for lemma in lemmas if lemma not in STANDING and lemma not in cues["auxiliary"]]
    if not bare or not _relations().fullmatch(" ".join(bare)):
        return False
    return TIMES.isdisjoint(bare[1:-1]) and (
        bare[0] not in PLACES or not STANDING.isdisjoint(verbs)
    )


@cache
def _relations() -> re.Pattern[str]:
    rows = (re.escape(row).replace(r"\*", r"\S+(?: \S+)?") for row in lexicon.cues()["reciprocal"])
    return re.compile("|".join(rows))


def _begins_anew(words: Sequence[str]) -> bool:
    """Tell whether the words behind both sides belong to neither."""
    if len(words) > 1 and words[0] == "in":
        return words[1].isdigit() or words[1] in lexicon.cues()["month"]
    return not words or words[0] in BEHIND


def _is_open(word: str) -> bool:
    """Tell whether something must follow a word, so that nothing ends with it."""
    cues = lexicon.cues()
    return any(word in cues[part] for part in ("preposition", "determiner", "conjunction"))


def _is_adverbial(word: str) -> bool:
    """Tell whether a place, a time or a manner begins with a word."""
    return word in lexicon.cues()["preposition"] or lexicon.words().get(word, "")[:1] == "r"


def _turns(word: str) -> bool:
    """Tell whether a word that one sentence has alone may say who does what, or which is more."""
    known = word in TURNING or word in lexicon.cues()["auxiliary"] or word in DEGREES
    return known or lexicon.positive_of(word)[1] != "" or _is_verb(word)


def _is_clausal(word: str) -> bool:
    """Tell whether a word makes more of a side than a thing: a verb that cannot be one."""
    lemma, form = lexicon.lemma_of(word)
    auxiliary = word in lexicon.cues()["auxiliary"] or word in CONTRACTED
    return auxiliary or (_is_verb(word) and (form == "past" or "n" not in lexicon.words()[lemma]))


def _is_verb(word: str) -> bool:
    """Tell whether a word is a verb that says something, more often than anything else."""
    lemma, form = lexicon.lemma_of(word)
    if lemma in STANDING or word in lexicon.cues()["auxiliary"]:
        return False
    verb = lexicon.words().get(lemma, "").startswith("v")
    return form == "past" or (form in ("present", "base") and verb)
