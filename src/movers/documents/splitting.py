"""Texts cut into sentences by rules, each with its place; paragraphs and list items end them.

A sentence ends at ``.``, ``!``, ``?`` or ``…`` with what closes behind it, before a blank and
something that can begin one, unless the stop belongs to an abbreviation, an initial or a number
that counts an item; at ``。`` whatever follows. Lines of prose that were merely wrapped go on;
headings, items of lists and blank lines do not.

The table of cues has the words without their last stop. One behind an abbreviation ends no
sentence; behind one that is counting, which may be a word as well, it ends one before anything but
a number; and behind one that is closing, before a starter, a word that begins sentences more often
than it is a name.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from movers.difference import lexicon
from movers.runtime.threads import end_if_unwanted

STOP = re.compile(r"(?:\.(?:\s?\.)+|…|[.!?]+)[\"'”’»)\]]*(?=\s|$)|[。！？｡]+[」』”’）》]*")
FULL_STOPS = frozenset("。！？｡")
"""Stops of scripts without blanks, which end a sentence whatever follows."""
WORD = re.compile(r"[^\s(\[\"'“‘«]+$")
INITIAL = re.compile(r"(?:[A-Za-z]\.)*[A-Z]")
NEXT = re.compile(r"[\"'“‘«(\[]*([^\W_]+)")
COUNT = re.compile(r"(?:[-*•⁃–—·]\s*)?\(?(?:\d{1,3}|[a-zA-Z]|[ivx]{1,5})\.?[.)]")
NUMBER = re.compile(r"\w?\d\w*|[A-Z]|[IVX]+")
"""What counts: a number, a letter, both, or a Roman number."""
MARK = re.compile(r"\s*([-*•⁃–—·]\s*)?(\(?)(\d{1,3}|[a-z])(\.?[.)])\s")
"""What stands before an item: bullet, bracket, number or letter, and what closes it."""
ITEM = re.compile(r"\s*(?:[-*•–—·]|#{1,6}|\(?(?:\d{1,3}|[a-zA-Z]|[ivx]{1,5})[.)])\s+\S")
BREAK = re.compile(r"\n\s*\n|\r?\n|\r|\f|\u2029")
WRAPPED = 50
"""Letters that a line has at least if the next may go on with its sentence."""
BLANKS = re.compile(r"\s*")
BESIDE = 80
"""Letters beside a stop, or behind the end of a line, that say whether a sentence ends there."""
CLAUSE = re.compile(
    r"[;:,—–)]\s+|[，、；：]|\s+(?=and |or |but |which |that |because |if |when |while )"
)
GAPS = re.compile(r"\s+|\S{40}")
"""Where a sentence that is too long may be cut: at clauses, or else between words."""
Text = str | tuple[str, ...]
"""A text, or the sentences that stand for one."""


@dataclass(frozen=True)
class TextSentence:
    """A sentence of a text: its words, where it stands, and the number of its paragraph.

    ``part`` counts the pieces of one that is longer than the model reads from 1; 0 is a whole one.
    """

    text: str
    start: int
    end: int
    paragraph: int = 0
    part: int = 0

    @property
    def words(self) -> int:
        """How many words it has, at least one."""
        return max(1, len(self.text.split()))


@dataclass(frozen=True)
class Document:
    """A text as its sentences."""

    text: str
    sentences: tuple[TextSentence, ...]

    @property
    def cut(self) -> int:
        """How many sentences were cut into pieces."""
        return sum(one.part == 1 for one in self.sentences)


def read_document(given: Text, fits: Callable[[str], bool]) -> Document:
    """Cut a text into sentences that a model can read; a list of strings is its sentences.

    ``fits`` tells whether the model reads a sentence to its end.
    """
    if isinstance(given, str):
        text, sentences = given, split(given)
    else:
        text, pieces, start = "\n".join(given), [], 0
        for number, one in enumerate(given):
            if one.strip():
                pieces.append(TextSentence(one, start, start + len(one), number))
            start += len(one) + 1
        sentences = tuple(pieces)
    return Document(text, tuple(piece for one in sentences for piece in cut(one, fits)))


def cut(sentence: TextSentence, fits: Callable[[str], bool]) -> Iterator[TextSentence]:
    """Cut a sentence that the model cannot read whole at clauses; neighbours share one.

    Where no clause is short enough, it is cut between words.
    """
    if fits(sentence.text):
        yield sentence
        return
    text, blanks = sentence.text, list[int]()
    clauses = [one.end() for one in CLAUSE.finditer(text)] + [len(text)]
    start, part = 0, 1
    while start < len(text):
        end_if_unwanted()
        fitting = _longest(text, start, clauses, fits)
        if fitting is None:
            blanks = blanks or [one.end() for one in GAPS.finditer(text)] + [len(text)]
            fitting = _longest(text, start, blanks, fits)
        end, before = fitting or (start + 1, start + 1)
        piece = text[start:end].rstrip()
        place = sentence.start + start
        yield TextSentence(piece, place, place + len(piece), sentence.paragraph, part)
        if end == len(text):
            return
        start, part = before if before > start else end, part + 1


def _longest(
    text: str, start: int, ends: Sequence[int], fits: Callable[[str], bool]
) -> tuple[int, int] | None:
    """Return the last end up to which a piece fits, and the one before it.

    It is looked for near the start first, for what is much too long takes long to look at.
    """
    first = bisect_right(ends, start)
    low, high, step = first, len(ends), 1
    while low < high:
        middle = min(low + step - 1, (low + high) // 2)
        if fits(text[start : ends[middle]]):
            low, step = middle + 1, 2 * step
        else:
            high, step = middle, len(ends)
    if low == first:
        return None
    return ends[low - 1], ends[low - 2] if low > first + 1 else start


def split(text: str) -> tuple[TextSentence, ...]:
    """Cut a text into its sentences.

    Examples
    --------
    >>> [one.text for one in split("Dr. Smith paid $3.5 m. He left.")]
    ['Dr. Smith paid $3.5 m.', 'He left.']
    """
    sentences: list[TextSentence] = []
    for paragraph, (start, end) in enumerate(_paragraphs(text)):
        for left, right in _sentences(text, start, end):
            piece = text[left:right]
            left += len(piece) - len(piece.lstrip())
            if stripped := piece.strip():
                sentences.append(TextSentence(stripped, left, left + len(stripped), paragraph))
    return tuple(sentences)


def _paragraphs(text: str) -> Iterator[tuple[int, int]]:
    """Yield stretches that no sentence leaves: paragraphs, headings, items of lists."""
    start, line = 0, 0
    for mark in BREAK.finditer(text):
        before, after = text[line : mark.start()], text[mark.end() : mark.end() + BESIDE]
        line = mark.end()
        blank = mark[0].count("\n") > 1 or mark[0] in "\f\u2029"
        wrapped = len(before) >= WRAPPED and not ITEM.match(after) and after[:1].strip()
        if blank or not wrapped:
            yield from _items(text, start, mark.start())
            start = mark.end()
    yield from _items(text, start, len(text))


def _items(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the items of a list that stands in one line, 1) … 2) …, or else the line."""
    while mark := MARK.match(text, start, end):
        bullet, bracket, count, close = mark.groups("")
        after = str(int(count) + 1) if count.isdigit() else chr(ord(count) + 1)
        # A bare "2." may also end a sentence, as in "see clause 2.", and follows a stop here.
        before = "" if bullet or close[-1] == ")" else r"(?<=[.;!?])"
        marked = rf"{before}\s+(?={re.escape(bullet + bracket + after + close)}\s)"
        if (following := re.compile(marked).search(text, mark.end(), end)) is None:
            break
        yield start, following.start()
        start = following.end()
    yield start, end


def _sentences(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield where the sentences of a paragraph begin and end."""
    first = start
    for stop in STOP.finditer(text, start, end):
        behind = BLANKS.match(text, stop.end(), end).end()  # type: ignore[union-attr]
        after = text[behind : min(end, behind + BESIDE)]
        if _ends(text[first : stop.end()], stop[0], after):
            yield first, stop.end()
            first = stop.end()
    yield first, end


def _ends(before: str, stop: str, after: str) -> bool:
    """Tell whether a sentence ends with a stop, from what stands before it and begins behind it."""
    if stop[0] in FULL_STOPS:
        return True
    if not after or COUNT.fullmatch(before.strip()):
        return not after
    follows = NEXT.match(after)
    word = follows[1] if follows else after
    quoted = stop[-1] not in ".!?…"
    if word[:1].islower() and not _cased(word):
        return False
    if stop[0] != "." or len(stop.rstrip("\"'”’»)]")) > 1 or quoted:
        return True
    last = (WORD.search(before[-BESIDE:-1]) or [""])[0]
    key, cues = last.lower(), lexicon.cues()
    if key in cues["counting"]:
        return NUMBER.fullmatch(word) is None
    if key in cues["closing"] or INITIAL.fullmatch(last):
        return word.lower() in cues["starter"]
    return key not in cues["abbreviation"]


def _cased(word: str) -> bool:
    """Tell whether a name begins with a small letter, as iPhone does."""
    return any(letter.isupper() for letter in word[1:])
