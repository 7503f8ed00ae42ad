"""Tables of sentence pairs on disk, a chunk of rows at a time: text here, Arrow in its own file."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from itertools import islice, zip_longest
from pathlib import Path
from typing import IO, Any, BinaryIO

from movers.errors import InputError
from movers.io.pairs import is_missing, known_columns
from movers.runtime.notices import HeaderWarning, notify

Chunk = dict[str, Any]
"""Rows as columns: lists with one entry per row, or Arrow arrays where they come from Arrow."""

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
    """The format of a file: the one named, or the one its suffix stands for."""
    if isinstance(path, TwoTexts):
        return "tsv"
    known = sorted(set(SUFFIXES.values()))
    if named is not None:
        if named not in known:
            raise InputError(f"no format {named!r}; there are: {', '.join(known)}")
        return named
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
        with _open_texts(path) as table:
            yield table
        return
    if path.is_dir() and path != STANDARD:
        stray_path(path)
    kind = format_of(path, format)
    stray_path(path)
    if kind in BINARY:
        with _read_arrow(path, kind) as table:
            yield table
        return
    stream = sys.stdin.buffer if path == STANDARD else path.open("rb")
    try:
        yield _READERS[kind](decoded_lines(stream, path), path)
    finally:
        if path != STANDARD:
            stream.close()


def stray_path(path: Path) -> None:
    """Refuse a path to a folder or to nothing, and say what is there instead."""
    if path == STANDARD:
        return
    if path.is_dir():
        raise InputError(f"{str(path)!r} is a folder; name a file in it")
    if not path.exists():
        raise InputError(f"no file {str(path)!r}" + _neighbours(path))


@contextmanager
def _open_texts(texts: TwoTexts) -> Iterator[Table]:
    """Pair two texts line by line; a blank line is an empty sentence."""
    sides = (texts.sources, texts.targets)
    for path in sides:
        stray_path(path)

    def rows(*streams: BinaryIO) -> Iterator[list[str]]:
        lines = (decoded_lines(stream, path) for stream, path in zip(streams, sides, strict=True))
        for number, pair in enumerate(zip_longest(*lines), 1):
            for path, text in zip(sides, pair, strict=True):
                if text is None:
                    raise InputError(
                        f"{path} has {number - 1} lines and the other text has more; "
                        "every sentence needs its partner on the line of the same number"
                    )
            yield [text.strip() for text in pair]

    with texts.sources.open("rb") as first, texts.targets.open("rb") as second:
        columns = ["source", "target"]
        yield Table(columns, _chunks(rows(first, second), columns))


def count_rows(path: Path | TwoTexts, format: str | None = None) -> int | None:
    """Rows of a table, roughly, for a progress bar; None if unknown."""
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
    """The two columns to compare: those named, a well-known pair, or the only two."""
    for name in (source, target):
        if name is not None and name not in columns:
            raise InputError(f"no column {name!r}; the columns are: {', '.join(columns)}")
    if source is not None and target is not None:
        return source, target
    if source is None and target is None:
        if known := known_columns(columns):
            return known
        if len(columns) == 2:
            notify(
                f"taking the first line as the names of the columns: {', '.join(columns)}; if it "
                "is a pair of sentences, put a header line above it",
                HeaderWarning,
            )
            return columns[0], columns[1]
    raise InputError(
        "which two columns hold the sentences? name them with --source and --target; "
        f"the columns are: {', '.join(columns)}"
    )


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
def text_output(path: Path) -> Iterator[IO[str]]:
    """Open a text for writing; ``-`` is standard output."""
    if path == STANDARD:
        yield sys.stdout
        sys.stdout.flush()
        return
    with path.open("w", encoding="utf-8", newline="") as stream:
        yield stream


Write = Callable[[Chunk], None]


def table_writer(
    path: Path, format: str, columns: list[str], schema: Any = None
) -> AbstractContextManager[Write]:
    """Open a table for writing; the context yields a function that writes one chunk.

    The header goes out with the first chunk, so that an early error leaves nothing behind.
    """
    if format in BINARY:
        from movers.io.arrow import write_arrow

        return write_arrow(None if path == STANDARD else path, format, columns, schema)
    return _write_text(path, format, columns)


def _neighbours(path: Path) -> str:
    if not path.parent.is_dir():
        return f"; the folder {str(path.parent)!r} does not exist either"
    names = sorted(entry.name for entry in path.parent.iterdir() if entry.suffix in SUFFIXES)
    return f"; the folder holds: {', '.join(names[:8])}" if names else ""


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


def _read_tsv(lines: Iterator[str], path: Path) -> Table:
    rows = (line.rstrip("\r\n").split("\t") for line in lines if line.strip("\r\n"))
    return _from_rows(rows, path)


def _read_csv(lines: Iterator[str], path: Path) -> Table:
    rows = csv.reader(lines, strict=True)

    def safe() -> Iterator[list[str]]:
        try:
            yield from (row for row in rows if row)
        except csv.Error as error:
            raise InputError(f"{path}, line {rows.line_num}: {error}") from error

    return _from_rows(safe(), path)


def _from_rows(rows: Iterator[list[str]], path: Path) -> Table:
    columns = next(rows, None)
    if columns is None:
        raise InputError(f"{path} is empty; expected a header line and rows")
    if len(set(columns)) < len(columns):
        raise InputError(f"{path} names a column twice: {', '.join(columns)}")
    return Table(columns, _chunks(_checked(rows, columns, path), columns))


def _checked(rows: Iterator[list[str]], columns: list[str], path: Path) -> Iterator[list[str]]:
    for number, row in enumerate(rows, 1):
        if len(row) != len(columns):
            raise InputError(
                f"{path}, row {number}: {len(row)} fields while the header has {len(columns)}"
            )
        yield row


def _chunks(rows: Iterable[list[Any]], columns: list[str]) -> Iterator[Chunk]:
    left = iter(rows)
    while held := list(islice(left, ROWS)):
        yield dict(zip(columns, map(list, zip(*held, strict=True)), strict=True))


def _read_jsonl(lines: Iterator[str], path: Path) -> Table:
    def objects() -> Iterator[dict[str, Any]]:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                value = json.loads(line)
            except json.JSONDecodeError as error:
                raise InputError(f"{path}, line {number}: not JSON ({error})") from error
            if not isinstance(value, dict):
                raise InputError(f"{path}, line {number}: expected an object, found {line[:40]!r}")
            yield value

    stream = objects()
    first = next(stream, None)
    if first is None:
        raise InputError(f"{path} is empty; expected one JSON object per line")
    columns = list(first)

    def rows() -> Iterator[list[Any]]:
        yield list(first.values())
        for number, value in enumerate(stream, 2):
            if value.keys() != first.keys():
                raise InputError(
                    f"{path}, row {number}: keys {', '.join(value)} while the first row has "
                    f"{', '.join(columns)}"
                )
            yield [value[name] for name in columns]

    return Table(columns, _chunks(rows(), columns))


@contextmanager
def _read_arrow(path: Path, kind: str) -> Iterator[Table]:
    from movers.io.arrow import open_arrow

    with open_arrow(None if path == STANDARD else path, kind, ROWS) as (schema, batches):
        if len(set(schema.names)) < len(schema.names):
            raise InputError(f"{path} names a column twice: {', '.join(schema.names)}")
        chunks = (dict(zip(schema.names, batch.columns, strict=True)) for batch in batches)
        yield Table(schema.names, chunks, schema)


_READERS: dict[str, Callable[[Iterator[str], Path], Table]] = {
    "tsv": _read_tsv,
    "csv": _read_csv,
    "jsonl": _read_jsonl,
}


def _rows(chunk: Chunk) -> Iterator[tuple[Any, ...]]:
    return zip(*map(plain_values, chunk.values()), strict=True)


def plain_values(values: Any) -> list[Any]:
    """A column as plain values."""
    return values if isinstance(values, list) else list(values.to_pylist())


@contextmanager
def _write_text(path: Path, format: str, columns: list[str]) -> Iterator[Write]:
    with text_output(path) as stream:
        above = [] if format == "jsonl" else [tuple(columns)]

        def write(chunk: Chunk) -> None:
            _WRITERS[format](stream, [*above, *_rows(chunk)], columns)
            above.clear()
            stream.flush()

        yield write


def _write_tsv(stream: IO[str], rows: list[tuple[Any, ...]], columns: list[str]) -> None:
    stream.writelines("\t".join(map(_one_line, row)) + "\n" for row in rows)


def _one_line(value: Any) -> str:
    """A cell without the characters that would break a TSV line."""
    text = "" if value is None else str(value)
    return text.replace("\t", " ").replace("\r", " ").replace("\n", " ")


def _write_csv(stream: IO[str], rows: list[tuple[Any, ...]], columns: list[str]) -> None:
    csv.writer(stream, lineterminator="\n").writerows(rows)


def _write_jsonl(stream: IO[str], rows: list[tuple[Any, ...]], columns: list[str]) -> None:
    for row in rows:
        record = {name: _plain(value) for name, value in zip(columns, row, strict=True)}
        stream.write(json.dumps(record, ensure_ascii=False, default=str) + "\n")


def _plain(value: Any) -> Any:
    """JSON knows neither NaN nor infinity."""
    return None if isinstance(value, float) and value - value != 0 else value


_WRITERS = {"tsv": _write_tsv, "csv": _write_csv, "jsonl": _write_jsonl}
