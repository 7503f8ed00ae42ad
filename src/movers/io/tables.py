"""Tables of sentence pairs on disk, a chunk of rows at a time: text here, Arrow in its own file."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from dataclasses import dataclass
from io import StringIO
from itertools import chain, islice, zip_longest
from math import isfinite
from pathlib import Path
from typing import Any, BinaryIO

from movers.errors import Choose, Do, InputError
from movers.io.pairs import is_missing, known_columns, pick_pair
from movers.runtime.json_text import parse_json
from movers.runtime.notices import notify

Chunk = dict[str, Any]
"""Rows as columns: lists with one entry per row, or Arrow arrays where they come from Arrow."""
Write = Callable[[Chunk], None]

STANDARD = Path("-")
ROWS = 2048
SUFFIXES = {
    ".tsv": "tsv",
    ".txt": "tsv",
    ".csv": "csv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".arrow": "arrow",
    ".arrows": "arrows",
    ".feather": "arrow",
    ".ipc": "arrow",
}
BINARY = ("parquet", "arrow", "arrows")
DELIMITERS = (",", ";", "\t")
"""What may stand between the cells of a CSV; the header tells."""


@dataclass(frozen=True)
class Table:
    """An open table: its columns and its rows, chunk by chunk.

    ``schema`` is the one of Parquet and Arrow data, kept so that column types survive.
    """

    columns: list[str]
    chunks: Iterator[Chunk]
    schema: Any = None


@dataclass(frozen=True)
class TwoTexts:
    """Two texts in place of a table: the sentences of a pair are on lines of the same number."""

    sources: Path
    targets: Path

    def __str__(self) -> str:
        return f"{self.sources} and {self.targets}"


def format_of(path: Path | TwoTexts, named: str | None = None) -> str:
    """Return the format of a file: the one named, or the one its suffix stands for.

    A name may go on behind a colon with what stands between the cells of a CSV: ``csv:;``.

    Examples
    --------
    >>> format_of(Path("pairs.csv")), format_of(Path("-"), "csv:;")
    ('csv', 'csv')
    """
    if isinstance(path, TwoTexts):
        return "tsv"
    known = sorted(set(SUFFIXES.values()))
    if named is not None:
        kind, _, delimiter = named.partition(":")
        if kind not in known:
            raise InputError(f"no format {named!r}; there are: {', '.join(known)}")
        if delimiter and (kind != "csv" or len(delimiter) > 1):
            raise InputError(f"a delimiter is one character between cells of a csv, got {named!r}")
        return kind
    if path == STANDARD:
        return "tsv"
    if path.suffix.lower() not in SUFFIXES:
        raise InputError(
            f"cannot tell the format of {str(path)!r} from its name; end it in one of "
            f"{', '.join(SUFFIXES)} or name the format"
        )
    return SUFFIXES[path.suffix.lower()]


@contextmanager
def open_table(path: Path | TwoTexts, format: str | None = None) -> Iterator[Table]:
    """Open a table for reading; ``-`` is standard input."""
    if isinstance(path, TwoTexts):
        opened = _open_texts(path)
    else:
        if path.is_dir():
            stray_path(path)
        kind = format_of(path, format)
        stray_path(path)
        delimiter = (format or "").partition(":")[2]
        opened = _open_arrow(path, kind) if kind in BINARY else _open_text(path, kind, delimiter)
    with opened as table:
        if len(set(table.columns)) < len(table.columns):
            raise InputError(f"{path} names a column twice: {', '.join(table.columns)}")
        yield table


def stray_path(path: Path) -> None:
    """Refuse a path to a folder or to nothing, and say what is there instead."""
    if path == STANDARD or (path.exists() and not path.is_dir()):
        return
    if path.is_dir():
        raise InputError(f"{str(path)!r} is a folder; name a file in it")
    if not path.parent.is_dir():
        there = f"; the folder {str(path.parent)!r} does not exist either"
    else:
        names = sorted(entry.name for entry in path.parent.iterdir() if entry.suffix in SUFFIXES)
        there = f"; the folder holds: {', '.join(names[:8])}" if names else ""
    raise InputError(f"no file {str(path)!r}{there}")


def read_lines(path: Path) -> Generator[str, None, None]:
    """Yield the lines of a text; ``-`` is standard input."""
    stray_path(path)
    with nullcontext(sys.stdin.buffer) if path == STANDARD else path.open("rb") as stream:
        yield from decoded_lines(stream, path)


def decoded_lines(stream: BinaryIO, path: Path) -> Iterator[str]:
    """Decode line by line, so that an error can name the line."""
    for number, line in enumerate(stream, 1):
        try:
            yield line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            raise InputError(
                f"{path}, line {number}: not UTF-8 (byte 0x{line[error.start]:02x} at column "
                f"{error.start + 1}); convert the file, for example with iconv -t utf-8"
            ) from error


@contextmanager
def _open_texts(texts: TwoTexts) -> Iterator[Table]:
    """Pair two texts line by line; a blank line is an empty sentence."""
    sides = (texts.sources, texts.targets)
    for path in sides:
        stray_path(path)

    def rows(*streams: BinaryIO) -> Iterator[list[str]]:
        for number, pair in enumerate(zip_longest(*map(decoded_lines, streams, sides)), 1):
            if None in pair:
                raise InputError(
                    f"{sides[pair.index(None)]} has {number - 1} lines and the other text has "
                    "more; every sentence needs its partner on the line of the same number"
                )
            yield [text.strip() for text in pair]

    with texts.sources.open("rb") as first, texts.targets.open("rb") as second:
        yield Table(["source", "target"], _chunks(rows(first, second), ["source", "target"]))


@contextmanager
def _open_text(path: Path, kind: str, delimiter: str) -> Iterator[Table]:
    with closing(read_lines(path)) as lines:
        rows = _csv_rows(lines, path, delimiter) if delimiter else _ROWS[kind](lines, path)
        columns = next(rows, None)
        if columns is None:
            raise InputError(f"{path} is empty; expected a header line and rows")
        yield Table(columns, _chunks(_checked(rows, columns, path), columns))


@contextmanager
def _open_arrow(path: Path, kind: str) -> Iterator[Table]:
    from movers.io.arrow import open_arrow

    with open_arrow(None if path == STANDARD else path, kind, ROWS) as (schema, batches):
        chunks = (dict(zip(schema.names, batch.columns, strict=True)) for batch in batches)
        yield Table(schema.names, chunks, schema)


def _checked(rows: Iterator[list[Any]], columns: list[str], path: Path) -> Iterator[list[Any]]:
    for number, row in enumerate(rows, 1):
        if len(row) != len(columns):
            raise InputError(
                f"{path}, row {number}: {len(row)} fields while the header has {len(columns)}"
            )
        yield row


def _chunks(rows: Iterator[list[Any]], columns: list[str]) -> Iterator[Chunk]:
    while held := list(islice(rows, ROWS)):
        yield dict(zip(columns, map(list, zip(*held, strict=True)), strict=True))


def _tsv_rows(lines: Iterator[str], path: Path) -> Iterator[list[Any]]:
    return _filled(line.rstrip("\r\n").split("\t") for line in lines)


def _filled(rows: Iterator[list[Any]]) -> Iterator[list[Any]]:
    """Yield rows without blank lines, which in a table of one column are rows with a blank cell."""
    header: list[Any] | None = None
    for row in rows:
        if any(row) or len(row) > 1:
            header = header or row
            yield row
        elif header is not None and len(header) == 1:
            yield [""]


def _csv_rows(lines: Iterator[str], path: Path, delimiter: str = "") -> Iterator[list[Any]]:
    header = next(lines, "")
    if not delimiter:
        cells = {mark: len(next(csv.reader([header], delimiter=mark))) for mark in DELIMITERS}
        delimiter = max(cells, key=cells.__getitem__)
    rows = csv.reader(chain([header], lines), delimiter=delimiter, strict=True)
    try:
        yield from _filled(rows)
    except csv.Error as error:
        raise InputError(f"{path}, line {rows.line_num}: {error}") from error


def _jsonl_rows(lines: Iterator[str], path: Path) -> Iterator[list[Any]]:
    """Yield the keys of the first object, and the values of them all."""
    first: dict[str, Any] | None = None
    row = 0
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            value = parse_json(line)
            if "\\ud" in line.lower():  # half a surrogate pair has no UTF-8
                json.dumps(value, ensure_ascii=False).encode()
        except (ValueError, RecursionError) as error:
            raise InputError(f"{path}, line {number}: not JSON ({error})") from error
        if not isinstance(value, dict):
            raise InputError(f"{path}, line {number}: expected an object, found {line[:40]!r}")
        row += 1
        if first is None:
            first = value
            yield list(first)
        if value.keys() != first.keys():
            raise InputError(
                f"{path}, row {row}: keys {', '.join(value)} while the first row has "
                f"{', '.join(first)}"
            )
        yield [value[name] for name in first]
    if first is None:
        raise InputError(f"{path} is empty; expected one JSON object per line")


_ROWS = {"tsv": _tsv_rows, "csv": _csv_rows, "jsonl": _jsonl_rows}
"""Rows of a text; the first names the columns."""


def count_rows(path: Path | TwoTexts, format: str | None = None) -> int | None:
    """Return rows of a table, roughly, for a progress bar; None if unknown."""
    if isinstance(path, TwoTexts):
        return count_rows(path.sources, "jsonl")  # no header either
    if path == STANDARD or not path.is_file():  # a pipe can be read only once
        return None
    kind = format_of(path, format)
    if kind in ("arrow", "arrows"):
        return None
    if kind == "parquet":
        from movers.io.arrow import count_parquet

        return count_parquet(path)
    with path.open("rb") as stream:
        lines = sum(block.count(b"\n") for block in iter(lambda: stream.read(1 << 20), b""))
    return max(0, lines - (kind != "jsonl"))


def pick_columns(columns: list[str], source: str | None, target: str | None) -> tuple[str, str]:
    """Return the two columns to compare: those named, a well-known pair, or the only two."""
    marks = [mark for mark in (*DELIMITERS, "|") if mark in columns[0]]
    if marks and len(columns) == 1 and source is target is None:
        remedies: tuple[Choose, Do] = Choose("format", "csv"), Do("end its name in .csv")
        if marks[0] not in DELIMITERS:
            remedies = Choose("delimiter", f"'{marks[0]}'"), Do("put tabs between its cells")
        raise InputError(f"the header is one cell, {columns[0]!r}", *remedies)
    picked = pick_pair(columns, source, target, "--source and --target")
    if source is None and target is None and known_columns(columns) is None:
        notify(
            f"taking the first line as the names of the columns: {', '.join(columns)}; if it "
            "is a pair of sentences, put a header line above it"
        )
    return picked


def refuse_taken(columns: list[str], names: Iterable[str]) -> None:
    """Refuse names of new columns that a table has already."""
    if taken := [name for name in names if name in columns]:
        raise InputError(f"the table has a column {taken[0]!r} already; rename it first")


def check_texts(values: Any, column: str, first_row: int) -> list[str]:
    """Take a missing cell as an empty sentence; refuse any other that is not text."""
    values = plain_values(values)
    for number, value in enumerate(values, first_row + 1):
        if not is_missing(value) and not isinstance(value, str):
            raise InputError(f"row {number}, column {column!r}: expected text, found {value!r}")
    return ["" if is_missing(value) else value for value in values]


@contextmanager
def line_writer(
    path: Path, lines: Callable[[Chunk], Iterable[str]], head: str = ""
) -> Iterator[Write]:
    """Open a text, or standard output, for the lines of chunks, behind what stands before them.

    The head goes out with the first chunk, so that an early error leaves nothing behind.
    """
    standard = path == STANDARD
    with nullcontext(sys.stdout) if standard else path.open("w", -1, "utf-8", newline="") as stream:
        above = [head]

        def write(chunk: Chunk) -> None:
            stream.writelines((*above, *lines(chunk)))
            above.clear()
            stream.flush()

        yield write


def table_writer(
    path: Path, format: str, columns: list[str], schema: Any = None
) -> AbstractContextManager[Write]:
    """Open a table for writing; the context yields a function that writes one chunk."""
    if format in BINARY:
        from movers.io.arrow import write_arrow

        return write_arrow(None if path == STANDARD else path, format, columns, schema)

    def lines(chunk: Chunk) -> Iterator[str]:
        rows = zip(*map(plain_values, chunk.values()), strict=True)
        return (_LINES[format](row, columns) for row in rows)

    return line_writer(path, lines, "" if format == "jsonl" else _LINES[format](columns, columns))


def plain_values(values: Any) -> list[Any]:
    """Return a column as plain values."""
    return values if isinstance(values, list) else list(values.to_pylist())


def _tsv_line(row: Sequence[Any], columns: list[str]) -> str:
    cells = ("" if cell is None else str(cell) for cell in row)
    blank = (cell.replace("\t", " ").replace("\r", " ").replace("\n", " ") for cell in cells)
    return "\t".join(blank) + "\n"


def _csv_line(row: Sequence[Any], columns: list[str]) -> str:
    line = StringIO()
    csv.writer(line, lineterminator="\n").writerow(row)
    return line.getvalue()


def _json_line(row: Sequence[Any], columns: list[str]) -> str:
    # JSON knows neither NaN nor infinity.
    cells = (None if isinstance(cell, float) and not isfinite(cell) else cell for cell in row)
    record = dict(zip(columns, cells, strict=True))
    return json.dumps(record, ensure_ascii=False, default=str) + "\n"


_LINES = {"tsv": _tsv_line, "csv": _csv_line, "jsonl": _json_line}
