"""Sentences from a file: lines of text, or one column of a table."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from movers.errors import InputError
from movers.io.tables import (
    STANDARD,
    SUFFIXES,
    check_texts,
    decoded_lines,
    format_of,
    open_table,
    stray_path,
)

LINES = "lines"
"""The format of a text with one sentence per line."""
KNOWN_COLUMNS = ("sentence", "text", "sentences", "texts", "source", "sentence1", "content", "body")


def read_texts(
    file: Path, *, column: str | None = None, format: str | None = None
) -> Iterator[str]:
    r"""Sentences of a file in order; blank ones are left out.

    Parameters
    ----------
    file
        A text with one sentence per line, or a CSV, TSV, JSON lines, Parquet or Arrow table;
        ``-`` is standard input.
    column
        Column of a table that holds the sentences; None takes the only one, or a well-known
        name such as sentence or text.
    format
        "lines" or the format of a table, where the name does not tell: what ends in .txt or in
        nothing known is read as lines, unless a column is named.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder) / "notes.csv"
    ...     _ = file.write_text("id,text\n1,a dog barks\n2,a cat sleeps\n")
    ...     list(read_texts(file))
    ['a dog barks', 'a cat sleeps']
    """
    return (text for text in numbered_texts(file, column=column, format=format) if text)


def numbered_texts(
    file: Path, *, column: str | None = None, format: str | None = None
) -> Iterator[str]:
    """Sentences of a file as in `read_texts`, but with "" for each line or row without one."""
    if _is_text(file, column, format):
        yield from _lines(file)
        return
    row = 0
    with open_table(file, format) as table:
        name = pick_column(table.columns, column)
        for chunk in table.chunks:
            texts = check_texts(chunk[name], name, row)
            row += len(texts)
            yield from (" ".join(text.split()) for text in texts)


def _is_text(file: Path, column: str | None, format: str | None) -> bool:
    """Whether a file holds lines and not a table."""
    if format is not None:
        if format != LINES:
            format_of(file, format)
        elif column is not None:
            raise InputError(f"lines have no column {column!r}; name the format of the table")
        return format == LINES
    plain = file.suffix.lower() == ".txt" or file.suffix.lower() not in SUFFIXES
    return plain and column is None


def _lines(file: Path) -> Iterator[str]:
    if file == STANDARD:
        yield from (line.strip() for line in decoded_lines(sys.stdin.buffer, file))
        return
    stray_path(file)
    with file.open("rb") as stream:
        yield from (line.strip() for line in decoded_lines(stream, file))


def pick_column(columns: list[str], named: str | None) -> str:
    """The column that holds the sentences: the one named, the only one, or a well-known one."""
    there = ", ".join(columns)
    if named is not None:
        if named not in columns:
            raise InputError(f"no column {named!r}; the columns are: {there}")
        return named
    known = [name for name in KNOWN_COLUMNS if name in columns]
    if len(columns) == 1 or known:
        return known[0] if known else columns[0]
    raise InputError(
        f"which column holds the sentences? name it with --column; the columns are: {there}"
    )
