"""Parquet and Arrow data pass through with their types, a few rows at a time."""

import io
import sys
from contextlib import suppress
from pathlib import Path

import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq
import pytest

from movers.errors import InputError
from movers.io import arrow
from movers.io.tables import format_of

ROWS = pa.table(
    {
        "when": pa.array([1, 2, None], pa.timestamp("ns")),
        "label": pa.array(["yes", "no", "yes"]).dictionary_encode(),
        "nested": [{"a": [1]}, None, {"a": []}],
        "text": pa.array(["x", "y", "z"], pa.large_string()),
    },
).replace_schema_metadata({"origin": "here"})


def copied(path, out, rows=2):
    """Read a file chunk by chunk, add a column and write it."""
    kinds = [format_of(name) for name in (path, out)]
    with arrow.open_arrow(path, kinds[0], rows) as (schema, batches):
        columns = [*schema.names, "added"]
        with arrow.write_arrow(out, kinds[1], columns, schema) as write:
            for batch in batches:
                write(
                    {
                        **dict(zip(schema.names, batch.columns, strict=True)),
                        "added": [0.5] * len(batch),
                    }
                )


def write_file(path, table):
    if path.suffix == ".parquet":
        pq.write_table(table, path)
    else:
        open_writer = pa.ipc.new_stream if path.suffix == ".arrows" else pa.ipc.new_file
        with open_writer(path, table.schema) as writer:
            writer.write_table(table)


def read_file(path):
    if path.suffix == ".parquet":
        return pq.read_table(path)
    open_reader = pa.ipc.open_stream if path.suffix == ".arrows" else pa.ipc.open_file
    with pa.memory_map(str(path)) as stream:
        return open_reader(stream).read_all()


SUFFIXES = (".parquet", ".arrow", ".arrows", ".feather")


@pytest.mark.parametrize("left", SUFFIXES)
@pytest.mark.parametrize("right", SUFFIXES)
def test_types_nulls_and_metadata_survive(tmp_path, left, right, monkeypatch):
    monkeypatch.setattr(arrow, "GROUP_ROWS", 2)
    path, out = tmp_path / f"in{left}", tmp_path / f"out{right}"
    write_file(path, ROWS)
    copied(path, out)
    found = read_file(out)
    assert found["added"].to_pylist() == [0.5] * 3
    assert found.drop_columns("added").schema.equals(ROWS.schema)
    assert found.drop_columns("added").to_pylist() == ROWS.to_pylist()
    assert found.schema.metadata[b"origin"] == b"here"


def test_dictionaries_may_change_from_group_to_group(tmp_path, monkeypatch):
    monkeypatch.setattr(arrow, "GROUP_ROWS", 2)
    words = [f"w{number}" for number in range(9)]
    table = pa.table({"label": pa.array(words).dictionary_encode()})
    pq.write_table(table, tmp_path / "in.parquet", row_group_size=2)
    copied(tmp_path / "in.parquet", tmp_path / "out.arrow")
    found = read_file(tmp_path / "out.arrow")["label"]
    assert found.to_pylist() == words
    assert pa.types.is_dictionary(found.type)


def test_large_batches_are_cut_and_small_ones_gathered(tmp_path, monkeypatch):
    monkeypatch.setattr(arrow, "GROUP_ROWS", 6)
    write_file(tmp_path / "in.arrow", pa.table({"n": range(13)}))
    with arrow.open_arrow(tmp_path / "in.arrow", "arrow", 4) as (_, batches):
        assert [len(batch) for batch in batches] == [4, 4, 4, 1]
    copied(tmp_path / "in.arrow", tmp_path / "out.parquet", rows=4)
    groups = pq.ParquetFile(tmp_path / "out.parquet").metadata
    assert [groups.row_group(k).num_rows for k in range(groups.num_row_groups)] == [8, 5]


def test_a_row_group_is_not_loaded_whole(tmp_path):
    """Only the pages in use are in memory, however large the row group."""
    text = pa.array([f"{number:0100d}" for number in range(200_000)])
    pq.write_table(
        pa.table({"text": text}), tmp_path / "in.parquet", compression="none", use_dictionary=False
    )
    before = pa.total_allocated_bytes()
    with arrow.open_arrow(tmp_path / "in.parquet", "parquet", 1000) as (_, batches):
        held = max(pa.total_allocated_bytes() - before for _ in batches)
    assert held < text.nbytes / 4


@pytest.mark.skipif(not Path("/proc/self/smaps").exists(), reason="needs Linux to look at pages")
@pytest.mark.parametrize("suffix", [".arrow", ".arrows"])
def test_a_large_batch_is_not_kept_in_memory(tmp_path, suffix):
    path = tmp_path / f"in{suffix}"
    write_file(path, pa.table({"text": [f"{number:0100d}" for number in range(200_000)]}))
    with arrow.open_arrow(path, "arrow", 1000) as (_, batches):
        read = (batch.column(0).to_pylist() for batch in batches)
        held = [resident(path) for place, texts in enumerate(read) if texts and place % 10 == 9]
    assert len(held) == 20
    assert max(held) < path.stat().st_size / 4


def resident(path):
    """Bytes of a mapped file that are in memory for this process."""
    lines = iter(Path("/proc/self/smaps").read_text().splitlines())
    return sum(
        1024 * int(next(line for line in lines if line.startswith("Rss:")).split()[1])
        for line in lines
        if line.endswith(str(path))
    )


def test_streams_go_through_pipes(monkeypatch, capsysbinary):
    stream = io.BytesIO()
    with pa.ipc.new_stream(stream, ROWS.schema) as writer:
        writer.write_table(ROWS)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stream.getvalue())))
    with (
        arrow.open_arrow(None, "arrow", 2) as (schema, batches),
        arrow.write_arrow(None, "arrow", schema.names, schema) as write,
    ):
        for batch in batches:
            write(dict(zip(schema.names, batch.columns, strict=True)))
    assert pa.ipc.open_stream(capsysbinary.readouterr().out).read_all().equals(ROWS)


def test_parquet_needs_a_file():
    with pytest.raises(InputError, match="cannot come from"), arrow.open_arrow(None, "parquet", 1):
        pass
    with (
        pytest.raises(InputError, match="cannot go to"),
        arrow.write_arrow(None, "parquet", ["a"]) as write,
    ):
        write({"a": [1]})


def test_rows_before_an_error_are_written(tmp_path):
    path = tmp_path / "out.parquet"
    with suppress(KeyError), arrow.write_arrow(path, "parquet", ["a"]) as write:
        write({"a": [1, 2]})
        write({"b": [3]})
    assert pq.read_table(path)["a"].to_pylist() == [1, 2]


def test_damage_is_named_with_the_rows_before_it(tmp_path):
    path = tmp_path / "in.arrows"
    with pa.ipc.new_stream(path, ROWS.schema) as writer:
        writer.write_table(ROWS)
        writer.write_table(ROWS)
    path.write_bytes(path.read_bytes()[:-100])
    with (
        arrow.open_arrow(path, "arrow", 2) as (_, batches),
        pytest.raises(InputError, match="damaged after 3 rows"),
    ):
        list(batches)
