"""What was meant by words that a command does not take."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile
from pathlib import Path
from shlex import quote

OF_INDEX = {
    "add": "add to an index: movers index FILE -o {} --add",
    "build": "build one: movers index FILE -o {}",
    "check": "check one: movers index {} --check",
    "compact": "compact one: movers index {} --compact",
    "create": "build one: movers index FILE -o {}",
    "delete": "delete from an index: movers index FILE -o {} --delete",
    "search": "search one: movers search {} QUERY",
}
"""Words that people put behind `movers index`, and what does that."""


def meant(given: Sequence[str]) -> str | None:
    """Say how to do what a call most likely wants; None if it may be one that there is.

    Examples
    --------
    >>> meant(["index", "add", "corpus.index", "more.txt"])
    'index takes one file; to add to an index: movers index FILE -o corpus.index --add'
    """
    command, *rest = given
    words = [*takewhile(lambda word: not word.startswith("-"), rest)]
    if len(words) < 2:
        return None
    if command == "index" and words[0] in OF_INDEX:
        return f"index takes one file; to {OF_INDEX[words[0]].format(quote(words[1]))}"
    if command == "score":
        first, second = map(quote, words[:2])
        if _is_file(words[0]) and _is_file(words[1]):
            how = f"two texts: movers score --source-file {first} --target-file {second}"
        else:
            how = f"two sentences: movers compare {first} {second}"
        return f"score reads one table of pairs; to compare {how}"
    return None


def _is_file(name: str) -> bool:
    try:
        return Path(name).is_file()
    except (OSError, ValueError):  # far too long for a name, or not one
        return False
