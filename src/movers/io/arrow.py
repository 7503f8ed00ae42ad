"""Parquet files and Arrow streams, read and written a few thousand rows at a time.

Columns stay Arrow arrays from one end to the other: types survive, and only the sentences ever
become Python strings.
"""

from __future__ import annotations

import mmap
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

from movers.errors import InputError, missing

try:
    import pyarrow as pa
    from pyarrow import ipc, parquet
except ImportError as error:
    raise missing("pyarrow", "a Parquet or Arrow file") from error

Columns = dict[str, Any]
"""Columns of some rows: Arrow arrays, or lists where the values were made here."""

BUFFER_BYTES = 1 << 20
"""Read-ahead of every column of a Parquet file; without it a whole row group is loaded."""
GROUP_ROWS = 1 << 16
"""Rows written at once: small groups make a large file slow to read."""
FILE_MAGIC = b"ARROW1"


@contextmanager
def open_arrow(path: Path | None, format: str, rows: int) -> Iterator[tuple[Any, Iterator[Any]]]:
    """Open Parquet or Arrow data, and give its schema and its record batches of so many rows.

    Without a path, the data come from standard input.
    """
    if format == "parquet":
        with _open_parquet(path) as file:
            yield file.schema_arrow, _sliced(file.iter_batches(batch_size=rows), rows, path)
        return
    with nullcontext(sys.stdin.buffer) if path is None else path.open("rb") as stream:
        source: Any = stream
        mapped = None
        if path is not None and path.is_file() and path.stat().st_size:
            mapped = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
            source = pa.BufferReader(pa.py_buffer(mapped))
        try:
            schema, batches = _read_ipc(source, mapped)
        except pa.ArrowInvalid as error:
            raise InputError(f"{path or 'standard input'} is not Arrow data: {error}") from error
        yield schema, _sliced(batches, rows, path, mapped)


def count_parquet(path: Path) -> int:
    """Return rows of a Parquet file, from its footer."""
    with _open_parquet(path) as file:
        return int(file.metadata.num_rows)


@contextmanager
def write_arrow(
    path: Path | None, format: str, columns: list[str], schema: Any = None
) -> Iterator[Callable[[Columns], None]]:
    """Open Parquet or Arrow data for writing; the context yields a function for some rows.

    Columns that the schema names keep its types; the first rows tell the types of the others.
    """
    held: list[Any] = []
    written: Any = None
    writer: Any = None

    def flush() -> None:
        nonlocal written, held
        # With what was written before in front, a dictionary only ever grows, as Arrow wants it.
        tables = [pa.Table.from_batches(held), *([] if written is None else [written])][::-1]
        table = pa.concat_tables(tables).combine_chunks().unify_dictionaries()
        writer.write_table(table)
        held, written = [], table.slice(0, 0)

    def write(rows: Columns) -> None:
        nonlocal schema, writer
        if writer is None:
            schema = _schema(rows, columns, schema)
            writer = _writer(path, format, schema)
        arrays = [_array(rows[field.name], field.type) for field in schema]
        held.append(pa.record_batch(arrays, schema=schema))
        if sum(map(len, held)) >= GROUP_ROWS:
            flush()

    try:
        yield write
    finally:
        if writer is not None:
            if held:
                flush()
            writer.close()


@contextmanager
def _open_parquet(path: Path | None) -> Iterator[Any]:
    if path is None:
        raise InputError("Parquet cannot come from standard input; name a file")
    try:
        file = parquet.ParquetFile(path, buffer_size=BUFFER_BYTES, pre_buffer=False)
    except pa.ArrowInvalid as error:
        raise InputError(f"{path} is not a Parquet file: {error}") from error
    with file:
        yield file


def _read_ipc(source: Any, mapped: mmap.mmap | None) -> tuple[Any, Iterator[Any]]:
    """Return schema and batches of either Arrow format; only a file can be looked into."""
    if mapped is not None and mapped[: len(FILE_MAGIC)] == FILE_MAGIC:
        file = ipc.open_file(source)
        return file.schema, map(file.get_batch, range(file.num_record_batches))
    reader = ipc.open_stream(source)
    return reader.schema, iter(reader)


def _sliced(
    batches: Iterator[Any], rows: int, path: Path | None, mapped: mmap.mmap | None = None
) -> Iterator[Any]:
    """Yield batches of at most so many rows."""
    done = 0
    try:
        for batch in batches:
            for start in range(0, len(batch), rows):
                yield batch.slice(start, rows)
                if mapped is not None and hasattr(mmap, "MADV_DONTNEED"):
                    # The system would keep these pages until it is short of memory.
                    mapped.madvise(mmap.MADV_DONTNEED)
            done += len(batch)
    except (pa.ArrowInvalid, OSError) as error:
        where = path or "standard input"
        raise InputError(f"{where} is damaged after {done} rows: {error}") from error


def _schema(rows: Columns, columns: list[str], known: Any) -> Any:
    fields = []
    for name in columns:
        place = -1 if known is None else known.get_field_index(name)
        fields.append(known.field(place) if place >= 0 else pa.field(name, _array(rows[name]).type))
    return pa.schema(fields, metadata=None if known is None else known.metadata)


def _array(values: Any, type: Any = None) -> Any:
    return values if isinstance(values, pa.Array) else pa.array(values, type)


def _writer(path: Path | None, format: str, schema: Any) -> Any:
    if format == "parquet":
        if path is None:
            raise InputError("Parquet cannot go to standard output; name a file with -o")
        return parquet.ParquetWriter(path, schema)
    options = ipc.IpcWriteOptions(emit_dictionary_deltas=True)
    if path is None or format == "arrows":  # the stream format; the other has an index
        return ipc.new_stream(path or sys.stdout.buffer, schema, options=options)
    return ipc.new_file(path, schema, options=options)
