"""Text to pieces of words as BERT without capitals reads it: what tokenizers does, in Python.

It reads the tokenizer of the embedded model and others of its kind alone, so that the light engine
needs no package for that; tests hold it to the tokenizers package, piece by piece. What becomes of
a character stands in a file (``scripts/make_characters.py``), for models learnt with other tables
of Unicode than Python has. One thing is left out: several marks behind one letter of which some
stay, as Korean tone marks do, are not sorted.
"""

from __future__ import annotations

import json
import re
from bisect import bisect
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any
from unicodedata import normalize

from movers.errors import Choose, ModelError

APART, JAMO, SIGN = "apart", "jamo", "sign"
"""Characters that are set between blanks, that are taken apart, and that are a word each."""
PLAIN = re.compile(r"[ -~]*")
"""Texts of which every character becomes one, its small letter."""
PLAIN_WORDS = re.compile(r"[a-z0-9]+|[!-/:-@\[-`{-~]")
BEGIN, END, UNKNOWN, PADDING, INSIDE = "[CLS]", "[SEP]", "[UNK]", "[PAD]", "##"
LONGEST = 100
REMEMBERED, SHORT = 1 << 14, 24
"""Words whose pieces are kept, and how long they are at most; together some megabytes."""
KNOWN: dict[str, dict[str, Any]] = {
    "normalizer": {
        "type": "BertNormalizer",
        "clean_text": True,
        "handle_chinese_chars": True,
        "strip_accents": None,
        "lowercase": True,
    },
    "pre_tokenizer": {"type": "BertPreTokenizer"},
    "post_processor": {
        "type": "TemplateProcessing",
        "single": [
            {"SpecialToken": {"id": BEGIN, "type_id": 0}},
            {"Sequence": {"id": "A", "type_id": 0}},
            {"SpecialToken": {"id": END, "type_id": 0}},
        ],
    },
    "model": {
        "type": "WordPiece",
        "unk_token": UNKNOWN,
        "continuing_subword_prefix": INSIDE,
        "max_input_chars_per_word": LONGEST,
    },
}
"""What is read here: parts of a tokenizer's file, and what each of them says."""
PLAIN_MARK = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
Piece = tuple[int, int, int]
"""Number, first and end character."""


@dataclass(frozen=True, slots=True)
class Pieces:
    """A text in pieces, by the names of the package tokenizers.

    It has their ``ids``, and where they start and end in the text, which so many ``marks`` do not
    that stand on either side.
    """

    ids: list[int]
    starts: list[int]
    ends: list[int]
    marks: int
    overflowing: bool

    @property
    def offsets(self) -> list[tuple[int, int]]:
        """First and end character of every piece, none of a mark."""
        nowhere = [(0, 0)] * self.marks
        return [*nowhere, *zip(self.starts, self.ends, strict=True), *nowhere]

    @property
    def special_tokens_mask(self) -> list[int]:
        """1 for every mark, 0 for the pieces of the text."""
        return [*[1] * self.marks, *[0] * len(self.starts), *[1] * self.marks]


class WordPieces:
    """The tokenizer in a folder, by the names of the packages tokenizers and transformers."""

    unk_token = UNKNOWN
    padding = None

    def __init__(self, folder: Path) -> None:
        file = folder / "tokenizer.json"
        facts = json.loads(file.read_text("utf-8"))
        _check(facts, file)
        config = json.loads((folder / "tokenizer_config.json").read_text("utf-8"))
        self.model_max_length: int = config["model_max_length"]
        self.vocab: dict[str, int] = facts["model"]["vocab"]
        marks = (self.vocab[mark] for mark in (UNKNOWN, BEGIN, END, PADDING))
        self.unk_token_id, self.cls_token_id, self.sep_token_id, self.pad_token_id = marks
        written = (re.escape(mark["content"]) for mark in facts["added_tokens"])
        self._marks = re.compile(f"({'|'.join(written)})")
        self._words: dict[str, list[Piece]] = {}
        self._longest = max(map(len, self.vocab))
        self._limit: int | None = None
        self.backend_tokenizer = self.normalizer = self

    def normalize_str(self, text: str) -> str:
        """Return a text as words are looked up: small letters without accents."""
        return _normalise(text)[0]

    def enable_truncation(self, max_length: int) -> None:
        """Cut texts to so many pieces, with the marks around them."""
        self._limit = max_length

    def encode_batch(self, texts: Sequence[str], add_special_tokens: bool = True) -> list[Pieces]:
        """Return ids, offsets, special tokens and "was cut" of every text."""
        marks, found = 2 * add_special_tokens, []
        for text in texts:
            room = len(text) if self._limit is None else self._limit - marks
            ids, starts, ends = self._pieces(text, room)
            cut = len(ids) > room
            if cut:
                ids, starts, ends = ids[:room], starts[:room], ends[:room]
            if marks:
                ids = [self.cls_token_id, *ids, self.sep_token_id]
            found.append(Pieces(ids, starts, ends, marks // 2, cut))
        return found

    def _pieces(self, text: str, room: int) -> tuple[list[int], list[int], list[int]]:
        """Return ids, first and end characters; of more pieces than there is room for not all."""
        ids: list[int] = []
        starts, ends, at = [], [], 0
        for place, part in enumerate(self._marks.split(text)):
            if place % 2:  # a mark that is written in the text
                ids.append(self.vocab[part])
                starts.append(at)
                ends.append(at + len(part))
            else:
                letters, origins = _normalise(part)
                origins = [at + origin for origin in origins] if at else origins
                pattern = PLAIN_WORDS if letters.isascii() else _word_pattern()
                for word in pattern.finditer(letters):
                    first = word.start()
                    for number, start, end in self._words.get(word[0]) or self._cut(word[0]):
                        ids.append(number)
                        starts.append(origins[first + start])
                        ends.append(origins[first + end - 1] + 1)
                    if len(ids) > room:
                        return ids, starts, ends
            at += len(part)
        return ids, starts, ends

    def _cut(self, word: str) -> list[Piece]:
        """Return the longest piece there is, again and again; the unknown one where there is none.

        Those of short words are remembered.
        """
        pieces: list[Piece] = []
        start, prefix = 0, ""
        while start < len(word) <= LONGEST:
            for end in range(min(len(word), start + self._longest), start, -1):
                number = self.vocab.get(prefix + word[start:end])
                if number is not None:
                    break
            else:
                pieces = []
                break
            pieces.append((number, start, end))
            start, prefix = end, INSIDE
        pieces = pieces or [(self.unk_token_id, 0, len(word))]
        if len(word) <= SHORT:
            if len(self._words) >= REMEMBERED:
                self._words.clear()
            self._words[word] = pieces
        return pieces


def _check(facts: dict[str, Any], file: Path) -> None:
    """Refuse the file of a tokenizer that reads in another way."""
    differs = [
        f"{part} {name} is {(facts[part] or {}).get(name)!r}"
        for part, known in KNOWN.items()
        for name, value in known.items()
        if (facts[part] or {}).get(name) != value
    ]
    differs += [
        f"added token {mark['content']!r} is {mark}"
        for mark in facts["added_tokens"]
        if not mark.items() >= PLAIN_MARK.items()
    ]
    if differs:
        raise ModelError(
            f"engine 'light' cannot read the tokenizer {str(file)!r}: its {differs[0]}",
            Choose("engine", "torch"),
        )


def _normalise(text: str) -> tuple[str, Sequence[int]]:
    """Return a text as words are looked up, and from which character each of its own comes."""
    if PLAIN.fullmatch(text):
        return text.lower(), range(len(text))
    forms = [_form(character) for character in text]
    return "".join(forms), [place for place, form in enumerate(forms) for _ in form]


@lru_cache(maxsize=1 << 12)
def _form(character: str) -> str:
    """Return what becomes of a character."""
    code, rows = ord(character), _ranges()
    _, last, becomes = rows[bisect(rows, code, key=lambda row: row[0]) - 1]
    if code > last:
        return character
    if becomes == APART:
        return f" {character} "
    if becomes == JAMO:
        return normalize("NFD", character)
    return "".join(chr(int(part, 16)) for part in becomes.split("+") if part)


@cache
def _ranges() -> list[tuple[int, int, str]]:
    """Return first and last of the characters that do not stay, in order, and what they become."""
    rows = (
        (*_ends(span), becomes)
        for becomes, spans in _table().items()
        for span in spans
        if becomes != SIGN
    )
    return sorted(rows)


@cache
def _word_pattern() -> re.Pattern[str]:
    signs = "".join(f"\\U{first:08x}-\\U{last:08x}" for first, last in map(_ends, _table()[SIGN]))
    return re.compile(f"[{signs}]|[^ {signs}]+")


def _table() -> dict[str, list[str]]:
    text = (files("movers") / "data" / "characters.tsv").read_text("utf-8")
    rows = (line.split("\t") for line in text.splitlines())
    return {becomes: spans.split(" ") for becomes, spans in rows}


def _ends(span: str) -> tuple[int, int]:
    first, _, last = span.partition("-")
    return int(first, 16), int(last or first, 16)
