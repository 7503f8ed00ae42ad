"""Words that are misspelt, and what they may be, by frequency and by typing errors."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.util import find_spec
from typing import Literal

from movers.difference import lexicon
from movers.difference.plain_words import read
from movers.errors import missing

Spelling = Literal["keep", "repair"]
RARE = 3.2
"""Words rarer than this, on the scale of wordfreq, may be misspelt."""
RARER = 1.0
"""How much rarer than what it stands for a misspelt word is."""
UNKNOWN = 2.2
"""Words rarer than this may be mended without another to hold them against."""
CLEAR = 1.5
"""How much more frequent the word must be that they are mended to."""
PER_ERROR = 2.0
"""Frequency that makes up for one more typing error."""
ENDING = 8
"""Letters of the longest ending that is spelt in two ways."""
SHORTEST = 4
NEEDED = ("wordfreq", "rapidfuzz")
VOCABULARY = 40_000
"""Most frequent words that others are mended to."""


def are_variants(first: str, second: str) -> bool:
    """Tell whether two words are the British and the American spelling of one."""
    endings = lexicon.pairs_of("variant")
    for start in range(max(0, len(first) - ENDING), len(first)):
        if first[:start] != second[:start]:
            return False
        if (first[start:], second[start:]) in endings:
            return True
    return False


@cache
def lacking_package() -> str | None:
    """Return a package that is not here and without which nothing looks misspelt, if any."""
    return next((name for name in NEEDED if find_spec(name) is None), None)


@lru_cache(maxsize=1 << 16)
def frequency(word: str) -> float:
    """Return how common an English word is, on the scale of wordfreq; 0 if it is not known."""
    from wordfreq import zipf_frequency

    return float(zipf_frequency(word, "en"))


@lru_cache(maxsize=1 << 14)
def are_spellings(first: str, second: str) -> bool:
    """Tell whether two words are spellings of one, by a variant or by a typing error."""
    if len(first) + len(second) < 7 or abs(len(first) - len(second)) > 2:
        return first == second
    if are_variants(first, second):
        return True
    if lacking_package():
        return False
    from rapidfuzz.distance import OSA

    allowed = 1 if min(len(first), len(second)) < 6 else 2
    if OSA.distance(first, second, score_cutoff=allowed) > allowed:
        return False
    known = lexicon.words()
    if first in known and second in known:  # and neither is a typing error
        return False
    low, high = sorted((frequency(first), frequency(second)))
    rare = first if frequency(first) == low else second
    return low < RARE and high - low > RARER and rare not in known


@dataclass(frozen=True)
class Repair:
    """A word that looks misspelt, where it stands, and what it may be."""

    word: str
    instead: str
    span: tuple[int, int]


def is_slip(one: Repair) -> bool:
    """Tell whether a single typing error explains a repair, so that it may be told unasked."""
    from rapidfuzz.distance import OSA

    return bool(OSA.distance(one.word.lower(), one.instead) == 1)


def repair(text: str, *, beside: str = "") -> tuple[str, tuple[Repair, ...]]:
    """Mend the typing errors of an English text, and say which; capitals and figures stay.

    The words of a text ``beside`` it are likelier than others to be meant.

    Examples
    --------
    >>> mended, repairs = repair("i wuold like to cancle my subscripton")
    >>> mended, len(repairs)
    ('i would like to cancel my subscription', 3)
    """
    if package := lacking_package():
        raise missing(package, "mending typing errors")
    likely = frozenset(word.lower for word in read(beside))
    repairs = []
    for word in read(text):
        lower = word.lower
        if word.part != "content" or not _may_be_misspelt(lower):
            continue
        instead = correct(lower, likely & _near(likely, lower)) or correct(lower)
        if instead is not None:
            repairs.append(Repair(word.text, instead, (word.start, word.end)))
    mended = text
    for one in reversed(repairs):
        mended = mended[: one.span[0]] + one.instead + mended[one.span[1] :]
    return mended, tuple(repairs)


@lru_cache(maxsize=1 << 16)
def _may_be_misspelt(lower: str) -> bool:
    """Tell whether a word is one that nobody would write so: rare, and not in the tables."""
    if len(lower) < SHORTEST or not lower.isascii() or not lower.isalpha():
        return False
    lemma = lexicon.lemma_of(lower)[0]
    return frequency(lower) < UNKNOWN and not {lower, lemma} & lexicon.words().keys()


def _near(words: frozenset[str], word: str) -> frozenset[str]:
    return frozenset(one for one in words if abs(len(one) - len(word)) <= 2 and len(one) > 2)


@lru_cache(maxsize=1 << 14)
def correct(word: str, among: frozenset[str] | None = None) -> str | None:
    """Return the word that a misspelt one stands for, of some words or of all common ones, if any.

    Of all within two typing errors, the one that makes up for its distance by its frequency.
    """
    from rapidfuzz.distance import OSA
    from rapidfuzz.process import extract

    choices = _vocabulary() if among is None else [*among]
    allowed = 1 if len(word) < 6 else 2
    near = extract(word, choices, scorer=OSA.distance, score_cutoff=allowed, limit=None)
    scored = [
        (frequency(one) - PER_ERROR * away + (one[0] == word[0]), one)
        for one, away, _ in near
        if one != word and frequency(one) - frequency(word) > (CLEAR if among is None else RARER)
    ]
    return max(scored)[1] if scored else None


@cache
def _vocabulary() -> list[str]:
    from wordfreq import top_n_list

    common = top_n_list("en", VOCABULARY)
    return [word for word in common if word.isascii() and word.isalpha() and len(word) > 2]
