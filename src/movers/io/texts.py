"""Sentences from a file: lines of text, or one column of a table."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from movers.errors import InputError
from movers.io import tables
from movers.io.tables import STANDARD, SUFFIXES, Table, check_texts, format_of, open_table
from movers.runtime.atomic import replacing

LINES = "lines"
"""The format of a text with one sentence per line."""
SENTENCE = "sentence"
"""Column of a table made from sentences alone."""
KNOWN_COLUMNS = (SENTENCE, "text", "sentences", "texts", "source", "sentence1", "content", "body")


def read_texts(
    file: Path, *, column: str | None = None, format: str | None = None
) -> Iterator[str]:
    r"""Return sentences of a file in order; blank ones are left out.

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
    return filter(None, Texts(file, column, format))


@dataclass(frozen=True)
class Texts:
    """The sentences of a file, to be read as often as they are wanted.

    Each line or row gives one, "" if there is none on it. `read_texts` explains the options.
    """

    file: Path
    column: str | None = None
    format: str | None = None

    def __iter__(self) -> Iterator[str]:
        if self.plain:
            yield from (line.strip() for line in tables.read_lines(self.file))
            return
        row = 0
        with open_table(self.file, self.format) as table:
            name = pick_column(table.columns, self.column)
            for chunk in table.chunks:
                texts = check_texts(chunk[name], name, row)
                row += len(texts)
                yield from (" ".join(text.split()) for text in texts)

    def __length_hint__(self) -> int:
        lines = "jsonl" if self.plain else self.format  # neither has a header
        return tables.count_rows(self.file, lines) or 0

    @property
    def plain(self) -> bool:
        """Whether the file holds lines and not a table."""
        if self.format is None:
            suffix = self.file.suffix.lower()
            return self.column is None and (suffix == ".txt" or suffix not in SUFFIXES)
        if self.format != LINES:
            format_of(self.file, self.format)
        elif self.column is not None:
            raise InputError(f"lines have no column {self.column!r}; name the format of the table")
        return self.format == LINES

    def check(self) -> None:
        """Refuse at once what could not be read later: no file, no such column, no text in it."""
        if self.file != STANDARD:  # which can be read only once
            next(iter(self), None)


def read_column(file: Path, column: str, format: str | None = None) -> list[object]:
    """Return one column of a table, whatever it holds."""
    values: list[object] = []
    with open_table(file, format) as table:
        name = pick_column(table.columns, column)
        for chunk in table.chunks:
            cells = chunk[name]
            values += cells if isinstance(cells, list) else cells.to_pylist()
    return values


def write_some(texts: Iterable[str], numbers: Container[int], output: Path) -> None:
    """Write some of the sentences, counted from 1, as a whole file or not at all.

    A table gets all columns of the table that they come from, and any other file one sentence on
    each line.
    """
    with replacing(output) as temporary:
        if Texts(output).plain:
            chosen = (text for number, text in enumerate(texts, 1) if number in numbers)
            with temporary.open("w", encoding="utf-8", newline="\n") as stream:
                stream.writelines(f"{text}\n" for text in chosen)
        elif isinstance(texts, Texts) and not texts.plain:
            with open_table(texts.file, texts.format) as table:
                _write_rows(table, numbers, temporary, format_of(output))
        else:
            rows = Table([SENTENCE], iter([{SENTENCE: list(texts)}]))
            _write_rows(rows, numbers, temporary, format_of(output))


def _write_rows(table: Table, numbers: Container[int], path: Path, format: str) -> None:
    row = 0
    with tables.table_writer(path, format, table.columns, table.schema) as write:
        for chunk in table.chunks:
            size = len(next(iter(chunk.values())))
            places = [place for place in range(size) if row + place + 1 in numbers]
            row += size
            if places:
                write({name: _at(values, places) for name, values in chunk.items()})


def _at(values: Any, places: list[int]) -> Any:
    """Return some entries of a column."""
    return [values[place] for place in places] if isinstance(values, list) else values.take(places)


def pick_column(columns: list[str], named: str | None) -> str:
    """Return the column of sentences: the one named, the only one, or a well-known one."""
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
