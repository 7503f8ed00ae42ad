"""Measures held against labelled pairs, with the distances that `Scorer.distances` gives."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from movers.arrays import Floats
from movers.evaluate import metrics
from movers.evaluate.labelled import Dataset
from movers.measures.parts.structure import describe_numbers
from movers.runtime.notices import UndefinedWarning
from movers.runtime.progress import progress_bar
from movers.scorer import Scorer
from movers.version import __version__


@dataclass(frozen=True)
class Score:
    """The agreement of a measure with labels, between -1 and 1, with a 95 % interval.

    ``layers`` are those of its attention heads, empty without structure, and ``embedding`` that of
    its word vectors. ``pairs`` count, those ``dropped`` have no distance. ``gain`` is how much
    better it does than the first measure on the same pairs, None for the first itself.
    """

    method: str
    layers: str
    embedding: int
    value: float
    low: float
    high: float
    pairs: int
    dropped: int
    gain: metrics.EstimatedDifference | None = None


@dataclass(frozen=True)
class Evaluation:
    """Scores of measures on a data set, and the facts that a reader wants to know about them."""

    dataset: str
    metric: str
    facts: dict[str, str]
    scores: tuple[Score, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {**asdict(self), "scores": [_plain(asdict(score)) for score in self.scores]}


def _plain(values: dict[str, Any]) -> dict[str, Any]:
    """Return values with None for those that are not a number."""
    nested = {name: _plain(value) for name, value in values.items() if isinstance(value, dict)}
    return {name: None if value != value else value for name, value in values.items()} | nested


def evaluate(
    base: Scorer, dataset: Dataset, methods: Sequence[str], *, progress: bool = False
) -> Evaluation:
    """Hold measures against labels; nothing is fitted on the data set.

    Parameters
    ----------
    base
        Model, statistics and settings of all measures.
    dataset
        The labelled pairs.
    methods
        Names of the measures; the first is what the others are compared with.
    progress
        Show a progress bar.
    """
    scorers = {name: base.using(name) for name in methods}
    distances = dict[str, Floats]()
    total = len(scorers) * len(dataset)
    with (
        progress_bar(dataset.name, "distances", total, progress=progress) as bar,
        warnings.catch_warnings(action="ignore", category=UndefinedWarning),  # scores tell of it
    ):
        for name, scorer in scorers.items():
            distances[name] = scorer.distances(dataset.pairs, progress=progress)
            bar.update(len(dataset))
    first = distances[methods[0]]
    scores = [
        _score(dataset, scorer, distances[name], None if name == methods[0] else first)
        for name, scorer in scorers.items()
    ]
    return Evaluation(dataset.name, dataset.metric, describe_software(base), tuple(scores))


def _score(dataset: Dataset, scorer: Scorer, distances: Floats, first: Floats | None) -> Score:
    """Return the score of a measure, and its gain over the distances of another."""
    defined = metrics.apply_empty_policy(dataset.gold, distances, dataset.empty)
    estimate = metrics.estimate(dataset.metric, defined.gold, defined.distances)
    gain = None
    if first is not None:
        both = metrics.apply_empty_policy(dataset.gold, np.stack([distances, first]), dataset.empty)
        gain = metrics.compare(dataset.metric, both.gold, *both.distances)
    return Score(
        scorer.measure.name,
        describe_numbers(tuple(dict.fromkeys(layer for layer, _ in scorer.heads))),
        scorer.embedding,
        **asdict(estimate),
        pairs=len(defined.gold),
        dropped=defined.dropped,
        gain=gain,
    )


def describe_software(base: Scorer) -> dict[str, str]:
    """Return the model and the versions behind a number."""
    encoder = base.encoder
    return {
        "model": f"{Path(encoder.name).name}@{encoder.fingerprint}",
        "attention": f"{encoder.layers} layers × {encoder.heads} heads",
        "versions": ", ".join([f"movers {__version__}", *_versions()]),
    }


def _versions() -> list[str]:
    versions = []
    for name in ("numpy", "torch", "transformers"):
        try:
            versions.append(f"{name} {version(name)}")
        except PackageNotFoundError:  # a light install
            continue
    return versions
