"""What the command line answers without a parser, a model or numbers."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from shutil import get_terminal_size
from textwrap import fill, wrap

from movers.errors import MoversError
from movers.version import __version__

NARROW, WIDE = 40, 100
"""Columns that text is wrapped to at least, and at most."""
VERSIONS = (("wsmd-X", "X with structure", False), ("lambda-X", "words of wsmd-X", True))
"""Name and title of the versions of every word measure, and whether words alone are reported."""


def columns() -> int:
    """Columns to wrap text to."""
    return max(NARROW, min(WIDE, get_terminal_size().columns))


def print_rows(rows: Mapping[str, str]) -> None:
    """Print names and what is said of each side by side."""
    indent = 4 + max(map(len, rows))
    for name, text in rows.items():
        first = f"  {name}".ljust(indent)
        print(fill(text, columns(), initial_indent=first, subsequent_indent=" " * indent))


def summary(file: Path, function: str) -> str:
    """The first line of what a function says of itself, read without importing its file."""
    found = re.search(rf'^def {function}\(.*?"""(.*?)$', file.read_text("utf-8"), re.M | re.S)
    assert found is not None
    return found[1].replace("`", "")


def print_version() -> None:
    """Print the version."""
    print(__version__)


def print_measures() -> None:
    """Print the measures, one below the other; the versions every word measure has share one."""
    from movers.measures.registry import ALIASES, METHODS
    from movers.plugins import add_outside_measures

    add_outside_measures()
    own = [(name, row.title, row) for name, row in METHODS.items() if row.base is None]
    based = [row for row in METHODS.values() if row.base is not None]
    versions = {row.word_part: row for row in reversed(based)}
    shared = [(name, title, versions[words]) for name, title, words in VERSIONS]
    bold, dim = ("\033[1m{}\033[0m", "\033[2m{}\033[0m") if sys.stdout.isatty() else ("{}", "{}")
    for name, title, row in (*own, *shared):
        paper = row.paper[: row.paper.find(")") + 1]  # authors and year
        differs = row.recipes.removeprefix("reference: ")
        print(bold.format(f"{name:<12}"), title)
        details = "; ".join(filter(None, [paper, differs and f"the reference recipe: {differs}"]))
        for line in wrap(details, columns() - 13):
            print(" " * 12, dim.format(line))
    bases = dict.fromkeys(row.base for row in based if row.base)
    print(fill(f"\nX is one of {', '.join(bases)}.", columns(), replace_whitespace=False))
    for alias, name in ALIASES.items():
        print(f"{alias} is short for {name}.")


def print_installation() -> None:
    """Print versions, settings and where kernels lie; nothing is loaded or tested."""
    from movers.runtime.installation import installed

    print_topics(installed())


def print_topics(topics: Mapping[str, Mapping[str, str]]) -> None:
    """Print facts by topic."""
    for topic, found in topics.items():
        print(f"{topic}:")
        for name, value in found.items():
            print(f"  {name:<22} {value}")


def answer(quick: Callable[[], None]) -> int:
    """Print what takes no parser; an error becomes a line and an exit code."""
    try:
        quick()
        sys.stdout.flush()
    except MoversError as error:
        print(f"movers: error: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:  # the reader has gone
        sys.stderr.close()
    return 0


QUICK: dict[str, Callable[[], None]] = {
    "--version": print_version,
    "methods": print_measures,
    "doctor --quick": print_installation,
}
"""What is answered at once, by the whole of the arguments."""
