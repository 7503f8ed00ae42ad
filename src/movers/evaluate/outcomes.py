"""What an evaluation found: scores with their intervals, and what the figures show."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import Any

from movers.arrays import Floats, Ints
from movers.methods import METHODS


@dataclass(frozen=True)
class Column:
    """One measure under one set of choices, on one data set.

    Parameters
    ----------
    dataset
        Name of the data set, ``"paws-wiki-test"``.
    method
        Name of the measure, ``"wsmd-wmd"``.
    recipe
        ``"paper"`` or ``"reference"``.
    embedding
        Layer of the word vectors; 0 is the input layer.
    mix
        Share of structure; None for a measure that has no such choice.
    """

    dataset: str
    method: str
    recipe: str
    embedding: int
    mix: float | None = None

    @property
    def base(self) -> Column | None:
        """The same choices for the measure without structure that this one builds on, if any."""
        row = METHODS.get(self.method)
        return replace(self, method=row.base, mix=None) if row and row.base else None

    @property
    def is_word_part(self) -> bool:
        """Whether it reports the words alone of a measure with structure."""
        row = METHODS.get(self.method)
        return row is not None and row.reports == "linear"


@dataclass(frozen=True)
class Score:
    """How well one column agrees with the labels, with a 95 % interval.

    Parameters
    ----------
    selection
        Attention layers whose heads are averaged: ``"top1"``, ``"BV"``, ``"all"``, a range such as
        ``"5-6"``; empty for a measure without structure.
    layers
        The layers the selection came to, ``"5-12"``; empty without structure.
    metric
        ``"auc"``, ``"spearman"`` or ``"pearson"``.
    value, low, high
        The metric and its interval, between -1 and 1.
    pairs, dropped
        Pairs that count, and pairs without a distance that do not.
    published
        What the paper reports for this cell, on the same scale; None if it does not.
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
    """How much better a measure does than another on the same pairs, by paired bootstrap.

    Parameters
    ----------
    base
        Name of the measure it is held against: the one without structure, or the first of a run.
    value, low, high
        Difference of the metric and its 95 % interval.
    p
        Two-sided p-value.
    """

    column: Column
    selection: str
    base: str
    value: float
    low: float
    high: float
    p: float


@dataclass(frozen=True)
class Overlap:
    """Common words of the pairs of a data set beside their gold scores."""

    dataset: str
    common: Ints
    gold: Floats
    rho: float
    published: float | None = None


@dataclass(frozen=True)
class Illustration:
    """One pair of the paper's opening example: distances by measure, published ones beside them."""

    source: str
    target: str
    distances: dict[str, float]
    published: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Stage:
    """Time one part of a run took, and what it worked on."""

    name: str
    seconds: float
    count: int
    unit: str


@dataclass(frozen=True)
class Results:
    """Everything a report shows.

    Parameters
    ----------
    facts
        Model, versions, command, machine and the like, in order of display.
    scores
        One row per cell of the tables.
    gains
        What structure adds to each measure, with a test.
    heads
        Metric of every single head, shape ``(layers, heads)``, by column; layers counted from 1.
    layer_means
        Metric of the mean over the heads of each layer, shape ``(layers,)``, by column.
    variability
        BV_A of every head, shape ``(layers, heads)``, by data set.
    contextual
        Layers that BV_A picks, by data set.
    """

    facts: dict[str, str]
    scores: tuple[Score, ...]
    gains: tuple[Gain, ...] = ()
    heads: dict[Column, Floats] = field(default_factory=dict)
    layer_means: dict[Column, Floats] = field(default_factory=dict)
    variability: dict[str, Floats] = field(default_factory=dict)
    contextual: dict[str, tuple[int, ...]] = field(default_factory=dict)
    overlaps: tuple[Overlap, ...] = ()
    illustrations: tuple[Illustration, ...] = ()
    stages: tuple[Stage, ...] = ()
    notes: tuple[str, ...] = ()

    def embedding_name(self, embedding: int) -> str:
        """How a report calls an embedding layer: ``input``, ``layer 3``, ``last (6)``."""
        arrays = [*self.heads.values(), *self.layer_means.values(), *self.variability.values()]
        if embedding == 0:
            return "input"
        last = max(map(len, arrays), default=None)
        return f"last ({embedding})" if embedding == last else f"layer {embedding}"

    def place_name(self, recipe: str, embedding: int) -> str:
        """How a report calls a recipe and an embedding layer together."""
        return f"{recipe}, {self.embedding_name(embedding)}"

    def to_dict(self) -> dict[str, Any]:
        """Facts, scores and gains as plain values for JSON."""
        return {
            "facts": self.facts,
            "scores": [_plain(row) for row in self.scores],
            "gains": [_plain(row) for row in self.gains],
            "notes": list(self.notes),
        }


def _plain(row: Score | Gain) -> dict[str, Any]:
    values = {**asdict(row.column), **asdict(row)}
    del values["column"]
    return {name: None if value != value else value for name, value in values.items()}
