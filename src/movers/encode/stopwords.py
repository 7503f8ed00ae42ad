"""Stop words: the shipped English list, or the caller's own."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from hashlib import sha256
from importlib.resources import files
from pathlib import Path

from movers.errors import InputError


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
    """The shipped list."""
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
