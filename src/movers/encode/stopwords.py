"""Stop words: the shipped English list, or the caller's own; and what is plainly not English."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Any

from movers.errors import InputError

SAMPLE = 100
"""Sentences that are looked at."""
LETTERS, WORDS = 12, 20
"""Fewer letters of other scripts, or fewer words, tell nothing."""
LATIN_END = "\u0250"
"""The first letter that no language in Latin script writes with."""
ALONE = re.compile(r"(?<!\S)[^\W\d_]+(?=[\s.,;:!?]|$)")
"""Words between blanks, unlike most of those in code."""
TOGETHER = 4
"""Sentences with fewer of them are names, titles and the like."""
SHORT = 3
"""Letters of words that glue sentences together, in most languages."""
COMMON, GLUE, CUT, SHATTERED = 0.08, 0.1, 0.4, 0.9
"""Shares of words: English stop words, short ones of other languages, words cut into pieces by a
tokenizer that knows some of the language, and by one that knows none."""


def load_stopwords(choice: str | Path | Iterable[str] | None) -> frozenset[str] | None:
    """Resolve a stop-word choice to a set of words, or None for no filtering.

    ``"english"`` is the 179-word list that NLTK shipped up to 2023 (``stopwords_english.txt`` in
    the package data, from nltk_data), ``"none"`` the same as None; a path names a file with one
    word per line; any other iterable is taken as the words themselves.
    """
    if choice is None or choice == "none":
        return None
    if choice == "english":
        return english()
    if isinstance(choice, str | Path):
        path = Path(choice)
        if not path.is_file():
            raise InputError(
                f"stop-word file {str(path)!r} does not exist; "
                "name one, or take 'english' or 'none'"
            )
        return frozenset(path.read_text("utf-8").split())
    return frozenset(choice)


@cache
def english() -> frozenset[str]:
    """Return the shipped list."""
    text = files("movers").joinpath("data", "stopwords_english.txt").read_text("utf-8")
    return frozenset(text.split())


def describe_stopwords(words: frozenset[str] | None) -> str:
    """Name a stop-word set for a signature: ``none``, ``english`` or a count with a hash."""
    if words is None:
        return "none"
    if not words:
        return "punctuation"
    if words == english():
        return "english"
    digest = sha256("\n".join(sorted(words)).encode()).hexdigest()[:8]
    return f"{len(words)}-words@{digest}"


def not_english(tokenizer: Any, sentences: Sequence[str]) -> bool:
    """Tell whether sentences as a whole are plainly in another language.

    Most letters are of another script; or there are hardly any stop words, the tokenizer cuts many
    words into pieces, and some short words hold them together. Lists of names and terms lack the
    last, headlines and numbers are made of whole words, and prose of rare ones has stop words.
    """
    some = sentences[:: max(1, len(sentences) // SAMPLE)]
    letters = [letter for text in some for letter in text if letter.isalpha()]
    foreign = sum(letter >= LATIN_END for letter in letters)
    if foreign >= LETTERS and 2 * foreign > len(letters):
        return True
    # In small letters, which names are not, and in sentences that have some such words.
    plain = ([word for word in ALONE.findall(text) if word.islower()] for text in some)
    words = [word for found in plain if len(found) >= TOGETHER for word in found]
    return len(words) >= WORDS and _other_words(tokenizer, words)


def _other_words(tokenizer: Any, words: Sequence[str]) -> bool:
    known = english()
    long = [word for word in words if len(word) >= SHORT]  # "a", "me" are words of many languages
    if sum(word in known for word in long) > COMMON * len(long):
        return False
    glue = sum(len(word) <= SHORT and word not in known for word in words)
    wanted = CUT if glue > GLUE * len(words) else SHATTERED
    backend = tokenizer.backend_tokenizer
    if backend.padding is not None:
        backend.no_padding()
    # A blank before a word tells byte-level tokenizers that it begins there.
    pieces = backend.encode_batch([f" {word}" for word in words], add_special_tokens=False)
    return sum(len(one.ids) > 1 for one in pieces) > wanted * len(words)
