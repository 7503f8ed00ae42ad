"""Every kind of frame comes back as it was, with distances added."""

import datasets
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from movers.bulk.score_files import score_table
from movers.errors import InputError
from movers.io import frames
from movers.io.frames import score_frame
from movers.runtime.notices import UndefinedWarning
from tiny_models import PAIRS

COLUMNS = {
    "id": list(range(len(PAIRS))),
    "sentence1": [source for source, _ in PAIRS],
    "label": ["yes", None] * (len(PAIRS) // 2),
    "sentence2": [target for _, target in PAIRS],
}


def iterable_with_unknown_columns():
    return datasets.IterableDataset.from_generator(
        lambda: (
            dict(zip(COLUMNS, row, strict=True)) for row in zip(*COLUMNS.values(), strict=True)
        )
    )


KINDS = {
    "pandas": lambda: pd.DataFrame(COLUMNS),
    "pandas with arrow": lambda: pd.DataFrame(COLUMNS).convert_dtypes(dtype_backend="pyarrow"),
    "polars": lambda: pl.DataFrame(COLUMNS),
    "polars lazy": lambda: pl.LazyFrame(COLUMNS),
    "arrow table": lambda: pa.table(COLUMNS),
    "arrow batch": lambda: pa.record_batch(COLUMNS),
    "arrow reader": lambda: pa.table(COLUMNS).to_reader(max_chunksize=4),
    "dataset": lambda: datasets.Dataset.from_dict(COLUMNS),
    "iterable dataset": lambda: datasets.Dataset.from_dict(COLUMNS).to_iterable_dataset(),
    "unknown columns": iterable_with_unknown_columns,
}


def as_columns(frame):
    """Any frame as lists by column."""
    if isinstance(frame, pl.LazyFrame):
        frame = frame.collect()
    if isinstance(frame, pd.DataFrame):
        return {name: [None if pd.isna(x) else x for x in frame[name]] for name in frame.columns}
    if isinstance(frame, pl.DataFrame):
        return frame.to_dict(as_series=False)
    if isinstance(frame, pa.RecordBatchReader):
        return frame.read_all().to_pydict()
    if isinstance(frame, datasets.Dataset):
        return frame.to_dict()
    if isinstance(frame, datasets.IterableDataset):
        rows = list(frame)
        return {name: [row[name] for row in rows] for name in rows[0]}
    return frame.to_pydict()


@pytest.fixture(scope="module")
def scorers(bert):
    return {"wsmd": bert, "wmd": bert.using("wmd")}


@pytest.fixture
def few_rows(monkeypatch):
    monkeypatch.setattr(frames, "ROWS", 5)


@pytest.mark.usefixtures("few_rows")
@pytest.mark.parametrize("kind", KINDS)
def test_round_trip(kind, scorers):
    frame = KINDS[kind]()
    out = score_frame(frame, scorers)
    assert type(out) is type(frame)
    expected = {
        **COLUMNS,
        "wsmd": scorers["wsmd"].distances(PAIRS).tolist(),
        "wsmd_similarity": scorers["wsmd"].similarities(PAIRS).tolist(),  # fitted, so on a scale
        "wmd": scorers["wmd"].distances(PAIRS).tolist(),
        "wsmd_unread": [0] * len(PAIRS),
    }
    found = as_columns(out)
    assert list(found) == list(expected)
    assert found == expected


@pytest.mark.parametrize(
    "kind", sorted(KINDS.keys() - {"arrow reader"})
)  # reading a stream uses it up
def test_the_frame_passed_in_stays_as_it_was(kind, bert):
    frame = KINDS[kind]()
    bert.score(frame)
    assert as_columns(frame) == COLUMNS


def test_one_column_by_a_name_of_choice(bert):
    frame = pd.DataFrame({"x": ["a dog barks"], "y": ["a cat sleeps"]})
    expected = bert.distances([("a dog barks", "a cat sleeps")])
    assert bert.score(frame)["distance"].tolist() == expected.tolist()
    swapped = bert.score(frame, source="y", target="x", name="back")
    assert swapped.columns.tolist() == ["x", "y", "back", "back_similarity", "back_unread"]
    assert swapped["back"].tolist() == bert.distances([("a cat sleeps", "a dog barks")]).tolist()


def test_pandas_keeps_index_and_types(bert):
    frame = pd.DataFrame(
        {
            "source": pd.Categorical(["a dog barks", "a cat sleeps", "a dog barks"]),
            "target": ["the fox jumps", "the dog sleeps", "the fox jumps"],
            "when": pd.to_datetime(["2020-01-01", None, "2021-01-01"]),
            "count": pd.array([1, None, 3], dtype="Int8"),
        },
        index=pd.MultiIndex.from_tuples([("a", 7), ("a", 7), ("b", 1)], names=["u", "v"]),
    )
    out = bert.score(frame)
    pd.testing.assert_frame_equal(out.drop(columns=["distance", "similarity", "unread"]), frame)
    assert out["distance"].dtype == out["similarity"].dtype == float
    assert out["distance"].iloc[0] == out["distance"].iloc[2]


def test_polars_keeps_categories_and_nested_columns(bert):
    frame = pl.DataFrame(
        {
            "source": pl.Series(["a dog barks", "a cat sleeps"], dtype=pl.Categorical),
            "target": pl.Series(["x", "y"], dtype=pl.Enum(["x", "y"])),
            "tags": [["a"], []],
        }
    )
    out = bert.using(empty="keep").score(frame)
    assert out.drop("distance", "unread").equals(frame)
    assert out.schema == {**frame.schema, "distance": pl.Float64, "unread": pl.Int64}


def test_arrow_keeps_types_chunks_and_metadata(bert):
    table = pa.table(
        {
            "source": pa.array(["a dog barks", "a cat sleeps"], pa.large_string()),
            "target": pa.array(["a fox", "a dog"]).dictionary_encode(),
            "view": pa.array(["x", None], pa.string_view()),
        }
    ).replace_schema_metadata({"origin": "here"})
    for frame in (table, table.to_batches()[0], table.to_reader()):
        out = bert.score(frame)
        expected = table.schema
        for name in ("distance", "similarity"):
            expected = expected.append(pa.field(name, pa.float64()))
        expected = expected.append(pa.field("unread", pa.int64()))
        assert out.schema.equals(expected, check_metadata=True)


@pytest.mark.filterwarnings("ignore::movers.runtime.notices.UndefinedWarning")
def test_a_missing_sentence_of_a_lazy_frame_has_no_distance(bert, tmp_path):
    rows = 60_000  # more than one batch
    texts = [*["a dog"] * rows, None]
    frame = pl.DataFrame({"id": range(rows + 1), "source": texts, "target": ["a fox"] * (rows + 1)})
    frame.write_parquet(tmp_path / "pairs.parquet", row_group_size=1000)
    lazy = bert.using("bow").score(pl.scan_parquet(tmp_path / "pairs.parquet"))
    for query in (lazy, lazy.filter(pl.col("id") % 3 == 0), lazy.select("distance")):
        for engine in ("in-memory", "streaming"):
            found = query.collect(engine=engine)["distance"].to_numpy()
            assert np.flatnonzero(np.isnan(found)).tolist() == [len(found) - 1]


def test_attributes_of_pandas_stay(bert):
    frame = pd.DataFrame(COLUMNS)
    frame.attrs = {"origin": ["made up"]}
    found = bert.using("bow").score(frame)
    assert found.attrs == frame.attrs
    found.attrs["origin"].append("scored")
    assert frame.attrs == {"origin": ["made up"]}


def test_lazy_frames_stay_lazy(bert, tmp_path):
    pl.DataFrame(COLUMNS).write_parquet(tmp_path / "pairs.parquet")
    lazy = bert.score(pl.scan_parquet(tmp_path / "pairs.parquet"))
    expected = bert.distances(PAIRS)
    assert lazy.collect_schema()["distance"] == pl.Float64
    assert lazy.head(3).collect()["distance"].to_list() == expected[:3].tolist()
    near = lazy.filter(pl.col("distance") < np.median(expected)).select("id")
    assert near.collect()["id"].to_list() == np.flatnonzero(expected < np.median(expected)).tolist()
    streamed = lazy.collect(engine="streaming")
    assert streamed.sort("id")["distance"].to_list() == expected.tolist()


def test_readers_are_read_as_asked_for(bert):
    schema = pa.schema([("source", pa.string()), ("target", pa.string())])
    read = []

    def batches():
        for number in range(3):
            read.append(number)
            yield pa.record_batch({"source": ["a dog barks"], "target": ["a cat sleeps"]}, schema)

    out = bert.score(pa.RecordBatchReader.from_batches(schema, batches()))
    out.read_next_batch()
    assert read == [0]


def test_datasets_keep_splits_format_order_and_features(bert):
    data = datasets.Dataset.from_dict(
        {**COLUMNS, "label": [k % 2 for k in range(len(PAIRS))]},
        features=datasets.Features(
            id=datasets.Value("int16"),
            sentence1=datasets.Value("large_string"),
            label=datasets.ClassLabel(names=["no", "yes"]),
            sentence2=datasets.Value("string"),
        ),
    )
    shuffled = data.shuffle(seed=0).with_format("numpy", columns=["id"])
    splits = datasets.DatasetDict(train=shuffled, test=data)
    out = bert.score(splits)
    assert type(out) is datasets.DatasetDict and list(out) == ["train", "test"]
    new = dict.fromkeys(["distance", "similarity"], datasets.Value("float64"))
    new["unread"] = datasets.Value("int64")
    assert out["test"].features == {**data.features, **new}
    assert out["train"].format["columns"] == ["id", *new]
    expected = bert.distances(PAIRS)
    assert isinstance(out["train"][0]["id"], np.int16)
    plain = out["train"].with_format(None)
    assert plain["distance"][:] == expected[plain["id"][:]].tolist()
    streamed = bert.score(datasets.IterableDatasetDict(train=data.to_iterable_dataset()))
    assert [row["distance"] for row in streamed["train"]] == expected.tolist()


EMPTY = {"source": pa.array([], pa.string()), "target": pa.array([], pa.string())}


@pytest.mark.parametrize(
    "frame",
    [
        pa.table(EMPTY),
        pa.record_batch(EMPTY),
        pa.table(EMPTY).to_reader(),
        pa.table(EMPTY).to_pandas(),
        pl.DataFrame(pa.table(EMPTY)),
        pl.LazyFrame(pl.DataFrame(pa.table(EMPTY))),
        datasets.Dataset(pa.table(EMPTY)),
    ],
    ids=lambda frame: type(frame).__module__.split(".")[0] + " " + type(frame).__name__,
)
def test_empty_frames_get_an_empty_column(frame, bert):
    out = bert.score(frame)
    assert type(out) is type(frame)
    assert as_columns(out) == {
        "source": [],
        "target": [],
        "distance": [],
        "similarity": [],
        "unread": [],
    }


def test_similarities_follow_distances_where_there_is_a_scale(bert):
    frame = pd.DataFrame(PAIRS, columns=["source", "target"])
    scored = bert.using("movers").score(frame)
    assert scored.columns.tolist() == ["source", "target", "distance", "similarity", "unread"]
    assert scored["similarity"].tolist() == bert.using("movers").similarities(PAIRS).tolist()
    plain = bert.using("wmd").score(frame)
    assert plain.columns.tolist() == ["source", "target", "distance", "unread"]
    with pytest.raises(InputError, match="has a column 'similarity' already"):
        bert.score(frame.assign(similarity=0.0))


@pytest.mark.parametrize("missing", [None, float("nan"), pd.NA])
def test_a_missing_sentence_has_no_distance_as_on_the_command_line(missing, bert, tmp_path):
    frame = pd.DataFrame({"source": ["a fox", "a fox"], "target": ["a dog", missing]})
    with pytest.warns(UndefinedWarning, match="1 of 2 pairs"):
        found = bert.score(frame)["distance"]
    with pytest.warns(UndefinedWarning, match="1 of 2 pairs"):
        assert np.isnan(bert.distances(frame)).tolist() == [False, True]
    path, output = tmp_path / "pairs.parquet", tmp_path / "out.parquet"
    frame.replace({float("nan"): None}).to_parquet(path)
    score_table(path, output, {"wsmd": bert})
    np.testing.assert_array_equal(pd.read_parquet(output)["wsmd"], found)


def test_what_is_not_text_is_named_by_row(bert):
    frame = pd.DataFrame({"source": ["a", "b"], "target": ["c", 3]})
    with pytest.raises(InputError, match=r"row 1 \(from 0\) of column 'target' is 3 \(int\)"):
        bert.score(frame)
    with pytest.raises(InputError, match=r"row 1 \(from 0\) of column 'target' is 3 \(int\)"):
        bert.distances(frame)


def test_a_missing_sentence_has_no_distance_under_the_default_measure(bert):
    frame = pd.DataFrame({"source": ["a fox", None, " "], "target": ["a dog", "a dog", "a dog"]})
    with pytest.warns(UndefinedWarning, match="2 of 3 pairs have no distance"):
        scored = bert.using("movers").score(frame)
    assert scored["distance"].isna().tolist() == [False, True, True]
    assert scored["similarity"].isna().tolist() == [False, True, True]


@pytest.mark.usefixtures("few_rows")
@pytest.mark.filterwarnings("ignore::movers.runtime.notices.UndefinedWarning")
def test_missing_sentences_are_found_in_any_batch(bert):
    texts = [*["a dog barks"] * 7, None]
    table = pa.table({"source": texts, "target": ["a cat"] * 8})
    stream = datasets.Dataset(table).to_iterable_dataset()
    for frame in (table.to_reader(max_chunksize=5), datasets.Dataset(table)):
        found = np.array(as_columns(bert.score(frame))["distance"], float)
        assert np.flatnonzero(np.isnan(found)).tolist() == [7]
    assert np.isnan([row["distance"] for row in bert.score(stream)]).tolist() == [False] * 7 + [
        True
    ]


@pytest.mark.parametrize(
    ("frame", "options", "message"),
    [
        (pd.DataFrame([["a", "b"]], columns=["x", "x"]), {}, "names a column twice"),
        (pa.table([["a"], ["b"]], names=["x", "x"]), {}, "names a column twice"),
        (pa.table([["a"], ["b"]], names=["x", "x"]).to_reader(), {}, "names a column twice"),
        (pd.DataFrame({"a": ["x"], "b": ["y"], "c": ["z"]}), {}, "which two .* are: a, b, c"),
        (pd.DataFrame({"a": ["x"], "b": ["y"]}), {"source": "a"}, "which two columns"),
        (pd.DataFrame({"a": ["x"], "b": ["y"]}), {"source": "z"}, "no column 'z'; .* are: a, b"),
        (pl.LazyFrame({"a": ["x"]}), {}, "which two columns"),
        (pd.DataFrame({"a": ["x"], "b": ["y"]}), {"name": "a"}, "has a column 'a' already"),
        (pd.DataFrame({"a": [1], "b": ["y"]}), {}, "row 0 .* column 'a' is 1"),
        ([("a", "b")], {}, "got list; for pairs in a list there is scorer.distances"),
        (None, {}, "got NoneType"),
    ],
)
def test_bad_frames_say_why(frame, options, message, bert):
    with pytest.raises(InputError, match=message):
        bert.score(frame, **options)


def test_integer_column_names_do(bert):
    out = bert.score(pd.DataFrame(PAIRS))
    assert out["distance"].tolist() == bert.distances(PAIRS).tolist()
