"""What the scores add up to: gains over a base, their means, and whether data sets agree."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from movers.agreement import TITLES
from movers.arrays import Floats
from movers_research.outcomes import Results
from movers_research.scores import Column, Score, grouped

VARIANTS = "wmd", "wmd-idf", "wrd", "wrd-idf", "synwmd-cos", "synwmd"
"""The measures whose gains are averaged."""

Place = tuple[str, int]
"""Recipe and embedding layer."""


@dataclass(frozen=True)
class Improvement:
    """Mean gain of the structural measures over their bases, and the same of published cells.

    The bases that were averaged are all of `VARIANTS` if the run was complete; there is no
    published mean unless all of them have one.
    """

    dataset: str
    metric: str
    recipe: str
    embedding: int
    selection: str
    mix: float | None
    variants: tuple[str, ...]
    value: float
    published: float | None


@dataclass(frozen=True)
class Agreement:
    """Spearman correlation between two data sets, over single heads and over layers.

    A correlation is not a number where a side is constant or absent.
    """

    first: Column
    second: Column
    heads: float
    head_count: int
    layers: float
    layer_count: int


def by_question(scores: Iterable[Score]) -> dict[tuple[str, str], list[Score]]:
    """Scores by data set and metric."""
    return grouped(scores, lambda score: score.question)


def metric_name(metric: str) -> str:
    """How a metric is written."""
    return TITLES.get(metric, metric)


def sorted_places(items: Iterable[Column | Improvement]) -> list[Place]:
    """Recipes as they appear, each with its embedding layers from the first to the last."""
    places = dict.fromkeys((item.recipe, item.embedding) for item in items)
    recipes = [recipe for recipe, _ in places]
    return sorted(places, key=lambda place: (recipes.index(place[0]), place[1]))


def find_bases(scores: Iterable[Score]) -> dict[Score, Score]:
    """Every structural score with the score of its base, where there is one."""
    scores = tuple(scores)
    plain = {(score.column, score.metric): score for score in scores if score.column.base is None}
    keys = {score: (score.column.base, score.metric) for score in scores}
    return {score: plain[key] for score, key in keys.items() if key in plain}


def improvements(results: Results) -> tuple[Improvement, ...]:
    """Average what structure adds, per data set, embedding, selection and recipe."""
    pairs = grouped(
        (
            (score, base)
            for score, base in find_bases(results.scores).items()
            if not score.column.is_word_part and base.column.method in VARIANTS
        ),
        lambda pair: (replace(pair[0].column, method=""), pair[0].metric, pair[0].selection),
    )
    return tuple(_averaged(*common, members) for common, members in pairs.items())


def _averaged(
    column: Column, metric: str, selection: str, pairs: list[tuple[Score, Score]]
) -> Improvement:
    names = {base.column.method for _, base in pairs}
    known = [
        above.published - base.published
        for above, base in pairs
        if above.published is not None and base.published is not None
    ]
    return Improvement(
        *(column.dataset, metric, column.recipe, column.embedding, selection, column.mix),
        variants=tuple(name for name in VARIANTS if name in names),
        value=float(np.mean([above.value - base.value for above, base in pairs])),
        published=float(np.mean(known)) if len(known) == len(pairs) else None,
    )


def agreements(results: Results) -> tuple[Agreement, ...]:
    """Compare each two data sets by the scores of their heads and of their layers."""
    columns = dict.fromkeys([*results.heads, *results.layer_means])
    datasets = dict.fromkeys(column.dataset for column in columns)
    beside = (
        (column, replace(column, dataset=other))
        for one, other in combinations(datasets, 2)
        for column in columns
        if column.dataset == one
    )
    return tuple(
        Agreement(
            *pair, *_correlated(results.heads, *pair), *_correlated(results.layer_means, *pair)
        )
        for pair in beside
        if pair[1] in columns
    )


def _correlated(found: Mapping[Column, Floats], first: Column, second: Column) -> tuple[float, int]:
    """Correlation of two arrays where both are finite, and the number of their entries."""
    from scipy.stats import spearmanr

    one, other = found.get(first), found.get(second)
    if one is None or other is None or one.shape != other.shape:
        return float("nan"), 0
    kept = np.isfinite(one) & np.isfinite(other)
    one, other = one[kept], other[kept]
    if len(one) < 2 or np.ptp(one) == 0 or np.ptp(other) == 0:
        return float("nan"), len(one)
    return float(spearmanr(one, other).statistic), len(one)
