import json
import os
import threading

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from movers.errors import InputError
from movers.io import tables
from movers.runtime.notices import Notice

COLUMNS = {"id": ["1", "2"], "source": ["a dog", 'a "cat"'], "target": ["le chien", "猫 🐈"]}


def read(path, format=None):
    with tables.open_table(path, format) as table:
        rows = {name: [] for name in table.columns}
        for chunk in table.chunks:
            for name, values in chunk.items():
                rows[name] += values if isinstance(values, list) else values.to_pylist()
    return rows


@pytest.mark.parametrize("suffix", tables.SUFFIXES)
def test_round_trip(tmp_path, suffix):
    path = tmp_path / f"pairs{suffix}"
    with tables.table_writer(path, tables.format_of(path), list(COLUMNS)) as write:
        write(COLUMNS)
    assert read(path) == COLUMNS


@pytest.mark.parametrize(
    ("text", "format"),
    [
        ("source;target\na, b;c\n", None),
        ('"source";"target"\n"a, b";c\n', None),
        ("source\ttarget\na, b\tc\n", None),
        ('source,target\n"a, b",c\n', None),
        ("source|target\na, b|c\n", "csv:|"),
        ("source;target\na, b;c\n", "csv:;"),
    ],
)
def test_the_header_of_a_csv_or_the_user_tells_what_is_between_cells(tmp_path, text, format):
    path = tmp_path / "pairs.csv"
    path.write_text(text, "utf-8")
    assert read(path, format) == {"source": ["a, b"], "target": ["c"]}


def test_a_header_may_have_commas_in_the_names_of_other_columns(tmp_path):
    path = tmp_path / "pairs.csv"
    path.write_text("source;target;note, if any\na;b;\n", "utf-8")
    assert list(read(path)) == ["source", "target", "note, if any"]


@pytest.mark.parametrize("format", ["tsv:;", "csv:;;"])
def test_a_delimiter_is_one_character_of_a_csv(tmp_path, format):
    with pytest.raises(InputError, match="a delimiter is one character"):
        tables.format_of(tmp_path / "pairs.csv", format)


@pytest.mark.parametrize("suffix", tables.SUFFIXES)
def test_chunks_cover_long_tables(tmp_path, suffix, monkeypatch):
    monkeypatch.setattr(tables, "ROWS", 7)
    many = {"source": [f"s{i}" for i in range(50)], "target": [f"t{i}" for i in range(50)]}
    path = tmp_path / f"pairs{suffix}"
    with tables.table_writer(path, tables.format_of(path), list(many)) as write:
        write(many)
    assert read(path) == many
    assert tables.count_rows(path) == (None if "arrow" in tables.format_of(path) else 50)


def test_tsv_takes_quotes_crlf_and_a_byte_order_mark_as_they_come(tmp_path):
    path = tmp_path / "pairs.tsv"
    path.write_bytes(b'\xef\xbb\xbfsource\ttarget\r\nsays "hi\tb\r\n\r\n')
    assert read(path) == {"source": ['says "hi'], "target": ["b"]}


def test_csv_takes_newlines_in_quotes(tmp_path):
    path = tmp_path / "pairs.csv"
    path.write_text('source,target\n"one\ntwo",three\n')
    assert read(path) == {"source": ["one\ntwo"], "target": ["three"]}


def test_tsv_output_stays_one_line_per_row(tmp_path):
    path = tmp_path / "out.tsv"
    with tables.table_writer(path, "tsv", ["source"]) as write:
        write({"source": ["one\ntwo\tthree"]})
    assert path.read_text() == "source\none two three\n"


def test_json_has_no_nan(tmp_path):
    path = tmp_path / "out.jsonl"
    with tables.table_writer(path, "jsonl", ["wmd"]) as write:
        write({"wmd": [float("nan"), float("inf"), 1.5]})
    assert [json.loads(line)["wmd"] for line in path.read_text().splitlines()] == [None, None, 1.5]


@pytest.mark.parametrize("suffix", [".parquet", ".arrow"])
def test_column_types_stay(tmp_path, suffix):
    path, out = tmp_path / "in.parquet", tmp_path / f"out{suffix}"
    schema = pa.schema([("id", pa.int16()), ("source", pa.large_string())])
    pq.write_table(pa.table({"id": [1], "source": ["a"]}, schema=schema), path)
    with tables.open_table(path) as table:
        columns = [*table.columns, "wmd"]
        with tables.table_writer(out, tables.format_of(out), columns, table.schema) as write:
            for chunk in table.chunks:
                write({**chunk, "wmd": [0.5]})
    with tables.open_table(out) as table:
        assert table.schema.types == [pa.int16(), pa.large_string(), pa.float64()]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.tsv", b"", "is empty"),
        ("a.jsonl", b"\n", "is empty"),
        ("a.tsv", b"source\ttarget\na\tb\nc\xff\td\n", r"line 3: not UTF-8 \(byte 0xff"),
        ("a.tsv", b"source\ttarget\na\tb\tc\n", "row 1: 3 fields while the header has 2"),
        ("a.tsv", b"source\tsource\n", "names a column twice"),
        ("a.csv", b'source,target\n"a,b\n', "line 2"),
        ("a.jsonl", b'{"a": 1}\nnope\n', "line 2: not JSON"),
        ("a.jsonl", b'{"a": 1}\n' + b"[" * 100_000, "line 2: not JSON .it is nested too deep"),
        ("a.jsonl", b'{"a": 1}\n{"a": ' + b"9" * 5000 + b"}\n", "line 2: not JSON .Exceeds"),
        ("a.jsonl", b'{"a": 1}\n{"a": "\\ud83d"}\n', "line 2: not JSON .*surrogates not allowed"),
        ("a.jsonl", b"[1]\n", "line 1: expected an object"),
        ("a.jsonl", b'{"a": 1}\n{"b": 1}\n', "row 2: keys b while the first row has a"),
        ("a.parquet", b"nope", "not a Parquet file"),
        ("a.arrow", b"", "not Arrow data"),
        ("a.arrow", b"source\ttarget\na\tb\n", "not Arrow data"),
        ("a.arrow", b"ARROW1\x00\x00nope", "not Arrow data"),
        ("a.xyz", b"", "cannot tell the format"),
    ],
)
def test_bad_files_are_named(tmp_path, name, content, message):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InputError, match=message):
        read(path)


def test_missing_file_names_its_neighbours(tmp_path):
    (tmp_path / "pairs.tsv").touch()
    with pytest.raises(InputError, match=r"no file .*the folder holds: pairs\.tsv"):
        read(tmp_path / "pears.tsv")
    with pytest.raises(InputError, match="does not exist either"):
        read(tmp_path / "nowhere" / "pairs.tsv")
    with pytest.raises(InputError, match="is a folder"):
        read(tmp_path)


@pytest.mark.skipif(os.name != "posix", reason="needs named pipes")
def test_a_pipe_is_read_once(tmp_path):
    pipe = tmp_path / "pipe.tsv"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=("source\ttarget\na\tb\n",))
    writer.start()
    assert tables.count_rows(pipe) is None
    assert read(pipe) == {"source": ["a"], "target": ["b"]}
    writer.join()


@pytest.mark.parametrize(
    ("columns", "chosen", "expected"),
    [
        (["id", "sentence1", "sentence2"], (None, None), ("sentence1", "sentence2")),
        (["a", "b", "c"], ("c", "a"), ("c", "a")),
    ],
)
def test_pick_columns(columns, chosen, expected):
    assert tables.pick_columns(columns, *chosen) == expected


def test_the_only_two_columns_are_taken_with_a_word_of_warning():
    with pytest.warns(Notice, match="names of the columns: left, right"):
        assert tables.pick_columns(["left", "right"], None, None) == ("left", "right")


@pytest.mark.parametrize("chosen", [(None, None), ("a", None), ("nope", "a")])
def test_pick_columns_names_what_there_is(chosen):
    with pytest.raises(InputError, match="the columns are: a, b, c"):
        tables.pick_columns(["a", "b", "c"], *chosen)


def test_check_texts_names_the_row():
    assert tables.check_texts(["a", None], "source", 10) == ["a", ""]
    with pytest.raises(InputError, match="row 12, column 'source': expected text, found 7"):
        tables.check_texts(["a", 7], "source", 10)
