"""Labelled pairs of anybody's: columns, labels, order and complaints."""

import json

import numpy as np
import pytest

from movers.errors import InputError
from movers.evaluate.labelled import read_labelled


@pytest.mark.parametrize(
    ("name", "content", "metric"),
    [
        ("p.tsv", "sentence1\tsentence2\tlabel\nd e\tf\t0\na\tb\t1\n", "auc"),
        ("p.csv", 'text1,text2,id,score\n"d e",f,7,0.5\na,b,8,1\n', "spearman"),
        ("p.jsonl", '{"s1": "d e", "s2": "f", "likeness": false}\n'
                    '{"s1": "a", "s2": "b", "likeness": true}\n', "auc"),
    ],
)  # fmt: skip
def test_any_table_with_labels_will_do(tmp_path, name, content, metric):
    (tmp_path / name).write_text(content, "utf-8")
    dataset = read_labelled(tmp_path / name)
    assert (dataset.name, dataset.title, dataset.metric) == ("p", name, metric)
    assert dataset.pairs == [("a", "b"), ("d e", "f")]
    assert dataset.gold[0] == 1


def test_parquet_and_named_columns(tmp_path):
    import pyarrow
    from pyarrow import parquet

    table = {"left": ["a", "c d"], "right": ["b", None], "x": [2, 1], "y": [1, 4]}
    parquet.write_table(pyarrow.table(table), tmp_path / "p.parquet")
    dataset = read_labelled(tmp_path / "p.parquet", source="left", target="right", gold="y")
    assert dataset.pairs == [("a", "b"), ("c d", "")]
    assert dataset.gold.tolist() == [1.0, 4.0]
    with pytest.raises(InputError, match="which column holds the label or score"):
        read_labelled(tmp_path / "p.parquet", source="left", target="right")
    with pytest.raises(InputError, match="no column 'z' of labels; there are: x, y"):
        read_labelled(tmp_path / "p.parquet", source="left", target="right", gold="z")


@pytest.mark.parametrize("value", ["", "high", None, "inf"])
def test_a_table_with_a_bad_score_is_refused(tmp_path, value):
    rows = [{"s1": "a", "s2": "b", "score": 1}, {"s1": "a", "s2": "b", "score": value}]
    path = tmp_path / "p.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    with pytest.raises(InputError, match=r"p\.jsonl, row 2, column 'score': .*(number|blank)"):
        read_labelled(path)


def test_gold_is_float(tmp_path):
    path = tmp_path / "p.tsv"
    path.write_text("s1\ts2\tlabel\na\tb\t1\n", "utf-8")
    assert read_labelled(path).gold.dtype == np.float64


@pytest.mark.parametrize("yes", ["yes", "Yes ", True, "true", "1", 1])
def test_labels_may_be_written_out(tmp_path, yes):
    rows = [{"s1": "a", "s2": "b", "label": yes}, {"s1": "a b", "s2": "b", "label": "no"}]
    path = tmp_path / "p.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    found = read_labelled(path)
    assert (found.gold.tolist(), found.metric) == ([1.0, 0.0], "auc")


def test_a_limit_keeps_the_shortest(tmp_path):
    path = tmp_path / "p.tsv"
    path.write_text("s1\ts2\tlabel\na b c\td\t1\na\tb\t0\na b\tb\t0\n", "utf-8")
    assert read_labelled(path, limit=2).pairs == [("a", "b"), ("a b", "b")]
    with pytest.raises(InputError, match="limit must be at least 1, got 0"):
        read_labelled(path, limit=0)


def test_a_name_is_no_file():
    with pytest.raises(InputError, match="no file 'stsb-dev'; name one that ends in"):
        read_labelled("stsb-dev")


@pytest.mark.parametrize("name", ["id", "Line", "index", "row", "number"])
def test_a_column_that_names_rows_is_no_label(tmp_path, name):
    path = tmp_path / "p.tsv"
    path.write_text(f"{name}\tsource\ttarget\n7\ta\tb\n7\tc\td\n", "utf-8")
    with pytest.raises(InputError, match=f"there are: {name}; .*; pass gold=…"):
        read_labelled(path)
    assert read_labelled(path, gold=name).gold.tolist() == [7.0, 7.0]


def test_a_column_that_counts_rows_is_no_label_unless_named(tmp_path):
    path = tmp_path / "p.tsv"
    path.write_text("n\ts1\ts2\n3\ta\tb\n4\tc\td\n9\te\tf\n", "utf-8")
    with pytest.raises(InputError, match="the column 'n' numbers the rows; which column holds"):
        read_labelled(path)
    assert read_labelled(path, gold="n").column == "n"


@pytest.mark.parametrize("values", [(0, 1), (1, 2, 2), (3, 2, 1), (0.5, 1, 2)])
def test_a_column_of_grades_is_taken_where_it_is_the_only_one(tmp_path, values):
    path = tmp_path / "p.tsv"
    rows = "".join(f"{value}\ta{number}\tb\n" for number, value in enumerate(values))
    path.write_text(f"n\ts1\ts2\n{rows}", "utf-8")
    table = read_labelled(path)
    assert (table.column, sorted(table.gold)) == ("n", sorted(values))
