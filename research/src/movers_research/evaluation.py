"""A whole evaluation: run what is missing, then put everything together that a report shows."""

from __future__ import annotations

import os
import resource
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

import numpy as np

from movers.arrays import Floats
from movers.encode.encoder import Encoder
from movers.encode.stopwords import describe_stopwords
from movers.errors import Choose, Do, InputError
from movers.evaluate import metrics
from movers.evaluate.evaluation import describe_software
from movers.evaluate.labelled import Dataset
from movers.measures.parts.structure import contextual_layers, describe_numbers, parse_numbers
from movers.measures.parts.word_tables import load_frequencies
from movers.measures.registry import find_measure
from movers.runtime.progress import progress_bar
from movers.scorer import Scorer
from movers.version import __version__
from movers_research.as_used import (
    Cell,
    evaluate_scorers,
    make_scorers,
    with_bases,
)
from movers_research.benchmark import Benchmark, measure_variability
from movers_research.datasets import TOKENISED, digest_of
from movers_research.outcomes import Results
from movers_research.published import find_published
from movers_research.runs import RunFolder, open_run
from movers_research.scores import Column, Gain, MeasureGrid, Score, make_gain, make_score

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
        every = range(1, self.available + 1)
        if selection not in PICKED:
            return parse_numbers(selection, every, "layer")
        scores, contextual = self.development.get((recipe, embedding)), self.contextual
        if selection == "BV" and contextual is not None:
            return contextual
        among = every if selection == "best" else contextual
        if scores is None or among is None:
            raise InputError(NEEDS_DEV, Choose("dev"), Do("name layers"))
        return (max(among, key=lambda layer: float(scores[layer - 1])),)


def check_selections(selections: Sequence[str], available: int, *, dev: bool) -> None:
    """Refuse a selection that cannot be read before anything is computed."""
    choice = LayerChoice(available)
    for selection in selections:
        if selection not in PICKED or not dev:
            choice.layers(selection, "", 0)


@dataclass(frozen=True)
class Task:
    """A data set and the measures to run on it."""

    dataset: Dataset
    grid: MeasureGrid


def evaluate(
    base: Scorer,
    tasks: Sequence[Task],
    folder: Path,
    *,
    selections: Sequence[str] = ("all",),
    dev: Dataset | None = None,
    resume: bool = False,
    progress: bool = False,
) -> Results:
    """Run measures on labelled pairs and hold their distances against the labels.

    Parameters
    ----------
    base
        Model and all settings the grids leave open; statistics are fitted on each data set.
    tasks
        Data sets and measures; embedding layers count from 0.
    folder
        Run folder. Values stay in it chunk by chunk; a run broken off goes on with ``resume``.
    selections
        Attention layers to average: ``"top1"``, ``"best"``, ``"BV"``, ``"all"``, or ranges such
        as ``"5-12"``; see `LayerChoice.layers`.
    dev
        Data set that the first three are picked on.
    """
    check_selections(selections, base.encoder.layers, dev=dev is not None)
    if dev is not None:
        tasks = _with_development(tasks, dev)
    run = open_run(folder, _settings(base, tasks, dev), resume=resume)
    last = base.encoder.layers
    benchmarks = [
        Benchmark(base, task.dataset, task.grid.columns(task.dataset.name, last), run)
        for task in tasks
    ]
    total = sum(len(one.columns) * len(one.dataset) for one in benchmarks)
    with progress_bar("all data sets", "distances", total, progress=progress) as overall:
        for benchmark in benchmarks:
            benchmark.run(progress=progress, overall=overall)
    choice, variability, contextual = LayerChoice(last), {}, {}
    if dev is not None:
        variability[dev.name] = measure_variability(base, dev, run, progress=progress)
        contextual[dev.name] = contextual_layers(variability[dev.name])
        own = next(one for one in benchmarks if one.dataset.name == dev.name)
        by_layer = {
            (column.recipe, column.embedding): head_scores(dev, own.values(column), last)[1]
            for column in own.columns
            if column.method == CRITERION
        }
        choice = LayerChoice(last, contextual[dev.name], by_layer)
    with run.timed("scores", len(benchmarks), "data sets"):
        results = _collected(benchmarks, choice, selections)
    shown = replace(results, variability=variability, contextual=contextual)
    return replace(shown, facts=describe_run(base, run), stages=run.stages)


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
    """Do the same as `movers_research.as_used.evaluate_as_used`, in a run folder.

    Distances stay in it measure by measure, and a run broken off goes on with ``resume``.
    """
    scorers = make_scorers(base, dataset.name, grid, selections)
    settings = {
        **describe_settings(base),
        "statistics": base.statistics.digest,
        f"data set {dataset.name}": digest_of(dataset),
        "measures": [str(scorer.signature) for scorer in scorers.values()],
    }
    run = open_run(folder, settings, resume=resume)
    every = with_bases(scorers)
    paths = {cell: run.path / "distances" / f"{k:03d}.npy" for k, cell in enumerate(every)}

    def keep(cell: Cell, compute: Callable[[], Floats]) -> Floats:
        with run.timed(cell[0].method, len(dataset), "pairs"):
            return run.array(paths[cell], compute)

    found = evaluate_scorers(scorers, dataset, {}, keep=keep, progress=progress)
    return Results(describe_run(base, run), found.scores, found.gains, stages=run.stages)


def _with_development(tasks: Sequence[Task], dev: Dataset) -> list[Task]:
    """The tasks, one of which has what the choice of layers needs."""
    recipes = dict.fromkeys(recipe for task in tasks for recipe in task.grid.recipes)
    layers = dict.fromkeys(layer for task in tasks for layer in task.grid.embeddings)
    needed = MeasureGrid(("wmd", CRITERION), tuple(recipes), tuple(layers))
    same = [task for task in tasks if task.dataset.name == dev.name]
    if not same:
        return [*tasks, Task(dev, needed)]
    methods = dict.fromkeys([*same[0].grid.methods, *needed.methods])
    mixes = dict.fromkeys([*same[0].grid.mixes, *needed.mixes])
    wider = replace(needed, methods=tuple(methods), mixes=tuple(mixes))
    return [Task(dev, wider) if task is same[0] else task for task in tasks]


def _collected(
    benchmarks: Iterable[Benchmark], choice: LayerChoice, selections: Sequence[str]
) -> Results:
    """Scores, gains and single heads."""
    scores: list[Score] = []
    gains: list[Gain] = []
    heads, means = {}, {}
    for run, column in ((one, column) for one in benchmarks for column in one.columns):
        values, base = run.values(column), column.base
        if find_measure(column.method).by_head and not column.is_word_part:
            found = head_scores(run.dataset, values, choice.available)
            heads[column], means[column] = found
        other = run.values(base)[:, 0] if base is not None and base in run.columns else None
        for selection, layers, distances in _selected(column, values, choice, selections):
            cell = run.dataset, column, selection
            score = make_score(*cell, layers, distances)
            scores.append(with_published(score, run.dataset, run.model))
            if base is not None and other is not None:
                gains.append(make_gain(*cell, base, distances, other))
    return Results({}, tuple(scores), tuple(gains), heads=heads, layer_means=means)


def _selected(
    column: Column, values: Floats, choice: LayerChoice, selections: Sequence[str]
) -> Iterator[tuple[str, str, Floats]]:
    """Selection, its layers and the distances: once, or once for each selection of layers."""
    if not find_measure(column.method).by_head:
        yield "", "", values[:, 0]
        return
    parts = values.reshape(len(values), choice.available, -1)
    for selection in selections:
        layers = choice.layers(selection, column.recipe, column.embedding)
        mean = parts[:, np.array(layers) - 1].mean(axis=(1, 2))
        yield selection, describe_numbers(layers), mean


def head_scores(dataset: Dataset, values: Floats, layers: int) -> tuple[Floats, Floats]:
    """The metric of every single head, and of the mean over each layer's heads."""

    def scored(distances: Floats) -> float:
        settled = metrics.apply_empty_policy(dataset.gold, distances, dataset.empty)
        return metrics.score(dataset.metric, settled.gold, settled.distances)

    means = values.reshape(len(values), layers, -1).mean(axis=2)
    heads, whole = (np.array([scored(column) for column in one.T]) for one in (values, means))
    return heads.reshape(layers, -1), whole


def with_published(score: Score, dataset: Dataset, model: Encoder) -> Score:
    """A score beside what the paper reports of the model."""
    column = score.column
    if column.mix not in (None, 0.5):  # the paper has one mix
        return score
    name = dataset.name.removesuffix(TOKENISED)
    place = column.method, column.embedding, model.layers, score.selection
    published = find_published(model.name, name, *place)
    return score if published is None else replace(score, published=published / 100)


def _settings(base: Scorer, tasks: Sequence[Task], dev: Dataset | None) -> dict[str, Any]:
    """Everything that shapes the values of a run."""
    return {
        **describe_settings(base),
        "development set": dev and dev.name,
        **{f"data set {task.dataset.name}": digest_of(task.dataset) for task in tasks},
        **{
            f"{name} on {task.dataset.name}": list(getattr(task.grid, name))
            for task in tasks
            for name in ("methods", "recipes", "embeddings", "mixes")
        },
    }


def describe_settings(base: Scorer) -> dict[str, Any]:
    """The settings of a run that are the same for all its measures."""
    settings, encoder = base.settings, base.encoder
    return {
        "movers": __version__,
        "model": f"{Path(encoder.name).name}@{encoder.fingerprint}",
        "dtype": encoder.dtype,
        "whitening": settings.whitening,
        "stopwords": describe_stopwords(cast(Any, settings.stopwords)),
        "subwords": settings.subwords,
        "null": settings.null,
        "frequencies": load_frequencies(settings.frequencies).name,
        "parser": str(getattr(settings.parser, "name", settings.parser and "parser")),
    }


def describe_run(base: Scorer, run: RunFolder) -> dict[str, str]:
    """What a reader wants to know about a run."""
    took = sum(stage.seconds for stage in run.stages)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    size = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return {
        **describe_software(base),
        "machine": f"{cores} cores, {size:.0f} GB",
        "time": f"{took / 60:.1f} minutes",
        "peak memory": f"{peak / 2**20:.2f} GB",
    }
