"""Measures as `movers.load` gives them, held against labelled pairs: the numbers users get."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from movers.arrays import Floats
from movers.evaluate.benchmark import MeasureGrid
from movers.evaluate.datasets import Dataset
from movers.evaluate.evaluation import describe_run, describe_settings, make_gain, make_score
from movers.evaluate.outcomes import Column, Results
from movers.evaluate.runs import RunFolder, open_run
from movers.measure.structure import describe_numbers
from movers.methods import find_method
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
    """
    cells = [
        (column, selection)
        for column in grid.columns(dataset.name, base.encoder.layers)
        for selection in (selections if find_method(column.method).needs_attention else ("",))
    ]
    bases = [(column.base, "") for column, _ in cells if column.base is not None]  # for gains
    scorers = {
        (column, layers): base.using(**column.settings, **({"layers": layers} if layers else {}))
        for column, layers in dict.fromkeys([*cells, *bases])
    }
    settings = {
        **describe_settings(base),
        "statistics": base.statistics.digest,
        f"data set {dataset.name}": dataset.digest,
        "measures": [str(scorer.signature) for scorer in scorers.values()],
    }
    run = open_run(folder, settings, resume=resume)
    found = _distances(run, scorers, dataset, progress=progress)
    scores, gains = [], []
    for column, selection in cells:
        distances, scorer = found[column, selection], scorers[column, selection]
        layers = describe_numbers(tuple(dict.fromkeys(layer for layer, _ in scorer.heads)))
        used = replace(column, embedding=scorer.embedding)  # that of the measure, if it has one
        scores.append(make_score(dataset, used, selection, layers, distances))
        if column.base is not None:
            words = found[column.base, ""]
            gains.append(make_gain(dataset, used, selection, column.base, distances, words))
    return Results(describe_run(base, run), tuple(scores), tuple(gains), stages=run.stages)


def _distances(
    run: RunFolder, scorers: dict[Cell, Scorer], dataset: Dataset, *, progress: bool
) -> dict[Cell, Floats]:
    """Distances of all pairs under every measure, those of an earlier run as they are."""
    found: dict[Cell, Floats] = {}
    total = len(scorers) * len(dataset)
    with progress_bar(dataset.name, "distances", total, progress=progress) as bar:
        for number, (cell, scorer) in enumerate(scorers.items()):
            path = run.path / "distances" / f"{number:03d}.npy"
            compute = partial(scorer.distances, dataset.pairs, progress=progress)
            with (
                run.timed(cell[0].method, len(dataset), "pairs"),
                warnings.catch_warnings(action="ignore", category=UndefinedWarning),
            ):  # scores tell of what is undefined
                found[cell] = run.array(path, compute)
            bar.update(len(dataset))
    return found
