"""Lines, styles and tables on a terminal, by the columns that characters take."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Collection, Iterable, Sequence
from itertools import accumulate, zip_longest
from shutil import get_terminal_size
from typing import Any
from unicodedata import category, east_asian_width

import click

Cell = str | tuple[str, str]
"""What stands in a table: a text, or one with a style."""
STYLES: dict[str, dict[str, Any]] = {"": {}, "bold": {"bold": True}, "dim": {"dim": True}}
"""Styles beside colours, which NO_COLOR leaves alone."""
PLAIN = str.maketrans("▏▎▍▌▋▊▉█–“”↕…×", '    ####-""^~x')
"""What takes the place of characters that a terminal has not."""
UNSEEN = dict.fromkeys(code for code in range(32) if code not in (9, 10))
"""Characters that would move the cursor, or worse."""
NARROW = 8
"""Characters that a column keeps at least."""


def styled(text: str, style: str) -> str:
    """Return a text in bold, dim or a colour, unless its reader wants none."""
    bare = not text or os.environ.get("TERM") in ("dumb", "unknown")
    if bare or not style or (style not in STYLES and os.environ.get("NO_COLOR")):
        return text
    return click.style(text, **STYLES.get(style, {"fg": style}))


def printable(text: str) -> str:
    """Return a text with others for the characters that standard output has not."""
    encoding = sys.stdout.encoding or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return text.translate(PLAIN).encode(encoding, "replace").decode(encoding)
    return text


def echo(line: str = "") -> None:
    """Print a line, with its styles where these are seen."""
    click.echo(printable(line), color=True if os.environ.get("FORCE_COLOR") else None)


def print_text(text: str, style: str = "", *, wrapped: bool = True) -> None:
    """Print a text; lines that do not fit go on below, or are left to the terminal."""
    columns = get_terminal_size().columns if wrapped else sys.maxsize
    for line in wrap(text, columns):
        echo(styled(line, style))


def print_table(
    headings: Sequence[str], rows: Iterable[Sequence[Cell]], numbers: Collection[str] = ()
) -> None:
    """Print a table without rules, columns of ``numbers`` set to the right.

    Where it is wider than the terminal, the widest columns are broken into lines.
    """
    cells = [[one if isinstance(one, tuple) else (one, "") for one in row] for row in rows]
    if any(headings):
        cells.insert(0, [(heading, "dim") for heading in headings])
    widths = [max(width(text) for text, _ in column) for column in zip(*cells, strict=True)]
    room = get_terminal_size().columns - 2 * (len(widths) - 1)
    while sum(widths) > room and max(widths) > NARROW:
        widths[widths.index(max(widths))] -= 1
    right = [heading in numbers for heading in headings]
    for row in cells:
        texts, styles = zip(*row, strict=True)
        for parts in zip_longest(*map(wrap, texts, widths), fillvalue=""):
            echo("  ".join(map(_cell, parts, styles, widths, right)).rstrip())


def _cell(text: str, style: str, columns: int, right: bool) -> str:
    blank = " " * (columns - width(text))
    return blank + styled(text, style) if right else styled(text, style) + blank


def width(text: str) -> int:
    """Return the columns of a text: two for wide characters, none for marks on others."""
    if text.isascii():
        return len(text)
    shown = (one for one in text if category(one) not in ("Mn", "Me", "Cf"))
    return sum(1 + (east_asian_width(one) in "WF") for one in shown)


def wrap(text: str, columns: int) -> list[str]:
    """Return the lines of a text, broken at blanks, and in words that are wider than a line."""
    lines = []
    for paragraph in text.translate(UNSEEN).expandtabs().split("\n"):
        line = ""
        for word in re.findall(" *[^ ]+", paragraph):
            if line and width(line + word) > columns:
                lines.append(line)
                line, word = "", word.lstrip(" ")
            while width(word[: 2 * columns + 1]) > columns > 1:
                ends = accumulate(map(width, word[: 2 * columns]))
                fits = sum(end <= columns for end in ends)
                lines.append(word[:fits])
                word = word[fits:]
            line += word
        lines.append(line)
    return lines
