"""Measures as `movers.load` gives them, held against labelled pairs: the numbers users get."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from movers.arrays import Floats
from movers.evaluate.evaluation import describe_software
from movers.evaluate.labelled import Dataset
from movers.measures.parts.structure import describe_numbers
from movers.measures.registry import find_measure
from movers.runtime.notices import UndefinedWarning
from movers.runtime.progress import progress_bar
from movers.scorer import Scorer
from movers_research.scores import Column, Evaluation, MeasureGrid, make_gain, make_score

Cell = tuple[Column, str]
"""A column, and the attention layers that were asked for; "" leaves them to the model."""


def evaluate_as_used(
    base: Scorer,
    dataset: Dataset,
    grid: MeasureGrid,
    *,
    selections: Sequence[str] = ("",),
    progress: bool = False,
) -> Evaluation:
    """Hold measures against the labels with the distances that `Scorer.distances` gives.

    Nothing is fitted on the data set: statistics are those of the base.

    Parameters
    ----------
    base
        Model, statistics and all settings the grid leaves open.
    dataset, grid
        The pairs, and the measures to run on them.
    selections
        Attention layers to average, one evaluation for each; "" is `movers.load`'s own choice.
    """
    scorers = make_scorers(base, dataset.name, grid, selections)
    return evaluate_scorers(scorers, dataset, describe_software(base), progress=progress)


def make_scorers(
    base: Scorer, dataset: str, grid: MeasureGrid, selections: Sequence[str]
) -> dict[Cell, Scorer]:
    """A scorer for every measure of the grid and every selection of layers that it looks at."""
    return {
        (column, layers): base.using(**column.settings, **({"layers": layers} if layers else {}))
        for column in grid.columns(dataset, base.encoder.layers)
        for layers in (selections if "layers" in find_measure(column.method).settings else ("",))
    }


def with_bases(scorers: Mapping[Cell, Scorer]) -> dict[Cell, Scorer]:
    """Scorers, and behind them those of the measures over which structure gains something."""
    bases = {
        (column.base, ""): scorer.using(**column.base.settings)
        for (column, _), scorer in scorers.items()
        if column.base is not None
    }
    return {**scorers, **bases, **scorers}


def evaluate_scorers(
    scorers: Mapping[Cell, Scorer],
    dataset: Dataset,
    facts: dict[str, str],
    *,
    keep: Callable[[Cell, Callable[[], Floats]], Floats] = lambda _, compute: compute(),
    progress: bool = False,
) -> Evaluation:
    """Scores of the distances that scorers give, and gains over those of their bases.

    ``keep`` gets a cell and a function that computes its distances, and may know them already.
    """
    found: dict[Cell, Floats] = {}
    every = with_bases(scorers)
    total = len(every) * len(dataset)
    with progress_bar(dataset.name, "distances", total, progress=progress) as bar:
        for cell, scorer in every.items():
            compute = partial(scorer.distances, dataset.pairs, progress=progress)
            # scores tell of what is undefined
            with warnings.catch_warnings(action="ignore", category=UndefinedWarning):
                found[cell] = keep(cell, compute)
            bar.update(len(dataset))
    scores, gains = [], []
    for (column, selection), scorer in scorers.items():
        distances = found[column, selection]
        layers = describe_numbers(tuple(dict.fromkeys(layer for layer, _ in scorer.heads)))
        used = replace(column, embedding=scorer.embedding)  # that of the measure, if it has one
        scores.append(make_score(dataset, used, selection, layers, distances))
        if column.base is not None:
            words = found[column.base, ""]
            gains.append(make_gain(dataset, used, selection, column.base, distances, words))
    return Evaluation(facts, tuple(scores), tuple(gains))
