"""The English tables: cues, words with their parts of speech, irregular forms, opposites."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from functools import cache, lru_cache
from importlib.resources import files

SUFFIXES = (
    ("ies", "y"), ("ied", "y"), ("s", ""), ("es", ""), ("ed", "e"), ("ed", ""),
    ("ing", "e"), ("ing", ""),
)  # fmt: skip
"""Regular endings and what stands in their place in the lemma."""
DEGREES = ("er", "est")
DOUBLED = "bdgklmnprt"
"""Consonants that are doubled before an ending."""


def _rows(name: str) -> Iterator[list[str]]:
    text = (files("movers") / "data" / f"{name}_english.tsv").read_text("utf-8")
    return (line.split("\t") for line in text.splitlines() if not line.startswith("#"))


@cache
def cues() -> dict[str, dict[str, str]]:
    """Return words by the part they have, each with what it stands for."""
    table: dict[str, dict[str, str]] = defaultdict(dict)
    for part, word, value in _rows("cues"):
        table[part].setdefault(word, value)
    return table


@cache
def pairs_of(part: str) -> frozenset[tuple[str, str]]:
    """Return the pairs of a part of the cues, either way round."""
    rows = [(word, value) for name, word, value in _rows("cues") if name == part]
    return frozenset(rows) | frozenset((value, word) for word, value in rows)


@cache
def words() -> dict[str, str]:
    """Return common words with what they can be (n, v, a, r), the most usual first."""
    return dict(_rows("words"))


@cache
def _forms() -> dict[str, tuple[str, str]]:
    return {form: (lemma, part) for form, lemma, part in _rows("forms")}


@cache
def _opposites() -> dict[tuple[str, str], str]:
    rows = [(first, second, part) for first, second, part in _rows("opposites")]
    both = {(first, second): part for first, second, part in rows}
    return both | {(second, first): part for first, second, part in rows}


@cache
def _with_opposites() -> frozenset[str]:
    return frozenset(first for first, _ in _opposites())


def has_opposite(word: str) -> bool:
    """Tell whether a lemma, or the adjective that it is a degree of, has an antonym at all."""
    return word in _with_opposites() or positive_of(word)[0] in _with_opposites()


def opposite_of(word: str) -> str | None:
    """Return the first antonym of a lower-case word as it stands, if there is one.

    Examples
    --------
    >>> opposite_of("open"), opposite_of("table")
    ('shut', None)
    """
    return next((other for one, other in _opposites() if one == word), None)


def are_opposite(first: str, second: str) -> bool:
    """Tell whether two lemmas are antonyms, or the same degree of two: *taller* and *shorter*."""
    if (first, second) in _opposites():
        return True
    (one, degree), (other, beside) = positive_of(first), positive_of(second)
    return degree == beside != "" and (one, other) in _opposites()


@lru_cache(maxsize=1 << 16)
def positive_of(word: str) -> tuple[str, str]:
    """Return the adjective that a word is a degree of, and its ending; the word itself if none.

    Examples
    --------
    >>> positive_of("bigger"), positive_of("easiest"), positive_of("paper")
    (('big', 'er'), ('easy', 'est'), ('paper', ''))
    """
    for ending in DEGREES:
        stem = word.removesuffix(ending)
        if stem == word or len(stem) < 3:
            continue
        single = stem[:-1] if _doubled(stem) else stem
        for base in (stem, f"{stem}e", single, f"{stem[:-1]}y" if stem[-1] == "i" else stem):
            if base in _with_opposites() and "a" in words().get(base, ""):
                return base, ending
    return word, ""


@lru_cache(maxsize=1 << 16)
def denied_by_prefix(first: str, second: str) -> bool:
    """Tell whether one word is the other with a prefix that denies it: *safe* and *unsafe*."""
    short, long = sorted((first, second), key=len)
    prefix = long[: len(long) - len(short)]
    if not long.endswith(short) or prefix not in cues()["prefix"] or len(short) < 4:
        return False
    parts = words().get(long, "")
    return (long, short) in _opposites() and "v" not in parts[:1]


@lru_cache(maxsize=1 << 16)
def lemma_of(word: str) -> tuple[str, str]:
    """Return the lemma of a lower-case word, and its form if it may be a verb."""
    if word in _forms():
        lemma, part = _forms()[word]
        return lemma, ("participle" if word.endswith("ing") else "past") if part == "v" else ""
    known = words()
    if word in known and not word.endswith(("ed", "ing", "s")):
        return word, "base" if "v" in known[word] else ""
    for ending, instead in SUFFIXES:
        if not word.endswith(ending) or len(word) < len(ending) + 2:
            continue
        stem = word[: -len(ending)] + instead
        if ending in ("ed", "ing") and not instead and stem not in known and _doubled(stem):
            stem = stem[:-1]
        wanted = "v" if ending in ("ed", "ied", "ing") else "nv"
        if not any(part in known.get(stem, "") for part in wanted):
            continue
        if ending.endswith("s") and word in known and "ss" in word:
            continue
        form = "past" if ending.endswith("ed") else "participle" if ending == "ing" else "present"
        return stem, form if "v" in known[stem] else ""
    return word, "base" if "v" in known.get(word, "") else ""


def _doubled(stem: str) -> bool:
    return len(stem) > 3 and stem[-1] == stem[-2] and stem[-1] in DOUBLED
