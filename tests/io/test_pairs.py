"""Pairs and sentences are checked where they come in."""

import numpy as np
import pandas
import polars
import pyarrow
import pytest

from movers.errors import InputError
from movers.io.pairs import check_sentences, read_pairs

GOOD = [("a", "b"), ("c", "d")]


@pytest.mark.parametrize(
    "pairs",
    [
        GOOD,
        [["a", "b"], ["c", "d"]],
        np.array(GOOD),
        (pair for pair in GOOD),
        zip("ac", "bd", strict=True),
        pandas.DataFrame(GOOD, columns=["x", "y"]),
        polars.DataFrame(GOOD, schema=["x", "y"], orient="row"),
        pyarrow.table({"x": ["a", "c"], "y": ["b", "d"]}),
    ],
)
def test_all_kinds_of_pairs(pairs):
    assert read_pairs(pairs) == GOOD


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ("ab", "got one string"),
        (["ab"], "pair 0 is 'ab'; expected two sentences"),
        ([("a", "b"), ("c",)], "pair 1 is"),
        ([("a", "b", "c")], "pair 0 is"),
        ([("a", None)], "target of pair 0 is None"),
        ([("a", "b"), (float("nan"), "b")], r"source of pair 1 is nan \(float\).*missing values"),
        ([(1, "b")], "source of pair 0 is 1"),
        ([("a", b"b")], "target of pair 0 is b'b'"),
        ([5], "pair 0 is 5"),
        (None, "pairs must be"),
        (3, "pairs must be"),
        ([{"a": "x", "b": "y"}], "pair 0 is"),
        ([{"a", "b"}], "pair 0 is"),
        (
            pandas.DataFrame({"a": ["x"], "b": ["y"], "c": ["z"]}),
            r"two columns, got \['a', 'b', 'c'\]",
        ),
        (pandas.DataFrame({"a": ["x", 1], "b": ["y", "z"]}), "row 1 .* of column 'a' is 1"),
        (polars.DataFrame({"a": ["x"]}), "two columns"),
        (polars.LazyFrame({"a": ["x"], "b": ["y"]}), "pairs must be"),
    ],
)
def test_bad_pairs_say_which(pairs, message):
    with pytest.raises(InputError, match=message):
        read_pairs(pairs)


def test_sentences():
    assert check_sentences(("a", "b"), "source") == ["a", "b"]
    for wrong, message in (
        ("abc", "sources must be a list of sentences, got one string"),
        (["a", 3], r"source 1 is 3 \(int\)"),
        ([None], r"source is None \(NoneType\)"),
        (None, "sources must be a list of sentences"),
        (7, "sources must be a list of sentences"),
    ):
        with pytest.raises(InputError, match=message):
            check_sentences(wrong, "source")


def test_text_that_no_tokenizer_can_read_is_refused():
    for check in (
        lambda: read_pairs([("a", "\ud800")]),
        lambda: check_sentences(["\udcff"], "source"),
    ):
        with pytest.raises(InputError, match="surrogate"):
            check()


def test_a_frame_may_have_other_columns_beside_a_known_pair():
    frame = pandas.DataFrame({"id": [1], "sentence2": ["y"], "sentence1": ["x"]})
    assert read_pairs(frame) == [("x", "y")]


def test_sources_and_targets_make_pairs():
    assert read_pairs(["a", "b"], iter(["c", "d"])) == [("a", "c"), ("b", "d")]
    with pytest.raises(InputError, match="there are 2 sources and 1 targets"):
        read_pairs(["a", "b"], ["c"])
    with pytest.raises(InputError, match="targets must be a list of sentences, got one string"):
        read_pairs(["a"], "c")


def test_missing_cells_of_a_frame_are_empty_sentences():
    frame = pandas.DataFrame({"a": ["x", None, float("nan"), pandas.NA], "b": ["y"] * 4})
    assert read_pairs(frame) == [("x", "y"), ("", "y"), ("", "y"), ("", "y")]


@pytest.mark.parametrize(
    ("value", "advice"),
    [(1, "pass it as text"), (["a"], "pass it as text"), (None, "drop or fill missing values")],
)
def test_what_to_do_about_what_is_no_text(value, advice):
    with pytest.raises(InputError, match=f"expected a string; {advice}"):
        read_pairs([("a dog", value)])
