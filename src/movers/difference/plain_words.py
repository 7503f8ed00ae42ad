"""A text cut into words, each with its place and the part it has when texts differ."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, partial
from typing import Literal, NamedTuple
from unicodedata import category

from movers.difference import lexicon

Part = Literal[
    "content", "function", "number", "date", "unit", "negation", "quantity", "modality", "name",
    "mark", "unit?", "month?", "ordinal?", "short?", "to?", "name?", "her?",
]  # fmt: skip
"""What part a word has; the words beside one decide the parts that end in ``?``."""
TOKEN = re.compile(
    r"[-−](?<![^\s(].)\d[\d.,]*\d|[-−](?<![^\s(].)\d|"  # below zero
    r"\d[\d.,:/-]*\d(?:st|nd|rd|th)?\b|\d+(?:st|nd|rd|th)\b|"
    r"(?:[A-Za-z]++-?+|#)\d[\w-]*|\d+|"
    r"k?m/[hs]\b|"
    r"[\u3040-\u30ff\u3400-\u9fff]|"  # scripts without blanks
    r"[:;]-?[()DP](?!\w)|"  # a face
    r"[ap]\.m\b\.?|[^\W\d_]+(?:['’][^\W\d_]+)*|['’](?:s|re|m|ll|ve|d)\b|\S"
)
ADDRESS = re.compile(r"(?:https?://|www\.)[^\s<>\"“”]*\w|[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
"""What is one name whatever it is made of."""
PIECES = re.compile(r"^(.+?)(n['’]t|['’](?:s|re|m|ll|ve|d)|(?<=can)not)$", re.IGNORECASE)
WITH_ADDRESSES = re.compile(f"{ADDRESS.pattern}|{TOKEN.pattern}")
HALVES = {"am": 0, "pm": 12}
"""Units that tell the time of day, and the hours before each."""
IN_DOUBT: dict[str, Part] = {
    "may": "month?", "march": "month?", "second": "ordinal?", "her": "her?", "going": "to?",
}  # fmt: skip
"""Words that are one thing or another by what stands beside them."""
DENIALS = ("n't", "not", "never")
GRAMMAR = ("determiner", "preposition", "conjunction", "auxiliary")
OPENING = frozenset('"“.?!`')
"""What a word may be capitalised behind."""
HEADLINE = 0.7
"""Share of capitalised words from which a text is a headline."""
KNOWN = 0.6
"""Share of its words that the tables know of an English text, typing errors and all."""
Piece = tuple[str, int, int]
Usual = tuple[str, Part, str]
"""What a word is compared by, its part and its form."""


class Word(NamedTuple):
    """A word of a text: as it stands, where, what it is compared by, and what part it has.

    ``form`` says which form of a verb it may be.
    """

    text: str
    start: int
    end: int
    key: str
    part: Part
    form: str = ""

    @property
    def lower(self) -> str:
        """The word in small letters."""
        return self.text.lower()


_word: Callable[[tuple[str, int, int, str, Part, str]], Word] = partial(tuple.__new__, Word)
"""Makes a word of all that it has, in a third of the time that its class takes."""


@lru_cache(maxsize=8192)
def read(text: str) -> tuple[Word, ...]:
    """Cut a text into words, without its punctuation.

    Examples
    --------
    >>> [word.key for word in read("He wasn't paid 1,000 dollars.")]
    ['he', 'be', 'not', 'pay', '1000', '$']
    """
    pieces = _pieces(text)
    headline = _is_headline(pieces)
    words = [
        _in_context(pieces, place, headline=headline)
        if (usual := _usual(piece[0]))[1][-1] == "?"
        else _word((*piece, *usual))
        for place, piece in enumerate(pieces)
    ]
    parts = {word.part for word in words}
    if "number" in parts and any(word.part == "number" and ":" in word.key for word in words):
        words = [*_merged(words)]  # not in digits alone
    if "unit" in parts and any(word.key in HALVES and word.part == "unit" for word in words):
        words = [*_on_the_clock(words)]
    return tuple(_as_compared([word for word in words if word.part != "mark"]))


def asks(text: str) -> bool:
    """Tell whether a text ends like a question, or begins like one: *is it open*."""
    text, words, cues = text.rstrip(), read(text), lexicon.cues()
    if text.endswith(("?", "？")):
        return True
    if len(words) < 3 or text.endswith("."):
        return False
    return words[0].lower in cues["asking"] and words[1].key in cues["pronoun"]


def look_english(*texts: str) -> bool:
    """Tell whether the tables know most words that are neither names, figures nor signs."""
    words = [
        word
        for text in texts
        for word in read(text)
        if word.part not in ("number", "date", "unit", "name")
        and (word.text[0].isalpha() or word.text[0] in "'’")
    ]
    known = sum(word.part != "content" or _is_common(word.lower) for word in words)
    return known >= KNOWN * len(words)


def _pieces(text: str) -> list[Piece]:
    """Return words as they stand, contractions taken apart."""
    pieces: list[Piece] = []
    token_or_address = WITH_ADDRESSES if "@" in text or "://" in text or "www." in text else TOKEN
    for found in token_or_address.finditer(text):
        token, (start, end) = found[0], found.span()
        joined = "'" in token or "’" in token or token in ("cannot", "Cannot", "CANNOT")
        if joined and (cut := PIECES.match(token)):
            middle = start + len(cut[1])
            pieces += ((cut[1], start, middle), (cut[2], middle, end))
        else:
            pieces.append((token, start, end))
    return pieces


def _is_headline(pieces: Sequence[Piece]) -> bool:
    """Tell whether a text capitalises most of its words, so that capitals mark no names."""
    letters = [text[0] for text, _, _ in pieces if text[0].isalpha()]
    capital = sum(map(str.isupper, letters))
    return capital > HEADLINE * len(letters) and len(letters) > 3


def _in_context(pieces: Sequence[Piece], place: int, *, headline: bool) -> Word:
    """Return a word that is one thing or another by what stands beside it."""
    text, start, end = pieces[place]
    lower = text.lower()
    key, part, form = _usual(lower)
    if part.endswith("?"):
        key, part, form = _beside(pieces, place, lower, part)
    capital = part == "content" and text[0].isupper()
    if capital and ((not headline and _inside(pieces, place)) or not _is_common(lower)):
        return Word(text, start, end, lower, "name")
    return Word(text, start, end, key, part, form)


def _inside(pieces: Sequence[Piece], place: int) -> bool:
    """Tell whether a word is not capitalised for its place alone."""
    return place > 0 and pieces[place - 1][0] not in OPENING


@lru_cache(maxsize=1 << 16)
def _is_common(lower: str) -> bool:
    return lower in lexicon.words() or lexicon.lemma_of(lower)[0] != lower


def _beside(pieces: Sequence[Piece], place: int, lower: str, part: Part) -> Usual:
    """Return what a word is where the tables know it as two things."""
    before = pieces[place - 1][0].lower() if place else ""
    behind = pieces[place + 1][0].lower().replace("’", "'") if place + 1 < len(pieces) else ""
    cues = lexicon.cues()
    if part == "unit?":
        counted = before[-1:].isdigit() or before in cues["number"] or before in cues["multiple"]
        return (cues["unit"][lower], "unit", "") if counted else _usual_word(lower)
    if part == "month?":
        named = pieces[place][0][0].isupper() and _inside(pieces, place)
        return (lower, "date", "") if named else _usual_word(lower)
    if part == "ordinal?":
        if before in ("a", "per", "each"):
            return _usual_word(lower)
        return f"ordinal:{cues['ordinal'][lower]}", "number", ""
    if part == "short?":
        return _usual_word(cues["short"][lower] if behind == "n't" else lower)
    if part == "her?":  # her money, but: from her
        owned = behind[:1].isalpha() and _usual(behind)[1] == "content"
        return (lower, "function", "") if owned else _usual_word(lower)
    lemma, form = lexicon.lemma_of(lower)
    if behind == "to" and lemma in cues["negation to"]:
        return lemma, "negation", form
    if behind == "to" and lower in cues["modality to"]:  # need not is no must not
        denied = before.replace("’", "'") in DENIALS
        return "need" if denied else cues["modality to"][lower], "modality", ""
    if lower == "going":  # going to and a verb is another will
        then = pieces[place + 2][0].lower() if behind == "to" and place + 2 < len(pieces) else ""
        if lexicon.words().get(then, "").startswith("v"):
            return "will", "function", "future"
    return _usual_word(lower)


@lru_cache(maxsize=1 << 16)
def _usual(text: str) -> Usual:
    """Return what a word is compared by, its part and its form, by itself."""
    lower = text.lower()
    if lower[0] == "’" or lower == "n’t":
        lower = lower.replace("’", "'")
    usual = _usual_lower(lower)
    return ("", "name?", "") if usual[1] == "content" and text[0].isupper() else usual


@lru_cache(maxsize=1 << 16)
def _usual_lower(lower: str) -> Usual:
    cues = lexicon.cues()
    if not lower.isalpha():  # most are nothing but letters
        if len(lower) > 4 and ADDRESS.fullmatch(lower):
            return lower, "name", ""
        if any(map(str.isdigit, lower)):
            return _figure(lower), "number", ""
    if lower in cues["unit"]:
        return ("", "unit?", "") if lower[0].isalpha() else (cues["unit"][lower], "unit", "")
    if lower == "'" or not (lower[0].isalpha() or lower[0] == "'"):
        return lower, "content" if _is_sign(lower) else "mark", ""
    if lower in IN_DOUBT:
        return "", IN_DOUBT[lower], ""
    if lower in cues["day"] or lower in cues["month"]:
        return lower, "date", ""
    for part in ("number", "multiple", "ordinal", "fraction"):
        if lower in cues[part]:
            return f"{part}:{cues[part][lower]}", "number", ""
    if lower in cues["short"]:
        return "", "short?", ""
    if lower in cues["modality to"] or lexicon.lemma_of(lower)[0] in cues["negation to"]:
        return "", "to?", ""
    return _usual_word(lower)


def _is_sign(mark: str) -> bool:
    """Tell whether a mark says something by itself: a face, a thumb, *less than*."""
    if len(mark) > 1 or mark in "<>":
        return True
    return category(mark) == "So" and mark not in "°©®™"


@lru_cache(maxsize=1 << 16)
def _usual_word(lower: str) -> Usual:
    """Return the same for what is no figure."""
    cues = lexicon.cues()
    lemma, form = lexicon.lemma_of(lower)
    if lower in cues["run together"]:
        return "not", "negation", ""
    if lower in cues["negation"] or lemma == "lack":
        return "not" if lower == "n't" else lemma if lemma == "lack" else lower, "negation", form
    if cues["auxiliary"].get(lower):
        key, tense = cues["auxiliary"][lower].split()
        return key, "function", tense
    if lower in cues["modality"]:
        return cues["modality"][lower], "modality", ""
    if lower in cues["quantity"]:
        return cues["quantity"][lower], "quantity", ""
    if lower in cues["pronoun"]:
        return cues["pronoun"][lower] or lower, "function", ""
    if any(lower in cues[part] for part in GRAMMAR):
        return cues["determiner"].get(lower) or lower, "function", ""
    return lemma, "content", form


def _figure(lower: str) -> str:
    """Return a figure without what does not change it: 1,000 is 1000, 07:30 is 7:30."""
    if lower[-2:] in ("st", "nd", "rd", "th") and lower[:-2].isdigit():
        return f"ordinal:{lower[:-2]}"
    if re.fullmatch(r"0\d:\d\d", lower):
        return lower[1:]
    lower = lower.replace("−", "-")
    if re.fullmatch(r"-?\d{1,3}(?:,\d{3})+(?:\.\d+)?", lower):
        lower = lower.replace(",", "")
    if re.fullmatch(r"-?\d+\.\d+", lower):
        return lower.rstrip("0").rstrip(".")
    return lower.strip(".,:/")


def _merged(words: Sequence[Word]) -> Iterator[Word]:
    """Number words put together: *two hundred* is 200, *twenty-five* 25, *2 million* 2000000."""
    place = 0
    while place < len(words):
        word = words[place]
        if word.part != "number" or (
            ":" not in word.key and not word.key.replace(".", "").isdigit()
        ):
            yield word
            place += 1
            continue
        end, value = _value(words, place)
        if value is None:
            yield word._replace(key=_fraction(words, place))
            place += 1
            continue
        last = words[end - 1]
        text = " ".join(one.text for one in words[place:end] if one.part != "mark")
        yield Word(text, word.start, last.end, value, "number")
        place = end


def _as_compared(words: Sequence[Word]) -> Iterator[Word]:
    """Keep the noughts of *version 2.10*, and take *no later than* for a measure, not a denial."""
    for place, word in enumerate(words):
        if word.part == "number" and "." in word.text and place:
            if words[place - 1].key in lexicon.cues()["numbered"]:
                word = word._replace(key=word.text)
        elif word.key == "no" and [one.key for one in words[place + 2 : place + 3]] == ["than"]:
            word = word._replace(part="quantity")
        yield word


def _on_the_clock(words: Sequence[Word]) -> Iterator[Word]:
    """Put times of half a day on the clock of 24 hours: *5 p.m.* is 17:00."""
    place = 0
    while place < len(words):
        word, behind = words[place], words[min(place + 1, len(words) - 1)]
        hour, _, minutes = word.key.partition(":")
        timed = word.part == "number" and behind.part == "unit" and behind.key in HALVES
        if timed and hour.isdigit() and 1 <= int(hour) <= 12:
            key = f"{int(hour) % 12 + HALVES[behind.key]}:{minutes or '00'}"
            yield Word(f"{word.text} {behind.text}", word.start, behind.end, key, "number")
            place += 2
        else:
            yield word
            place += 1


def _fraction(words: Sequence[Word], place: int) -> str:
    """Return what an ordinal stands for: *a third of* a share, *May 3rd* the same as *May 3*."""
    key = words[place].key
    behind = words[place + 1].lower if place + 1 < len(words) else ""
    before = words[place - 1].lower if place else ""
    if not key.startswith("ordinal:"):
        return key
    if behind == "of" and before in ("a", "one"):
        return f"fraction:1/{key[8:]}"
    if behind == "of" and place + 2 < len(words):
        behind = words[place + 2].lower
    months = lexicon.cues()["month"].keys()
    return key[8:] if months & {before, behind} else key


def _value(words: Sequence[Word], place: int) -> tuple[int, str | None]:
    """Return where a number that begins here ends, and its value; None if it is none."""
    total, current, seen = 0.0, 0.0, False
    while place < len(words):
        kind, _, value = words[place].key.partition(":")
        if words[place].part == "number" and kind == "number":
            current, seen = current + float(value), True
        elif words[place].part == "number" and kind == "multiple":
            factor = float(value)
            current = (current or 1.0) * factor
            if factor >= 1000:
                total, current = total + current, 0.0
            seen = True
        elif not seen and words[place].part == "number" and kind.replace(".", "", 1).isdigit():
            if not (place + 1 < len(words) and words[place + 1].key.startswith("multiple")):
                return place + 1, None
            current, seen = float(kind), True
        elif seen and words[place].text == "-" and _goes_on(words, place + 1):
            pass
        else:
            break
        place += 1
    if not seen:
        return place, None
    result = total + current
    return place, str(int(result)) if result == int(result) else str(result)


def _goes_on(words: Sequence[Word], place: int) -> bool:
    return place < len(words) and words[place].key.startswith(("number:", "multiple:"))
