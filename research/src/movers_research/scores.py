"""Measures under chosen settings, their scores on labelled pairs, and what structure gains."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import asdict, astuple, dataclass, replace
from typing import Any, TypeVar

import numpy as np

from movers.arrays import Floats
from movers.evaluate import metrics
from movers.evaluate.labelled import Dataset
from movers.measures.registry import METHODS, find_measure

Item = TypeVar("Item")
Key = TypeVar("Key", bound=Hashable)


def grouped(items: Iterable[Item], key: Callable[[Item], Key]) -> dict[Key, list[Item]]:
    """Items by key, in the order in which the keys appear."""
    groups: dict[Key, list[Item]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups


@dataclass(frozen=True)
class Column:
    """One measure under one set of choices, on one data set, all by name.

    ``embedding`` is the layer of the word vectors, 0 the input layer; ``mix`` the share of
    structure, None for a measure that has no such choice.
    """

    dataset: str
    method: str
    recipe: str
    embedding: int
    mix: float | None = None

    @property
    def settings(self) -> dict[str, Any]:
        """What a scorer has to be told."""
        mix = {} if self.mix is None else {"mix": self.mix}
        return {"method": self.method, "recipe": self.recipe, "embedding": self.embedding, **mix}

    @property
    def base(self) -> Column | None:
        """The same choices for the measure without structure that this one builds on, if any."""
        row = METHODS.get(self.method)
        return replace(self, method=row.base, mix=None) if row and row.base else None

    @property
    def is_word_part(self) -> bool:
        """Whether it reports the words alone of a measure with structure."""
        row = METHODS.get(self.method)
        return row is not None and row.word_part


@dataclass(frozen=True)
class MeasureGrid:
    """Measures times recipes times embedding layers, counted from 0, times mixes.

    A mix only matters to measures of words and structure.
    """

    methods: tuple[str, ...]
    recipes: tuple[str, ...]
    embeddings: tuple[int, ...]
    mixes: tuple[float, ...] = (0.5,)

    def columns(self, dataset: str, last: int) -> list[Column]:
        """Every combination once; a measure with a layer of its own or without vectors has one."""
        found = {
            Column(dataset, method.name, recipe, layer, mix): None
            for recipe in self.recipes
            for method in map(find_measure, self.methods)
            for row in [method.under(recipe)]  # type: ignore[arg-type]
            for layer in (self.embeddings if "embedding" in row.settings else (last,))
            for mix in (self.mixes if "mix" in method.settings else (None,))
        }
        return list(found)


@dataclass(frozen=True)
class Score:
    """How well one column agrees with the labels, between -1 and 1, with a 95 % interval.

    ``selection`` names the attention layers whose heads are averaged, ``"BV"``, ``"all"`` or a
    range, and ``layers`` what it came to, ``"5-12"``; both are empty without structure. ``pairs``
    count, those ``dropped`` have no distance. ``published`` is what others report for this cell.
    """

    column: Column
    selection: str
    layers: str
    metric: str
    value: float
    low: float
    high: float
    pairs: int
    dropped: int = 0
    published: float | None = None

    @property
    def question(self) -> tuple[str, str]:
        """Data set and metric: scores that share both can be compared."""
        return self.column.dataset, self.metric


@dataclass(frozen=True)
class Gain:
    """How much better a measure does than its base on the same pairs, by paired bootstrap.

    The difference of the metric, its 95 % interval, and a two-sided p-value.
    """

    column: Column
    selection: str
    base: str
    value: float
    low: float
    high: float
    p: float


@dataclass(frozen=True)
class Evaluation:
    """Scores and gains, and the facts that a reader wants to know about them."""

    facts: dict[str, str]
    scores: tuple[Score, ...]
    gains: tuple[Gain, ...] = ()
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return facts, scores, gains and notes as plain values for JSON."""
        return {
            "facts": self.facts,
            "scores": list(map(_plain, self.scores)),
            "gains": list(map(_plain, self.gains)),
            "notes": list(self.notes),
        }


def _plain(row: Score | Gain) -> dict[str, Any]:
    values = {**asdict(row.column), **asdict(row)}
    del values["column"]
    return {name: None if value != value else value for name, value in values.items()}


def make_score(
    dataset: Dataset, column: Column, selection: str, layers: str, distances: Floats
) -> Score:
    """Return the metric of some distances and its interval."""
    settled = metrics.apply_empty_policy(dataset.gold, distances, dataset.empty)
    result = metrics.estimate(dataset.metric, settled.gold, settled.distances)
    return Score(
        *(column, selection, layers, dataset.metric),
        **asdict(result),
        pairs=len(settled.gold),
        dropped=settled.dropped,
    )


def make_gain(
    dataset: Dataset, column: Column, selection: str, base: Column, distances: Floats, other: Floats
) -> Gain:
    """Return what a column gains over the distances of its base on the same pairs."""
    settled = metrics.apply_empty_policy(dataset.gold, np.stack([distances, other]), dataset.empty)
    result = metrics.compare(dataset.metric, settled.gold, *settled.distances)
    return Gain(column, selection, base.method, *astuple(result))
