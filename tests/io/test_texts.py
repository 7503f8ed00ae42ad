"""Sentences from lines and from every kind of table."""

import io
import sys
from operator import length_hint

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from movers.errors import InputError
from movers.io.tables import STANDARD, TwoTexts, count_rows, open_table, plain_values
from movers.io.texts import Texts, read_texts, write_some

TEXTS = ["a dog barks", "", "a cat, asleep"]
FILES = {
    "corpus.txt": "a dog barks\n\n  a cat, asleep \n",
    "corpus": "a dog barks\n\na cat, asleep",
    "corpus.tsv": "id\ttext\n1\ta dog barks\n2\t\n3\ta cat, asleep\n",
    "corpus.csv": 'id,text\n1,a dog barks\n2,\n3,"a cat,\nasleep"\n',
    "corpus.jsonl": '{"text": "a dog barks"}\n{"text": null}\n{"text": "a cat, asleep"}\n',
}


@pytest.mark.parametrize("name", [*FILES, "corpus.parquet"])
def test_every_format_gives_the_same_sentences(tmp_path, name):
    path = tmp_path / name
    if name in FILES:
        path.write_text(FILES[name], "utf-8")
    else:
        pq.write_table(pa.table({"id": [1, 2, 3], "text": [TEXTS[0], None, TEXTS[2]]}), path)
    assert list(Texts(path)) == TEXTS
    assert list(read_texts(path)) == [TEXTS[0], TEXTS[2]]


@pytest.mark.parametrize("suffix", [".tsv", ".csv", ".jsonl", ".parquet"])
def test_some_rows_are_written_with_all_their_columns(tmp_path, suffix):
    path, output = tmp_path / f"corpus{suffix}", tmp_path / f"kept{suffix}"
    table = pa.table({"id": [1, 2, 3], "text": [TEXTS[0], None, TEXTS[2]]})
    if suffix == ".parquet":
        pq.write_table(table, path)
    else:
        path.write_text(FILES[path.name].replace('{"text"', '{"id": 1, "text"'), "utf-8")
    write_some(Texts(path), {3}, output)
    with open_table(output) as kept:
        (chunk,) = kept.chunks
        assert kept.columns == ["id", "text"]
        assert [" ".join(text.split()) for text in plain_values(chunk["text"])] == [TEXTS[2]]
        assert suffix != ".parquet" or kept.schema == table.schema
    assert length_hint(Texts(path)) == (4 if suffix == ".csv" else 3)  # by lines, roughly


def test_some_sentences_are_written_as_lines_or_a_column(tmp_path):
    path, output = tmp_path / "corpus.txt", tmp_path / "kept"
    path.write_text(FILES[path.name], "utf-8")
    write_some(Texts(path), {1, 3}, output)
    assert output.read_text() == "a dog barks\na cat, asleep\n"
    write_some(["a dog", "a cat"], {2}, tmp_path / "kept.tsv")
    assert (tmp_path / "kept.tsv").read_text() == "sentence\na cat\n"


def test_a_column_may_be_named(tmp_path):
    path = tmp_path / "corpus.csv"
    path.write_text("title,body\na dog,it barks\n", "utf-8")
    assert list(read_texts(path, column="title")) == ["a dog"]
    assert list(read_texts(path)) == ["it barks"]  # a well-known name
    assert list(read_texts(path, format="lines")) == ["title,body", "a dog,it barks"]


def test_the_format_may_be_named(tmp_path):
    path = tmp_path / "corpus.txt"
    path.write_text("id\tnote\n1\ta dog\n", "utf-8")
    assert list(read_texts(path, column="note", format="tsv")) == ["a dog"]
    assert list(read_texts(path, column="note")) == ["a dog"]  # .txt with a column is a table


def test_lines_come_from_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a dog\n\na cat\n")))
    assert list(read_texts(STANDARD)) == ["a dog", "a cat"]


@pytest.mark.parametrize(
    ("name", "content", "options", "message"),
    [
        ("a.csv", b"left,right\nx,y\n", {}, "which column holds the sentences.*left, right"),
        ("a.csv", b"left,right\nx,y\n", {"column": "text"}, "no column 'text'"),
        ("a.txt", b"caf\xe9\n", {}, "line 1: not UTF-8"),
        ("a.txt", b"x\n", {"column": "x", "format": "lines"}, "lines have no column"),
        ("a.txt", b"x\n", {"format": "doc"}, "no format 'doc'"),
        ("a.jsonl", b'{"text": 3}\n', {}, "row 1, column 'text': expected text, found 3"),
    ],
)
def test_what_cannot_be_read_is_told(tmp_path, name, content, options, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=message):
        list(read_texts(tmp_path / name, **options))


def test_a_missing_file_names_its_neighbours(tmp_path):
    (tmp_path / "there.csv").touch()
    with pytest.raises(InputError, match=r"no file .*; the folder holds: there.csv"):
        list(read_texts(tmp_path / "gone.txt"))


def test_two_texts_are_a_table_of_pairs(tmp_path):
    texts = TwoTexts(tmp_path / "a.txt", tmp_path / "b.txt")
    texts.sources.write_text("a dog\n\n a fox \n", "utf-8")
    texts.targets.write_text("a cat\na cow\na hen\n", "utf-8")
    with open_table(texts) as table:
        (chunk,) = table.chunks
    assert chunk == {"source": ["a dog", "", "a fox"], "target": ["a cat", "a cow", "a hen"]}
    assert count_rows(texts) == 3
    texts.targets.write_text("a cat\n", "utf-8")
    with pytest.raises(InputError, match=r"b.txt has 1 lines"), open_table(texts) as table:
        list(table.chunks)
