"""The columns that a measure fills in a table: distances, and similarities where it has a scale."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from movers.arrays import Floats, Ints
from movers.runtime.notices import UndefinedWarning, notify

UNREAD = "unread"
"""Column that counts the words of a pair that a model did not read."""


class ColumnFiller(Protocol):
    """What fills columns: a `movers.Scorer`, or what does the same."""

    @property
    def far(self) -> float | None:
        """Distance of unrelated sentences; None if not known."""

    def prepare(self) -> None:
        """Make ready, so that measures sharing encodings encode once."""

    def distances(self, pairs: Any, *, progress: bool = False) -> Floats:
        """Return distance of every pair."""

    def scaled(self, distances: Floats) -> Floats | None:
        """Return similarities that distances stand for; None without a scale."""

    def unread_words(self, pairs: Any) -> Ints:
        """Return how many words of every pair no distance depends on."""


def all_columns(measures: Mapping[str, ColumnFiller], unread: str = UNREAD) -> list[str]:
    """Return columns that measures fill, in order: distances, similarities where scaled, unread.

    The last counts the words of a pair that a model did not read.
    """
    filled = [
        column
        for name, measure in measures.items()
        for column in ([name] if measure.far is None else [name, _similarity_name(name)])
    ]
    return [*filled, unread]


def count_unread(measures: Mapping[str, ColumnFiller], pairs: Sequence[tuple[str, str]]) -> Ints:
    """Return words of every pair that one of the measures did not read."""
    counts = [measure.unread_words(pairs) for measure in measures.values()]
    return np.max(counts, axis=0) if counts else np.zeros(len(pairs), np.int64)


def fill_columns(
    name: str, measure: ColumnFiller, pairs: Sequence[tuple[str, str]], *, progress: bool = False
) -> dict[str, Floats]:
    """Return distances by name of column, and similarities where it has a scale.

    Where a cell is blank or missing there is none, even if the measure has one for empty sentences.
    """
    distances = measure.distances(pairs, progress=progress)
    blank = np.array([not (left.strip() and right.strip()) for left, right in pairs], bool)
    if count := int((blank & ~np.isnan(distances)).sum()):
        distances = np.where(blank, np.nan, distances)
        notify(
            f"{count} of {len(pairs)} pairs have no distance, for one side is blank or missing, "
            "and got NaN",
            UndefinedWarning,
        )
    columns, scaled = {name: distances}, measure.scaled(distances)
    return columns if scaled is None else {**columns, _similarity_name(name): scaled}


def _similarity_name(name: str) -> str:
    return "similarity" if name == "distance" else f"{name}_similarity"
