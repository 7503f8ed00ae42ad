"""Data frames in, the same kind out with columns of distances and similarities added.

pandas, polars (lazy ones too), pyarrow tables, batches and readers, Hugging Face datasets, and
whatever else narwhals knows as a frame in memory. Lazy kinds stay lazy: rows are read, scored and
handed on batch by batch.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from movers.arrays import Floats, Ints
from movers.errors import InputError, missing
from movers.io.columns import UNREAD, ColumnFiller, all_columns, count_unread, fill_columns
from movers.io.pairs import pick_pair, text_of_cell

try:
    import narwhals.stable.v2 as nw
    from narwhals.exceptions import DuplicateError
except ModuleNotFoundError as error:
    raise missing("narwhals", "a data frame") from error

ROW = "movers: row"
"""Column that numbers the rows of a lazy frame on their way."""
Values = Floats | Ints
ROWS = 2048
"""Rows taken at once from Hugging Face datasets."""


def score_frame(
    frame: Any,
    scorers: Mapping[str, ColumnFiller],
    *,
    source: Any = None,
    target: Any = None,
    progress: bool = False,
) -> Any:
    """Add one column of distances per scorer to a frame of sentence pairs.

    A scorer that has a scale adds its similarities in a second column, ``NAME_similarity``. The
    last column, "unread" or ``NAME_unread``, counts words that the model did not read.

    Parameters
    ----------
    frame
        pandas or polars frame, polars ``LazyFrame``, pyarrow ``Table``, ``RecordBatch`` or
        ``RecordBatchReader``, Hugging Face ``Dataset``, ``IterableDataset`` or a dictionary of
        their splits.
    scorers
        Scorers by the name of the column they fill.
    source, target
        Columns of the sentences; None finds a well-known pair such as sentence1 and sentence2,
        or takes the only two.
    progress
        Show progress bars.

    Examples
    --------
    >>> import movers, pyarrow
    >>> from movers.io.frames import score_frame
    >>> bow = movers.load("bow")
    >>> pairs = pyarrow.table({"source": ["a red car"], "target": ["the car is red"]})
    >>> score_frame(pairs, {"bow": bow, "all words": bow.using(stopwords=None)}).column_names
    ['source', 'target', 'bow', 'all words', 'bow_unread']
    """
    for scorer in scorers.values():
        scorer.prepare()
    return _add(frame, _NewColumns(scorers, source, target, progress))


def _add(frame: Any, new: _NewColumns) -> Any:
    for package, kinds in _KINDS.items():
        module = sys.modules.get(package)  # a frame's own package is loaded already
        for kind, add in kinds.items():
            if module is not None and isinstance(frame, getattr(module, kind)):
                return add(frame, new)
    return _add_to_frame(frame, new)


@dataclass(frozen=True)
class _NewColumns:
    """The columns to be added, whatever the kind of frame."""

    scorers: Mapping[str, ColumnFiller]
    source: Any
    target: Any
    progress: bool

    @cached_property
    def names(self) -> list[str]:
        """The columns to be added."""
        first = next(iter(self.scorers), "distance")
        unread = UNREAD if "distance" in self.scorers else f"{first}_{UNREAD}"
        return all_columns(self.scorers, unread)

    def sides(self, columns: Sequence[Any]) -> tuple[Any, Any]:
        """Return the two columns to compare, once all names are known to be right."""
        if len(set(columns)) < len(columns):
            there = ", ".join(map(str, columns))
            raise InputError(f"the frame names a column twice: {there}; rename one")
        if taken := [name for name in self.names if name in columns]:
            raise InputError(f"the frame has a column {taken[0]!r} already; pass another name")
        return pick_pair(columns, self.source, self.target, "source= and target=")

    def values(
        self, sides: tuple[Any, Any], texts: Iterable[list[Any]], rows: Sequence[int] = ()
    ) -> list[Values]:
        """Return what some rows get, one array per column.

        ``texts`` holds the values of both columns, ``rows`` their numbers unless from 0.
        """
        columns = [list(values) for values in texts]
        for name, values in zip(sides, columns, strict=True):
            for place, text in enumerate(values):
                if not isinstance(text, str):
                    row = rows[place] if rows else place
                    values[place] = text_of_cell(text, f"row {row} (from 0) of column {name!r}")
        pairs = list(zip(*columns, strict=True))
        filled: list[Values] = [
            column
            for name, scorer in self.scorers.items()
            for column in fill_columns(name, scorer, pairs, progress=self.progress).values()
        ]
        return [*filled, count_unread(self.scorers, pairs)]

    def typed(self, real: Any, whole: Any) -> dict[str, Any]:
        """Return the type of every column to be added: the last one counts."""
        return {**dict.fromkeys(self.names, real), self.names[-1]: whole}

    def in_arrow(
        self, sides: tuple[Any, Any], tables: Iterable[Any]
    ) -> Iterator[tuple[Any, list[Values]]]:
        """Yield tables or batches of Arrow one by one, with what their rows get."""
        row = 0
        for table in tables:
            texts = (table.column(name).to_pylist() for name in sides)
            yield table, self.values(sides, texts, range(row, row + len(table)))
            row += len(table)


def _add_to_frame(frame: Any, new: _NewColumns, rows: Sequence[int] = ()) -> Any:
    """Add to a frame in memory, of any library; ``rows`` are the numbers of its rows."""
    try:
        wrapped = nw.from_native(frame, pass_through=True)
    except DuplicateError as error:
        raise InputError(f"the frame names a column twice: {error}") from error
    if isinstance(wrapped, nw.LazyFrame):
        raise InputError(
            f"a lazy frame of {wrapped.implementation.value} cannot be scored; collect it first"
        )
    if not isinstance(wrapped, nw.DataFrame):
        raise InputError(
            "expected a frame of pandas, polars, pyarrow or Hugging Face datasets, got "
            f"{type(frame).__name__}; for pairs in a list there is scorer.distances"
        )
    sides = new.sides(wrapped.columns)
    filled = new.values(sides, (wrapped.get_column(name).to_list() for name in sides), rows)
    series = [
        nw.new_series(name, values, kind, backend=wrapped.implementation)
        for (name, kind), values in zip(
            new.typed(nw.Float64, nw.Int64).items(), filled, strict=True
        )
    ]
    out = wrapped.with_columns(*series).to_native()
    if hasattr(frame, "attrs"):  # pandas leaves these behind where columns are joined
        out.attrs = deepcopy(frame.attrs)
    return out


def _add_to_lazy(frame: Any, new: _NewColumns) -> Any:
    """Score the batches of a polars query when it runs."""
    import polars

    schema = frame.collect_schema()
    new.sides(list(schema))

    def add(batch: Any) -> Any:
        """Score a batch; a filter may have been pushed before it, so that rows are missing."""
        return _add_to_frame(batch.drop(ROW), new, batch[ROW].to_list())

    return frame.with_row_index(ROW).map_batches(
        add,
        schema={**schema, **new.typed(polars.Float64, polars.Int64)},
        slice_pushdown=True,  # every row is scored by itself
        streamable=True,
    )


def _add_to_reader(reader: Any, new: _NewColumns) -> Any:
    """Score the batches of an Arrow stream as they are asked for."""
    import pyarrow as pa

    sides = new.sides(reader.schema.names)
    schema = reader.schema
    for name, kind in new.typed(pa.float64(), pa.int64()).items():
        schema = schema.append(pa.field(name, kind))

    def batches() -> Iterator[Any]:
        for batch, filled in new.in_arrow(sides, reader):
            yield pa.record_batch([*batch.columns, *map(pa.array, filled)], schema=schema)

    return pa.RecordBatchReader.from_batches(schema, batches())


def _add_to_batch(batch: Any, new: _NewColumns) -> Any:
    import pyarrow as pa

    reader = pa.RecordBatchReader.from_batches(batch.schema, [batch])
    return _add_to_reader(reader, new).read_next_batch()


def _add_to_dataset(dataset: Any, new: _NewColumns) -> Any:
    """Add to a dataset on disk, which stays there; only the distances are in memory."""
    sides = new.sides(dataset.column_names)
    kinds = new.typed(np.float64, np.int64).values()
    columns: list[list[Values]] = [[np.zeros(0, kind)] for kind in kinds]
    tables = dataset.with_format("arrow").select_columns(list(sides)).iter(ROWS)
    for _, filled in new.in_arrow(sides, tables):
        for column, values in zip(columns, filled, strict=True):
            column.append(values)
    out = dataset
    for name, column in zip(new.names, columns, strict=True):
        out = out.add_column(name, np.concatenate(column))
    form = dataset.format
    whole = form["columns"] == dataset.column_names
    shown = None if whole else [*form["columns"], *new.names]
    return out.with_format(form["type"], shown, **form["format_kwargs"])


def _add_to_iterable(dataset: Any, new: _NewColumns) -> Any:
    """Score the rows of a streamed dataset as they are asked for."""
    from datasets import Features, Value

    sides = new.sides(dataset.column_names or list(next(iter(dataset), ())))

    def add(batch: dict[str, list[Any]], rows: list[int]) -> dict[str, Values]:
        filled = new.values(sides, (list(batch[name]) for name in sides), rows)
        return dict(zip(new.names, filled, strict=True))

    features = dataset.features
    if features is not None:
        added = new.typed(Value("float64"), Value("int64"))
        features = Features({**features, **added})
    return dataset.map(add, with_indices=True, batched=True, batch_size=ROWS, features=features)


def _add_to_splits(splits: Any, new: _NewColumns) -> Any:
    return type(splits)({name: _add(split, new) for name, split in splits.items()})


_KINDS: dict[str, dict[str, Callable[[Any, _NewColumns], Any]]] = {
    "polars": {"LazyFrame": _add_to_lazy},
    "pyarrow": {"RecordBatch": _add_to_batch, "RecordBatchReader": _add_to_reader},
    "datasets": {
        "Dataset": _add_to_dataset,
        "IterableDataset": _add_to_iterable,
        "DatasetDict": _add_to_splits,
        "IterableDatasetDict": _add_to_splits,
    },
}
"""The kinds that narwhals does not know, or would load whole."""
