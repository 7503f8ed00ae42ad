"""A whole evaluation: run what is missing, then put everything together that a report shows."""

from __future__ import annotations

import os
import resource
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from movers.encode.stopwords import describe_stopwords
from movers.evaluate.benchmark import Benchmark, MeasureGrid, measure_variability
from movers.evaluate.collect import (
    CRITERION,
    ColumnValues,
    LayerChoice,
    check_selections,
    column_distances,
    development_scores,
    head_scores,
    make_gain,
    make_score,
    structured,
)
from movers.evaluate.datasets import Dataset
from movers.evaluate.outcomes import Gain, Results, Score
from movers.evaluate.runs import RunFolder, open_run
from movers.measure.frequencies import load_frequencies
from movers.measure.structure import contextual_layers
from movers.runtime.progress import progress_bar
from movers.scorer import Scorer
from movers.version import __version__


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
    total = sum(benchmark.size for benchmark in benchmarks)
    with progress_bar("all data sets", "distances", total, progress=progress) as overall:
        for benchmark in benchmarks:
            benchmark.run(progress=progress, overall=overall)
    found = {benchmark.dataset.name: ColumnValues(benchmark) for benchmark in benchmarks}
    choice, variability = LayerChoice(last), {}
    if dev is not None:
        variability[dev.name] = measure_variability(base, dev, run, progress=progress)
        choice = replace(
            choice,
            contextual=contextual_layers(variability[dev.name]),
            development=development_scores(found[dev.name], choice.available),
        )
    with run.timed("scores", len(found), "data sets"):
        results = _collected(found.values(), choice, selections)
    return replace(
        results,
        facts=describe_run(base, run),
        variability=variability,
        contextual={name: contextual_layers(heads) for name, heads in variability.items()},
        stages=run.stages,
    )


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
    datasets: Iterable[ColumnValues], choice: LayerChoice, selections: Sequence[str]
) -> Results:
    """Scores, gains and single heads."""
    scores: list[Score] = []
    gains: list[Gain] = []
    heads, means = {}, {}
    for values, column, found in ((one, *pair) for one in datasets for pair in one):
        if structured(column) and not column.is_word_part:
            heads[column], means[column] = head_scores(values, found, choice.available)
        base = column.base if column.base in values.benchmark.columns else None
        other = None if base is None else values.of(base)[:, 0]
        for selection, layers, distances in column_distances(column, found, choice, selections):
            cell = values.dataset, column, selection
            scores.append(make_score(*cell, layers, distances, values.benchmark.model))
            if base is not None and other is not None:
                gains.append(make_gain(*cell, base, distances, other))
    return Results({}, tuple(scores), tuple(gains), heads=heads, layer_means=means)


def _settings(base: Scorer, tasks: Sequence[Task], dev: Dataset | None) -> dict[str, Any]:
    """Everything that shapes the values of a run."""
    return {
        **describe_settings(base),
        "development set": dev and dev.name,
        **{f"data set {task.dataset.name}": task.dataset.digest for task in tasks},
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
        "stopwords": describe_stopwords(settings.left_out),
        "subwords": settings.subwords,
        "null": settings.null,
        "frequencies": load_frequencies(settings.frequencies).name,
        "parser": str(getattr(settings.trees, "name", settings.trees and "parser")),
    }


def describe_run(base: Scorer, run: RunFolder) -> dict[str, str]:
    """What a reader wants to know about a run."""
    encoder = base.encoder
    versions = (f"{name} {version(name)}" for name in ("numpy", "torch", "transformers"))
    took = sum(stage.seconds for stage in run.stages)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {
        "model": f"{Path(encoder.name).name}@{encoder.fingerprint}",
        "attention": f"{encoder.layers} layers × {encoder.heads} heads",
        "versions": ", ".join([f"movers {__version__}", *versions]),
        "machine": _machine(),
        "time": f"{took / 60:.1f} minutes",
        "peak memory": f"{peak / 2**20:.2f} GB",
    }


def _machine() -> str:
    """Cores and memory."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    size = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return f"{cores} cores, {size:.0f} GB"
