"""What an evaluation found: scores with their intervals, and what the figures show."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import asdict, dataclass, field, replace
from typing import Any, TypeVar

from movers.arrays import Floats, Ints
from movers.measures.registry import METHODS

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
class Score:
    """How well one column agrees with the labels, between -1 and 1, with a 95 % interval.

    ``selection`` names the attention layers whose heads are averaged, ``"top1"``, ``"BV"``,
    ``"all"`` or a range, and ``layers`` what it came to, ``"5-12"``; both are empty without
    structure. ``pairs`` count, those ``dropped`` have no distance. ``published`` is what the paper
    reports for this cell, if it does.
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

    ``heads`` has the metric of every single head, ``(layers, heads)``, and ``layer_means`` that of
    the mean over each layer's heads, by column; ``variability`` BV_A of every head, and
    ``contextual`` the layers, counted from 1, that it picks, by data set.
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
            "scores": list(map(_plain, self.scores)),
            "gains": list(map(_plain, self.gains)),
            "notes": list(self.notes),
        }


def _plain(row: Score | Gain) -> dict[str, Any]:
    values = {**asdict(row.column), **asdict(row)}
    del values["column"]
    return {name: None if value != value else value for name, value in values.items()}
