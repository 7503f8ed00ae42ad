"""Labelled sentence pairs from a table of anybody's.

Blanks are normalised and nothing else. Pairs are sorted, stably, by the number of words of the
first sentence, of the second, and by the gold value: a limit keeps the shortest ones.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np

from movers.arrays import Floats
from movers.errors import Choose, InputError
from movers.io.labels import label_in
from movers.io.tables import SUFFIXES, check_texts, open_table, pick_columns, plain_values

Row = tuple[str, str, float]
"""Two sentences and what people say about them."""
MetricName = Literal["auc", "ap", "spearman", "pearson"]
Empty = Literal["drop", "least"]

EMPTY: dict[MetricName, Empty] = {
    "auc": "least",
    "ap": "least",
    "spearman": "drop",
    "pearson": "drop",
}
"""What becomes of pairs without a distance: they do not count, or are the least similar."""
GOLD = (
    *("label", "score", "gold", "similarity", "similarity_score", "relatedness_score"),
    *("is_duplicate", "quality"),
)
"""Columns that usually hold the label or score, the likeliest first."""
COUNTS = ("id", "line", "index", "row", "number", "nr", "no", "#", "")
"""Columns that number the rows and say nothing about the sentences."""


class LabelledRows(NamedTuple):
    """The rows of a table, and the column their labels are from, None without labels."""

    rows: list[Row]
    column: str | None


@dataclass(frozen=True, eq=False)
class Dataset:
    """Labelled pairs in sorted order, the name users type and the title a table shows.

    Gold values are labels, 1 for a paraphrase and 0, or scores that grow with similarity. Pairs
    without a distance are dropped, or count as the least similar. ``column`` is the one of the gold
    values, where they are from a table of anybody's.
    """

    name: str
    title: str
    pairs: list[tuple[str, str]]
    gold: Floats
    metric: MetricName
    empty: Empty
    column: str | None = None

    def __len__(self) -> int:
        return len(self.pairs)


def read_labelled(
    path: str | Path,
    *,
    limit: int | None = None,
    source: str | None = None,
    target: str | None = None,
    gold: str | None = None,
) -> Dataset:
    """Read labelled pairs.

    Parameters
    ----------
    path
        A TSV, CSV, JSON lines or Parquet file with a column of labels (0 and 1: area under the ROC
        curve) or scores (Spearman's correlation).
    limit
        Keep so many of the shortest pairs.
    source, target, gold
        Columns of the file, where their names are not well known.
    """
    check_limit(limit)
    path = Path(path)
    if path.suffix.lower() not in SUFFIXES and not path.exists():
        raise InputError(
            f"no file {str(path)!r}; name one that ends in {', '.join(SUFFIXES)}, or, for a data "
            "set by name, take movers benchmark of the distribution movers-research"
        )
    table = read_table(path, source, target, gold)
    rows = prepare_rows(table.rows)
    metric: MetricName = "auc" if {value for _, _, value in rows} <= {0.0, 1.0} else "spearman"
    return make_dataset(path.stem, path.name, rows[:limit], metric, table.column)


def check_limit(limit: int | None) -> None:
    """Refuse a number of pairs below one."""
    if limit is not None and limit < 1:
        raise InputError(f"limit must be at least 1, got {limit}")


def prepare_rows(rows: Iterable[Row]) -> list[Row]:
    """Normalise blanks and sort by length."""
    clean = [
        (" ".join(first.split()), " ".join(second.split()), gold) for first, second, gold in rows
    ]
    return sorted(clean, key=lambda row: (len(row[0].split()), len(row[1].split()), row[2]))


def make_dataset(
    name: str, title: str, rows: list[Row], metric: MetricName, column: str | None = None
) -> Dataset:
    """Make a data set of rows in order; refuse one without any."""
    if not rows:
        raise InputError(f"{title} holds no labelled pairs")
    pairs = [(source, target) for source, target, _ in rows]
    gold = np.array([gold for _, _, gold in rows], dtype=np.float64)
    return Dataset(name, title, pairs, gold, metric, EMPTY[metric], column)


def read_table(
    path: Path,
    source: str | None = None,
    target: str | None = None,
    gold: str | None = None,
    *,
    labelled: bool = True,
) -> LabelledRows:
    """Return the rows of any table of pairs with a column of labels or scores.

    Gold values are NaN without one, where the pairs need not be labelled.
    """
    with open_table(path) as table:
        sides = pick_columns(table.columns, source, target)
        column = _find_gold(table.columns, sides, gold, labelled=labelled)
        rows: list[Row] = []
        for chunk in table.chunks:
            texts = [check_texts(chunk[side], side, len(rows)) for side in sides]
            values: Sequence[float] = [math.nan] * len(texts[0])
            if column is not None:
                where = f"{path}, row {{}}, column {column!r}"
                cells = enumerate(plain_values(chunk[column]), len(rows) + 1)
                values = [label_in(cell, where.format(row)) for row, cell in cells]
            rows += zip(*texts, values, strict=True)
    guessed = column is not None and gold is None and column not in GOLD
    if guessed and _count_up([value for _, _, value in rows]):
        raise _no_gold(f"the column {column!r} numbers the rows;", table.columns, sides)
    return LabelledRows(rows, column)


def _find_gold(
    columns: list[str], sides: tuple[str, str], named: str | None, *, labelled: bool
) -> str | None:
    """Return the column of labels or scores: the one named, well known, or the only one."""
    others = [name for name in columns if name not in sides]
    if named is not None and named not in others:
        raise InputError(f"no column {named!r} of labels; there are: {', '.join(others)}")
    column = named or next((name for name in GOLD if name in others), None)
    if column is not None or not labelled:
        return column
    if len(others) == 1 and others[0].strip().lower() not in COUNTS:
        return others[0]
    raise _no_gold("", columns, sides)


def _count_up(values: list[float]) -> bool:
    """Tell whether values are whole numbers in order, each another, and not just 0 and 1."""
    steps = pairwise(values)
    whole = all(value.is_integer() for value in values)
    return len(values) > 2 and whole and all(before < after for before, after in steps)


def _no_gold(why: str, columns: list[str], sides: tuple[str, str]) -> InputError:
    """Say that no column is known to hold labels, which there are, and how to name one."""
    others = ", ".join(name for name in columns if name not in sides)
    return InputError(
        f"{why} which column holds the label or score? beside the sentences there are: "
        f"{others or 'none'}; call it 'label' or 'score'".lstrip(),
        Choose("gold"),
    )
