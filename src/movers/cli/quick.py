"""What the command line answers without a parser, a model or numbers."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from shutil import get_terminal_size
from textwrap import TextWrapper, wrap

from movers.errors import MoversError
from movers.version import __version__

NARROW, WIDE = 40, 100
"""Columns that text is wrapped to at least, and at most."""
VERSIONS = (("wsmd-X", "X with structure", False), ("lambda-X", "words of wsmd-X", True))
"""Name and title of the versions of every word measure, and whether words alone are reported."""
COMPLETING = "_MOVERS_COMPLETE"
"""Variable by which a shell asks how a line may go on."""
MEASURES = Path(__file__).parent.parent / "data" / "measures.tsv"
"""Rows of `measure_rows` for the measures of this package, by scripts/list_measures.py."""


def columns() -> int:
    """Return columns to wrap text to."""
    return max(NARROW, min(WIDE, get_terminal_size().columns))


def paragraph(text: str, first: str = "", rest: str = "") -> str:
    """Return a text in lines that fit, with what they begin with; words stay whole."""
    wrapper = TextWrapper(columns(), first, rest, break_on_hyphens=False)
    return wrapper.fill(text).replace("\xa0", " ")


def side_by_side(rows: Mapping[str, str], form: str = "{}") -> str:
    """Return names and what is said of each side by side."""
    indent, lines = 4 + max(map(len, rows)), []
    for name, text in rows.items():
        said = paragraph(text, f"  {name}".ljust(indent), " " * indent) if text else f"  {name}"
        lines.append(said.replace(name, form.format(name), 1))
    return "\n".join(lines)


def summary(file: Path, function: str) -> str:
    """Return the first line of what a function says of itself, read without importing its file."""
    match = re.search(rf'^def {function}\(.*?"""(.*?)$', file.read_text("utf-8"), re.M | re.S)
    assert match is not None
    return match[1].replace("`", "")


def print_version() -> None:
    """Print the version."""
    print(__version__)


def print_measures() -> None:
    """Print the measures, one below the other; the versions every word measure has share one.

    They are read from a file that says what the registry says, which takes numpy and long; where
    an installed package has measures of its own, from the registry.
    """
    from movers.plugins import add_outside_measures

    rows = measure_rows() if add_outside_measures() else MEASURES.read_text("utf-8").splitlines()
    bold, dim = ("\033[1m{}\033[0m", "\033[2m{}\033[0m") if sys.stdout.isatty() else ("{}", "{}")
    for row in rows:
        name, title, details = row.split("\t")
        if not name:
            print(paragraph(title))
            continue
        print(bold.format(f"{name:<12}"), title)
        for line in wrap(details, columns() - 13):
            print(" " * 12, dim.format(line))


def measure_rows() -> list[str]:
    """Name, title and details of the measures, by tabs; rows without a name are about all."""
    from movers.measures.registry import ALIASES, METHODS, RESEARCH

    unbased = [(name, row.title, row) for name, row in METHODS.items() if row.base is None]
    based = [row for row in METHODS.values() if row.base is not None]
    versions = {row.word_part: row for row in reversed(based)}
    shared = [(name, title, versions[words]) for name, title, words in VERSIONS]
    rows = []
    for name, title, row in (*unbased, *shared):
        paper = row.paper[: row.paper.find(")") + 1]  # authors and year
        differs = row.recipes.removeprefix("reference: ")
        details = "; ".join(filter(None, [paper, differs and f"the reference recipe: {differs}"]))
        rows.append(f"{name}\t{title}\t{details}")
    bases = dict.fromkeys(row.base for row in based if row.base)
    notes = ["", f"X is one of {', '.join(bases)}."]
    notes += [f"{alias} is short for {name}." for alias, name in ALIASES.items()]
    if absent := [name for name in RESEARCH if name not in METHODS]:
        notes.append(f"{', '.join(absent)} come with movers-research.")
    return [*rows, *(f"\t{note}\t" for note in notes)]


def print_installation() -> None:
    """Print versions, settings and where kernels lie; nothing is loaded or tested."""
    from movers.runtime.installation import installed

    print_topics(installed())


def print_topics(topics: Mapping[str, Mapping[str, str]]) -> None:
    """Print facts by topic."""
    for topic, facts in topics.items():
        print(f"{topic}:")
        for name, value in facts.items():
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
