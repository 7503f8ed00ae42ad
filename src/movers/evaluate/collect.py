"""From the values of a run to its scores, under every choice of attention layers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass, field

import numpy as np

from movers.arrays import Floats
from movers.encode.transformer import TransformerEncoder
from movers.errors import Choose, Do, InputError
from movers.evaluate.benchmark import Benchmark, group_of, label
from movers.evaluate.datasets import TOKENISED, Dataset
from movers.evaluate.metrics import compare, estimate, score, settle
from movers.evaluate.outcomes import Column, Gain, Score
from movers.evaluate.published import find_published
from movers.evaluate.runs import read_column
from movers.measure.structure import describe_numbers, parse_numbers
from movers.methods import find_method

CRITERION = "wsmd-wmd"
"""The measure whose scores on a development set pick the single best layer."""
PICKED = ("top1", "best", "BV")
NEEDS_DEV = f"layers {', '.join(PICKED)} are picked on a development set"


@dataclass(frozen=True)
class LayerChoice:
    """What selections of layers come to for one model with so many attention layers.

    ``contextual`` are those that attention variability picks, if it was measured; ``development``
    has the score of the mean over each layer's heads under `CRITERION` on a development set,
    ``(layers,)``, by recipe and embedding layer.
    """

    available: int
    contextual: tuple[int, ...] | None = None
    development: Mapping[tuple[str, int], Floats] = field(default_factory=dict)

    def layers(self, selection: str, recipe: str, embedding: int) -> tuple[int, ...]:
        """The layers, counted from 1, that a selection comes to.

        ``"top1"`` is the best single layer on the development set among those that attention
        variability picks, as in the paper; ``"best"`` the best of all layers; ``"BV"`` all that
        variability picks; anything else ``"all"`` or a range.
        """
        if selection == "top1":
            return (self._best(recipe, embedding, self._contextual()),)
        if selection == "best":
            return (self._best(recipe, embedding, range(1, self.available + 1)),)
        if selection == "BV":
            return self._contextual()
        return parse_numbers(selection, range(1, self.available + 1), "layer")

    def _contextual(self) -> tuple[int, ...]:
        if self.contextual is None:
            raise InputError(NEEDS_DEV, Choose("dev"), Do("name layers"))
        return self.contextual

    def _best(self, recipe: str, embedding: int, among: Sequence[int]) -> int:
        scores = self.development.get((recipe, embedding))
        if scores is None:
            raise InputError(NEEDS_DEV, Choose("dev"), Do("name layers"))
        return max(among, key=lambda layer: float(scores[layer - 1]))


def check_selections(selections: Sequence[str], available: int, *, dev: bool) -> None:
    """Refuse a selection that cannot be read before anything is computed."""
    choice = LayerChoice(available)
    for selection in selections:
        if selection not in PICKED or not dev:
            choice.layers(selection, "", 0)


class ColumnValues:
    """Distances of one benchmark, column by column.

    Distances of pairs with nothing to compare on one side are NaN under every measure.
    """

    def __init__(self, benchmark: Benchmark) -> None:
        self.benchmark = benchmark
        self.dataset = benchmark.dataset
        self._empty = {
            group: read_column(benchmark.paths(group), "empty")[:, 0] for group in benchmark.groups
        }

    def __iter__(self) -> Iterator[tuple[Column, Floats]]:
        for column in self.benchmark.columns:
            yield column, self.of(column)

    def of(self, column: Column) -> Floats:
        """Values of a column, shape ``(pairs, heads)``."""
        group = group_of(column)
        values = read_column(self.benchmark.paths(group), label(column))
        values[self._empty[group].astype(bool)] = np.nan
        return values

    def score(self, distances: Floats) -> float:
        """The data set's metric."""
        settled = settle(self.dataset.gold, distances, self.dataset.empty)
        return score(self.dataset.metric, settled.gold, settled.distances)


def structured(column: Column) -> bool:
    """Whether a column has a value for every head."""
    return find_method(column.method).leaves_heads


def by_layer(values: Floats, layers: int) -> Floats:
    """Values with an axis for layers, shape ``(pairs, layers, heads)``."""
    return values.reshape(len(values), layers, -1)


def head_scores(found: ColumnValues, values: Floats, layers: int) -> tuple[Floats, Floats]:
    """The metric of every single head, and of the mean over each layer's heads."""
    parts = by_layer(values, layers)
    flat = np.array([found.score(column) for column in values.T])
    means = np.array([found.score(column) for column in parts.mean(axis=2).T])
    return flat.reshape(layers, -1), means


def development_scores(found: ColumnValues, layers: int) -> Mapping[tuple[str, int], Floats]:
    """Scores by layer that decide which single layer is best, by recipe and embedding."""
    return {
        (column.recipe, column.embedding): head_scores(found, found.of(column), layers)[1]
        for column in found.benchmark.columns
        if column.method == CRITERION
    }


def column_distances(
    column: Column, values: Floats, choice: LayerChoice, selections: Sequence[str]
) -> Iterator[tuple[str, str, Floats]]:
    """Selection, its layers and the distances: once, or once for each selection of layers."""
    if not structured(column):
        yield "", "", values[:, 0]
        return
    parts = by_layer(values, choice.available)
    for selection in selections:
        layers = choice.layers(selection, column.recipe, column.embedding)
        mean = parts[:, np.array(layers) - 1].mean(axis=(1, 2))
        yield selection, describe_numbers(layers), mean


def make_score(
    dataset: Dataset,
    column: Column,
    selection: str,
    layers: str,
    distances: Floats,
    model: TransformerEncoder | None = None,
) -> Score:
    """The metric of some distances, its interval, and what the paper reports of a model."""
    settled = settle(dataset.gold, distances, dataset.empty)
    result = estimate(dataset.metric, settled.gold, settled.distances)
    published = None
    if model is not None and column.mix in (None, 0.5):  # the paper has one mix
        name = dataset.name.removesuffix(TOKENISED)
        place = column.method, column.embedding, model.layers, selection
        published = find_published(model.name, name, *place)
    return Score(
        *(column, selection, layers, dataset.metric),
        **asdict(result),
        pairs=len(settled.gold),
        dropped=settled.dropped,
        published=None if published is None else published / 100,
    )


def make_gain(
    dataset: Dataset, column: Column, selection: str, base: Column, distances: Floats, other: Floats
) -> Gain:
    """What a column gains over the distances of its base on the same pairs."""
    settled = settle(dataset.gold, np.stack([distances, other]), dataset.empty)
    result = compare(dataset.metric, settled.gold, *settled.distances)
    return Gain(column, selection, base.method, *astuple(result))
