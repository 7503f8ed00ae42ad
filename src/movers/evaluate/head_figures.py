"""Single heads: how they do on two data sets, and where in the model the good ones are."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import QuadMesh
from matplotlib.colors import ListedColormap, Normalize, to_rgba
from matplotlib.figure import Figure

from movers.evaluate.canvas import (
    BLUE,
    FAINT,
    GROUND,
    INK,
    ORANGE,
    Label,
    Labels,
    draw,
    panel_size,
    panels,
    place_labels,
)
from movers.evaluate.document import Drawing, percent
from movers.evaluate.findings import STRUCTURAL, agreements, base_name, depth, embedding_name
from movers.evaluate.results import Column, Floats, Results
from movers.evaluate.score_tables import metric_name
from movers.evaluate.svg import slug

SHADES = 24


def head_figures(results: Results) -> tuple[Drawing, ...]:
    """Scores of single heads on each two data sets."""
    chosen = _shown(results)
    datasets = dict.fromkeys(column.dataset for column in chosen)
    drawings: list[Drawing] = []
    for one, other in combinations(datasets, 2):
        columns = [c for c in chosen if c.dataset == one and replace(c, dataset=other) in chosen]
        if columns:
            drawings.append(_heads(results, columns, other, folded=len(drawings) > 1))
    return tuple(drawings)


def _shown(results: Results) -> list[Column]:
    """The columns of the first structural measure that has scores of single heads."""
    methods = dict.fromkeys(column.method for column in results.heads)
    order = sorted(methods, key=lambda name: (not name.startswith(STRUCTURAL), name.count("-")))
    return [column for column in results.heads if column.method == order[0]] if order else []


def _heads(results: Results, columns: list[Column], other: str, *, folded: bool) -> Drawing:
    first = columns[0].dataset
    found = {
        one.first: f"ρ × 100 = {percent(one.heads)} over {one.head_count} heads, "
        f"{percent(one.layers)} over {one.layer_count} layers"
        for one in agreements(results)
        if one.second.dataset == other
    }
    told = "; ".join(f"{_where(results, column)}: {found[column]}" for column in columns)

    def fill(figure: Figure) -> None:
        labels = []
        for axes, column in zip(panels(figure, len(columns)), columns, strict=True):
            axes.set_title(f"{_where(results, column)}\n{found[column]}")
            axes.set_xlabel(_axis(results, first))
            axes.set_ylabel(_axis(results, other))
            axes.grid(True)
            labels.append(_draw_heads(axes, results, column, replace(column, dataset=other)))
        place_labels(figure, labels)

    return draw(
        f"heads-{slug(first)}-{slug(other)}",
        f"{columns[0].method} with single heads on {first} and {other}",
        "Dots are heads, triangles the mean over a layer's heads with its number, the star is "
        f"{base_name(columns[0].method)} without structure. {told[:1].upper()}{told[1:]}.",
        fill,
        size=panel_size(len(columns), 5.2, 4.3),
        folded=folded,
    )


def _where(results: Results, column: Column) -> str:
    mix = {c.mix for c in results.heads if c.method == column.method}
    told = f", mix {column.mix:g}" if len(mix) > 1 and column.mix is not None else ""
    return f"{column.recipe} recipe, {embedding_name(column.embedding, depth(results))}{told}"


def _axis(results: Results, dataset: str) -> str:
    metrics = [score.metric for score in results.scores if score.column.dataset == dataset]
    return f"{dataset}, {metric_name(metrics[0])} × 100" if metrics else f"{dataset} × 100"


def _draw_heads(axes: Axes, results: Results, column: Column, other: Column) -> Labels:
    x, y = (100 * results.heads[c].ravel() for c in (column, other))
    axes.plot(x, y, "o", color=BLUE, ms=4.5, mew=0, alpha=0.35)
    told = Labels(axes, points=list(zip(x, y, strict=True)))
    bases = [_base_value(results, c) for c in (column, other)]
    if None not in bases:
        axes.plot(*([100 * value] for value in bases if value is not None), "*", color=INK, ms=13)
    if column in results.layer_means and other in results.layer_means:
        across, up = 100 * results.layer_means[column], 100 * results.layer_means[other]
        axes.plot(across, up, "^", color=ORANGE, ms=7, mec=GROUND, mew=0.7)
        told.points += zip(across, up, strict=True)
        told.labels += [
            Label(x, y, str(layer), ORANGE)
            for layer, (x, y) in enumerate(zip(across, up, strict=True), 1)
        ]
    return told


def _base_value(results: Results, column: Column) -> float | None:
    base = replace(column, method=base_name(column.method), mix=None)
    found = [s.value for s in results.scores if replace(s.column, mix=None) == base]
    return found[0] if found and base.method != column.method else None


def layer_figures(results: Results) -> tuple[Drawing, ...]:
    """Scores of all heads as a map, a figure per data set."""
    chosen = _shown(results)
    datasets = list(dict.fromkeys(column.dataset for column in chosen))
    return tuple(
        _layers(results, [c for c in chosen if c.dataset == dataset], folded=bool(number))
        for number, dataset in enumerate(sorted(datasets, key=lambda name: "dev" not in name))
    )


def _layers(results: Results, columns: list[Column], *, folded: bool) -> Drawing:
    dataset, method = columns[0].dataset, columns[0].method
    maps = {column: _differences(results, column) for column in columns}
    bound = max(float(np.nanmax(np.abs(values))) for values in maps.values())

    def fill(figure: Figure) -> None:
        for axes, column in zip(panels(figure, len(columns)), columns, strict=True):
            mesh = _draw_map(axes, maps[column], max(bound, 1e-9))
            axes.set_title(_where(results, column))
        bar = figure.colorbar(mesh, ax=figure.axes, shrink=0.8, aspect=30, format="%+.0f")
        bar.outline.set_visible(False)

    known = _base_value(results, columns[0]) is not None
    against = f"{base_name(method)} without structure" if known else "the mean over all heads"
    return draw(
        f"layers-{slug(dataset)}",
        f"{method} with every single head on {dataset}",
        f"Difference to {against}, × 100: blue heads are better, orange ones worse; the column on "
        "the right is the mean over a layer's heads.",
        fill,
        size=panel_size(len(columns), 5.2, 1.1 + 0.22 * len(maps[columns[0]])),
        folded=folded,
    )


def _differences(results: Results, column: Column) -> Floats:
    """Score of each head less that of the base; the layers' own in a column behind a gap."""
    heads = results.heads[column]
    base = _base_value(results, column)
    means = results.layer_means.get(column, np.full(len(heads), np.nan))
    gap = np.full(len(heads), np.nan)
    middle = np.nanmean(heads) if base is None else base
    return np.asarray(100 * (np.column_stack([heads, gap, means]) - middle))


def _draw_map(axes: Axes, values: Floats, bound: float) -> QuadMesh:
    layers, heads = len(values), values.shape[1] - 2
    edges = [*np.arange(heads + 1) + 0.5, heads + 0.9, heads + 2.1]
    rows = np.arange(layers + 1) + 0.5
    norm = Normalize(-bound, bound)
    shown = np.ma.masked_invalid(values)
    mesh = axes.pcolormesh(edges, rows, shown, cmap=_diverging(), norm=norm, ec=FAINT, lw=0.4)
    ticks = range(1, heads + 1)
    axes.set_xticks([*ticks, heads + 1.5], [*map(str, ticks), "mean"])
    axes.set(xlabel="head", ylabel="layer", yticks=range(1, layers + 1))
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    return mesh


def _diverging() -> ListedColormap:
    """From orange over nothing to blue: fades into a light and into a dark page alike."""
    fades = np.linspace(1, 0, SHADES)
    return ListedColormap(
        [to_rgba(ORANGE, f) for f in fades] + [to_rgba(BLUE, f) for f in fades[::-1]]
    )
