"""Measures as `movers.load` gives them, held against labelled pairs: the numbers users get."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from movers.arrays import Floats
from movers.errors import InputError
from movers.evaluate.benchmark import MeasureGrid
from movers.evaluate.collect import make_gain, make_score
from movers.evaluate.datasets import Dataset
from movers.evaluate.evaluation import describe_run, describe_settings
from movers.evaluate.outcomes import Column, Gain, Results, Score
from movers.evaluate.runs import RunFolder, open_run
from movers.measure.structure import describe_numbers
from movers.methods import find_method
from movers.runtime.atomic import replacing
from movers.runtime.notices import UndefinedWarning
from movers.runtime.progress import progress_bar
from movers.scorer import Scorer

Cell = tuple[Column, str]
"""A column, and the attention layers that were asked for; "" leaves them to the model."""


def evaluate_as_used(
    base: Scorer,
    dataset: Dataset,
    grid: MeasureGrid,
    folder: Path,
    *,
    selections: Sequence[str] = ("",),
    resume: bool = False,
    progress: bool = False,
) -> Results:
    """Hold measures against the labels with the distances that `Scorer.distances` gives.

    Nothing is fitted on the data set: statistics are those of the base.

    Parameters
    ----------
    base
        Model, statistics and all settings the grid leaves open.
    dataset, grid
        The pairs, and the measures to run on them.
    folder
        Run folder; distances stay in it measure by measure, and a run broken off goes on with
        ``resume``.
    selections
        Attention layers to average, one evaluation for each; "" is `movers.load`'s own choice.
    progress
        Show progress bars.
    """
    cells = [
        (column, selection)
        for column in grid.columns(dataset.name, base.encoder.layers)
        for selection in (selections if find_method(column.method).needs_attention else ("",))
    ]
    scorers = {cell: _scorer(base, *cell) for cell in cells}
    settings = {
        **describe_settings(base),
        "statistics": base.statistics.digest,
        f"data set {dataset.name}": dataset.digest,
        "measures": [str(scorer.signature) for scorer in scorers.values()],
    }
    run = open_run(folder, settings, resume=resume)
    found: dict[Cell, Floats] = {}
    total = len(cells) * len(dataset)
    with progress_bar(dataset.name, "distances", total, progress=progress) as bar:
        for number, (cell, scorer) in enumerate(scorers.items()):
            path = run.path / "distances" / f"{number:03d}.npy"
            with run.timed(cell[0].method, len(dataset), "pairs"):
                found[cell] = _distances(path, scorer, dataset, progress=progress)
            bar.update(len(dataset))
    return _results(base, run, dataset, scorers, found)


def _scorer(base: Scorer, column: Column, selection: str) -> Scorer:
    settings: dict[str, Any] = {"recipe": column.recipe, "embedding": column.embedding}
    if column.mix is not None:
        settings["mix"] = column.mix
    if selection:
        settings["layers"] = selection
    return base.using(column.method, **settings)


def _distances(path: Path, scorer: Scorer, dataset: Dataset, *, progress: bool) -> Floats:
    """Distances of a data set, from the run folder if they are there."""
    if not path.exists():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UndefinedWarning)  # the scores tell how many
            values = scorer.distances(dataset.pairs, progress=progress)
        with replacing(path) as temporary, temporary.open("wb") as stream:
            np.save(stream, values)
    try:
        return np.asarray(np.load(path))
    except (ValueError, EOFError) as error:
        raise InputError(f"{path} is damaged ({error}); remove it to compute it again") from error


def _results(
    base: Scorer,
    run: RunFolder,
    dataset: Dataset,
    scorers: dict[Cell, Scorer],
    found: dict[Cell, Floats],
) -> Results:
    scores = tuple(_score(cell, dataset, scorer, found[cell]) for cell, scorer in scorers.items())
    return Results(
        describe_run(base, run), scores, tuple(_gains(dataset, found)), stages=run.stages
    )


def _score(cell: Cell, dataset: Dataset, scorer: Scorer, distances: Floats) -> Score:
    layers = describe_numbers(tuple(dict.fromkeys(layer for layer, _ in scorer.heads)))
    return make_score(dataset, *cell, layers, distances)


def _gains(dataset: Dataset, found: dict[Cell, Floats]) -> Iterator[Gain]:
    """What structure adds to the measures of words that were evaluated beside it."""
    words = {column: distances for (column, _), distances in found.items()}
    for (column, selection), distances in found.items():
        base = column.base
        if base is not None and base in words:
            yield make_gain(dataset, column, selection, base, distances, words[base])
