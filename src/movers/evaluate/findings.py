"""What the scores add up to: gains over a base, their means, and whether data sets agree."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from movers.evaluate.results import Column, Floats, Results, Score

VARIANTS = "wmd", "wmd-idf", "wrd", "wrd-idf", "synwmd-cos", "synwmd"
"""The measures whose gains are averaged."""
STRUCTURAL, LINEAR = "wsmd-", "lambda-"


@dataclass(frozen=True)
class Improvement:
    """Mean gain of the structural measures over their bases.

    Parameters
    ----------
    variants
        The bases that were averaged; all of `VARIANTS` if the run was complete.
    value
        Mean difference, on the scale of the metric.
    published
        The same mean over the published cells; None unless all of the variants have them.
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


def base_name(method: str) -> str:
    """The word measure that a structural measure builds on; any other method itself.

    >>> base_name("wsmd-wrd-idf"), base_name("lambda-wmd"), base_name("sif")
    ('wrd-idf', 'wmd', 'sif')
    """
    return method.removeprefix(STRUCTURAL).removeprefix(LINEAR)


def find_bases(scores: Iterable[Score]) -> dict[Score, Score]:
    """Every structural score with the score of its base, where there is one."""
    scores = tuple(scores)
    plain = {_place(score): score for score in scores if base_name(_name(score)) == _name(score)}
    return {
        score: plain[_place(score)]
        for score in scores
        if _name(score) != base_name(_name(score)) and _place(score) in plain
    }


def _name(score: Score) -> str:
    return score.column.method


def _place(score: Score) -> tuple[str, str, str, str, int]:
    column = score.column
    base = base_name(column.method)
    return column.dataset, score.metric, base, column.recipe, column.embedding


def improvements(results: Results) -> tuple[Improvement, ...]:
    """Average what structure adds, per data set, embedding, selection and recipe."""
    groups: dict[tuple[object, ...], list[tuple[Score, Score]]] = {}
    for score, base in find_bases(results.scores).items():
        if _name(score).startswith(STRUCTURAL) and _name(base) in VARIANTS:
            column = score.column
            key = column.dataset, score.metric, column.recipe, column.embedding
            groups.setdefault((*key, score.selection, column.mix), []).append((score, base))
    return tuple(_averaged(pairs) for pairs in groups.values())


def _averaged(pairs: list[tuple[Score, Score]]) -> Improvement:
    score = pairs[0][0]
    column = score.column
    names = {base.column.method for _, base in pairs}
    known = [
        above.published - base.published
        for above, base in pairs
        if above.published is not None and base.published is not None
    ]
    return Improvement(
        dataset=column.dataset,
        metric=score.metric,
        recipe=column.recipe,
        embedding=column.embedding,
        selection=score.selection,
        mix=column.mix,
        variants=tuple(name for name in VARIANTS if name in names),
        value=float(np.mean([above.value - base.value for above, base in pairs])),
        published=float(np.mean(known)) if len(known) == len(pairs) else None,
    )


def agreements(results: Results) -> tuple[Agreement, ...]:
    """Compare each two data sets by the scores of their heads and of their layers."""
    columns = dict.fromkeys([*results.heads, *results.layer_means])
    datasets = dict.fromkeys(column.dataset for column in columns)
    return tuple(
        _agreement(results, column, replace(column, dataset=other))
        for one, other in combinations(datasets, 2)
        for column in columns
        if column.dataset == one and replace(column, dataset=other) in columns
    )


def _agreement(results: Results, first: Column, second: Column) -> Agreement:
    heads, head_count = _correlated(results.heads.get, first, second)
    layers, layer_count = _correlated(results.layer_means.get, first, second)
    return Agreement(first, second, heads, head_count, layers, layer_count)


def _correlated(
    find: Callable[[Column], Floats | None], first: Column, second: Column
) -> tuple[float, int]:
    """Correlation of two arrays where both are finite, and the number of their entries."""
    one, other = find(first), find(second)
    if one is None or other is None or one.shape != other.shape:
        return float("nan"), 0
    kept = np.isfinite(one) & np.isfinite(other)
    return _spearman(one[kept], other[kept]), int(kept.sum())


def _spearman(one: Floats, other: Floats) -> float:
    from scipy.stats import spearmanr

    if len(one) < 2 or np.ptp(one) == 0 or np.ptp(other) == 0:
        return float("nan")
    return float(spearmanr(one, other).statistic)


def depth(results: Results) -> int | None:
    """Number of attention layers, where any array tells."""
    arrays = [*results.heads.values(), *results.layer_means.values(), *results.variability.values()]
    return max((len(array) for array in arrays), default=None)


def embedding_name(embedding: int, layers: int | None) -> str:
    """How a report calls an embedding layer.

    >>> embedding_name(0, 6), embedding_name(6, 6), embedding_name(3, 6)
    ('input', 'last (6)', 'layer 3')
    """
    if embedding == 0:
        return "input"
    return f"last ({embedding})" if embedding == layers else f"layer {embedding}"
