"""Single heads: how they do on two data sets, and where in the model the good ones are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import QuadMesh
from matplotlib.colors import ListedColormap, Normalize, to_rgba

from movers.arrays import Floats
from movers.evaluate import canvas
from movers.evaluate.canvas import BLUE, FAINT, GROUND, INK, ORANGE, Label, Labels
from movers.evaluate.document import Drawing, percent
from movers.evaluate.findings import Agreement, agreements, metric_name
from movers.evaluate.outcomes import Column, Results, grouped
from movers.evaluate.svg import slug

SHADES = 24


@canvas.styled
def head_figures(results: Results) -> Iterator[Drawing]:
    """Scores of single heads on each two data sets."""
    shown = _shown(results)
    found = (one for one in agreements(results) if one.first in shown and one.second in shown)
    pairs = grouped(found, lambda one: (one.first.dataset, one.second.dataset))
    for number, group in enumerate(pairs.values()):
        yield _heads(results, group, folded=number > 1)


def _shown(results: Results) -> list[Column]:
    """The columns of the first structural measure that has scores of single heads."""
    order = sorted(results.heads, key=lambda one: (one.base is None, one.method.count("-")))
    return [column for column in results.heads if column.method == order[0].method]


def _heads(results: Results, group: list[Agreement], *, folded: bool) -> Drawing:
    column, other = group[0].first, group[0].second
    metrics = {score.column.dataset: score.metric for score in reversed(results.scores)}
    told = {
        _where(results, one.first): (
            f"ρ × 100 = {percent(one.heads)} over {one.head_count} heads, "
            f"{percent(one.layers)} over {one.layer_count} layers"
        )
        for one in group
    }
    across, up = (
        f"{name}, {metric_name(metrics[name])} × 100" if name in metrics else f"{name} × 100"
        for name in (column.dataset, other.dataset)
    )
    figure, axes = canvas.open_panels(len(group), 5.2, 4.3)
    labels = []
    for panel, one, (where, correlations) in zip(axes, group, told.items(), strict=True):
        panel.set(title=f"{where}\n{correlations}", xlabel=across, ylabel=up)
        panel.grid(True)
        labels.append(_draw_heads(panel, results, one.first, one.second))
    canvas.place_labels(figure, labels)
    sentence = "; ".join(f"{where}: {correlations}" for where, correlations in told.items())
    return canvas.finish(
        figure,
        f"heads-{slug(column.dataset)}-{slug(other.dataset)}",
        f"{column.method} with single heads on {column.dataset} and {other.dataset}",
        "Dots are heads, triangles the mean over a layer's heads with its number, the star is "
        f"{_base_name(column)} without structure. {sentence[:1].upper()}{sentence[1:]}.",
        folded=folded,
    )


def _where(results: Results, column: Column) -> str:
    mixes = {other.mix for other in results.heads if other.method == column.method}
    told = f", mix {column.mix:g}" if len(mixes) > 1 and column.mix is not None else ""
    return f"{column.recipe} recipe, {results.embedding_name(column.embedding)}{told}"


def _draw_heads(axes: Axes, results: Results, column: Column, other: Column) -> Labels:
    x, y = (100 * results.heads[c].ravel() for c in (column, other))
    axes.plot(x, y, "o", color=BLUE, ms=4.5, mew=0, alpha=0.35)
    told = Labels(axes, points=list(zip(x, y, strict=True)))
    bases = [_base_value(results, c) for c in (column, other)]
    if None not in bases:
        axes.plot(*([100 * value] for value in bases if value is not None), "*", color=INK, ms=13)
    if column in results.layer_means and other in results.layer_means:
        across, up = (100 * results.layer_means[c] for c in (column, other))
        axes.plot(across, up, "^", color=ORANGE, ms=7, mec=GROUND, mew=0.7)
        means = list(zip(across, up, strict=True))
        told.points += means
        told.labels += [Label(x, y, str(layer), ORANGE) for layer, (x, y) in enumerate(means, 1)]
    return told


def _base_name(column: Column) -> str:
    return column.base.method if column.base else column.method


def _base_value(results: Results, column: Column) -> float | None:
    """Score of the measure without structure, if there is one."""
    found = (score.value for score in results.scores if score.column == column.base)
    return next(found, None)


@canvas.styled
def layer_figures(results: Results) -> Iterator[Drawing]:
    """Scores of all heads as a map, a figure per data set, development sets first."""
    datasets = grouped(_shown(results), lambda column: column.dataset)
    for number, dataset in enumerate(sorted(datasets, key=lambda name: "dev" not in name)):
        yield _layers(results, datasets[dataset], folded=bool(number))


def _layers(results: Results, columns: list[Column], *, folded: bool) -> Drawing:
    first = columns[0]
    maps = [_differences(results, column) for column in columns]
    bound = max(1e-9, *(float(np.nanmax(np.abs(values))) for values in maps))
    figure, axes = canvas.open_panels(len(columns), 5.2, 1.1 + 0.22 * len(maps[0]))
    for panel, column, values in zip(axes, columns, maps, strict=True):
        mesh = _draw_map(panel, values, bound)
        panel.set_title(_where(results, column))
    bar = figure.colorbar(mesh, ax=figure.axes, shrink=0.8, aspect=30, format="%+.0f")
    bar.outline.set_visible(False)
    known = _base_value(results, first) is not None
    against = f"{_base_name(first)} without structure" if known else "the mean over all heads"
    return canvas.finish(
        figure,
        f"layers-{slug(first.dataset)}",
        f"{first.method} with every single head on {first.dataset}",
        f"Difference to {against}, × 100: blue heads are better, orange ones worse; the column on "
        "the right is the mean over a layer's heads.",
        folded=folded,
    )


def _differences(results: Results, column: Column) -> Floats:
    """Score of each head less that of the base; the layers' own in a column behind a gap."""
    heads, base = results.heads[column], _base_value(results, column)
    gap = np.full(len(heads), np.nan)
    means = results.layer_means.get(column, gap)
    middle = np.nanmean(heads) if base is None else base
    return np.asarray(100 * (np.column_stack([heads, gap, means]) - middle))


def _draw_map(axes: Axes, values: Floats, bound: float) -> QuadMesh:
    """A cell for each head: from orange over nothing, which fades into any page, to blue."""
    layers, heads = len(values), values.shape[1] - 2
    fades = np.linspace(1, 0, SHADES)
    shades = [to_rgba(ORANGE, f) for f in fades] + [to_rgba(BLUE, f) for f in fades[::-1]]
    look: dict[str, Any] = {"cmap": ListedColormap(shades), "norm": Normalize(-bound, bound)}
    edges = [*np.arange(heads + 1) + 0.5, heads + 0.9, heads + 2.1], np.arange(layers + 1) + 0.5
    mesh = axes.pcolormesh(*edges, np.ma.masked_invalid(values), ec=FAINT, lw=0.4, **look)
    ticks = range(1, heads + 1)
    axes.set_xticks([*ticks, heads + 1.5], [*map(str, ticks), "mean"])
    axes.set(xlabel="head", ylabel="layer", yticks=range(1, layers + 1))
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    return mesh
