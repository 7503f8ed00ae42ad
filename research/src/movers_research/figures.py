"""The figures of a report, each made from `Results` alone."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import cycle
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import QuadMesh
from matplotlib.colors import ListedColormap, Normalize, to_rgba
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from movers.arrays import Floats
from movers_research import canvas
from movers_research.canvas import BLUE, FAINT, GROUND, INK, ORANGE, SOFT, Label, Labels
from movers_research.document import Drawing, percent
from movers_research.outcomes import Overlap, Results
from movers_research.scores import Column, Score, grouped
from movers_research.structure_gains import (
    Agreement,
    agreements,
    by_question,
    find_bases,
    metric_name,
)
from movers_research.svg import PALETTE, slug

SERIES = [PALETTE[name] for name in ("orange", "blue", "green", "purple", "gold", "sky")]
MARKERS = "^", "o", "s", "D", "v", "P"
SHADES = 24


@canvas.styled
def improvement_figures(results: Results) -> Iterator[Drawing]:
    """What structure adds to each measure, a figure per data set and metric."""
    shown = by_question(
        score
        for score in results.scores
        if np.isfinite(score.value) and not score.column.is_word_part
    )
    questions = [question for question, scores in shown.items() if find_bases(scores)]
    datasets = [dataset for dataset, _ in questions]
    for dataset, metric in questions:
        name = f"improvement-{slug(dataset)}"
        if datasets.count(dataset) > 1:
            name += f"-{slug(metric)}"
        yield _improvement(results, shown[dataset, metric], name)


def _improvement(results: Results, scores: list[Score], name: str) -> Drawing:
    dataset, metric = scores[0].question
    bases = find_bases(scores)
    recipes = dict.fromkeys(score.column.recipe for score in bases)
    layers = sorted({score.column.embedding for score in scores})
    colors = dict(zip(layers, cycle(SERIES), strict=False))
    selections = dict.fromkeys(score.selection for score in bases)
    markers = dict(zip(selections, cycle(MARKERS), strict=False))
    handles = _handles(results, colors, markers)
    figure, axes = canvas.open_panels(len(recipes), 5.2, 5.6)
    figure.legend(handles=handles, loc="outside upper left", ncols=len(handles))
    _same_limits(axes, [100 * score.value for score in scores])
    axes[0].set_ylabel(f"with structure, {metric_name(metric)} × 100")
    labels = []
    for panel, recipe in zip(axes, recipes, strict=True):
        panel.set(title=f"{recipe} recipe", xlabel=f"base, {metric_name(metric)} × 100")
        chosen = [score for score in scores if score.column.recipe == recipe]
        labels.append(_draw_panel(panel, chosen, bases, colors, markers))
    canvas.place_labels(figure, labels)
    better = sum(score.value > base.value for score, base in bases.items())
    return canvas.finish(
        figure,
        name,
        f"What structure adds on {dataset}",
        "A stem rises (or falls) from a measure on the diagonal to the same measure with attention "
        f"structure, better in {better} of {len(bases)} cells. Small rings on the diagonal are "
        "measures that have no structural version.",
    )


def _handles(results: Results, colors: dict[int, str], markers: dict[str, str]) -> list[Line2D]:
    """What a legend shows: a marker for each selection of layers, a colour for each embedding."""
    kinds = [(marker, SOFT, selection) for selection, marker in markers.items()]
    embedded = ((color, results.embedding_name(layer)) for layer, color in colors.items())
    kinds += [("o", color, f"embedding: {layer}") for color, layer in embedded]
    return [Line2D([], [], ls="", marker=m, color=c, ms=6, label=told) for m, c, told in kinds]


def _same_limits(axes: list[Axes], values: list[float]) -> None:
    """Square panels with one scale, so that the diagonal is one."""
    margin = 0.06 * max(max(values) - min(values), 1.0)
    low, high = min(values) - margin, max(values) + margin
    for one in axes:
        one.set(xlim=(low, high), ylim=(low, high), aspect="equal")
        one.grid(True)
        one.axline((low, low), slope=1, color=SOFT, lw=0.8)
        aside: dict[str, Any] = {"color": SOFT, "fontsize": 8, "style": "italic"}
        aside["transform"] = one.transAxes
        one.text(0.02, 0.98, "structure helps", ha="left", va="top", **aside)
        one.text(0.98, 0.02, "structure hurts", ha="right", va="bottom", **aside)


def _draw_panel(
    axes: Axes,
    scores: list[Score],
    bases: dict[Score, Score],
    colors: dict[int, str],
    markers: dict[str, str],
) -> Labels:
    """Measures on the diagonal: stems to what each selection of layers makes of them, or rings."""
    stems = grouped((score for score in scores if score in bases), lambda score: bases[score])
    labels = Labels(axes)
    for base, tops in stems.items():
        color = colors[base.column.embedding]
        x, heights = 100 * base.value, [100 * score.value for score in tops]
        low, high = min(x, *heights), max(x, *heights)
        axes.plot([x, x], [low, high], color=color, lw=1, alpha=0.5)
        axes.plot(x, x, "o", color=color, ms=2.5)
        for score, y in zip(tops, heights, strict=True):
            axes.plot(x, y, markers[score.selection], color=color, ms=6, mec=GROUND, mew=0.6)
        end = high if high - x >= x - low else low
        labels.labels.append(Label(x, end, base.column.method, color))
        labels.points += [(x, y) for y in (*heights, *np.linspace(low, high, 9))]
    for score in scores:
        if score not in bases and score not in stems:
            x, color = 100 * score.value, colors[score.column.embedding]
            axes.plot(x, x, "o", mfc=GROUND, mec=color, mew=0.8, ms=3.5, alpha=0.8)
            labels.points.append((x, x))
            name = " ".join(filter(None, (score.column.method, score.selection)))
            labels.labels.append(Label(x, x, name, SOFT, optional=True))
    return labels


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
    base = (column.base or column).method
    sentence = "; ".join(f"{where}: {correlations}" for where, correlations in told.items())
    return canvas.finish(
        figure,
        f"heads-{slug(column.dataset)}-{slug(other.dataset)}",
        f"{column.method} with single heads on {column.dataset} and {other.dataset}",
        "Dots are heads, triangles the mean over a layer's heads with its number, the star is "
        f"{base} without structure. {sentence[:1].upper()}{sentence[1:]}.",
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


def _base_value(results: Results, column: Column) -> float | None:
    """Score of the measure without structure, if there is one."""
    found = (score.value for score in results.scores if score.column == column.base)
    return next(found, None)


@canvas.styled
def layer_figures(results: Results) -> Iterator[Drawing]:
    """Scores of all heads as a map, a figure per data set, development sets first."""
    datasets = grouped(_shown(results), lambda column: column.dataset)
    for number, dataset in enumerate(sorted(datasets, key=lambda name: "dev" not in name)):
        columns = datasets[dataset]
        maps = [_differences(results, column) for column in columns]
        bound = max(1e-9, *(float(np.nanmax(np.abs(values))) for values in maps))
        figure, axes = canvas.open_panels(len(columns), 5.2, 1.1 + 0.22 * len(maps[0]))
        for panel, column, values in zip(axes, columns, maps, strict=True):
            mesh = _draw_map(panel, values, bound)
            panel.set_title(_where(results, column))
        bar = figure.colorbar(mesh, ax=figure.axes, shrink=0.8, aspect=30, format="%+.0f")
        bar.outline.set_visible(False)
        known = _base_value(results, columns[0]) is not None
        base = f"{(columns[0].base or columns[0]).method} without structure"
        base = base if known else "the mean over all heads"
        yield canvas.finish(
            figure,
            f"layers-{slug(dataset)}",
            f"{columns[0].method} with every single head on {dataset}",
            f"Difference to {base}, × 100: blue heads are better, orange ones worse; the column on "
            "the right is the mean over a layer's heads.",
            folded=bool(number),
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


@canvas.styled
def variability_figure(results: Results) -> Iterator[Drawing]:
    """BV_A by layer, a panel per data set."""
    if not (found := results.variability):
        return
    contextual = results.contextual
    figure, axes = canvas.open_panels(len(found), 5.2, 3.2)
    for panel, (dataset, values) in zip(axes, found.items(), strict=True):
        for layer in contextual.get(dataset, ()):
            panel.axvspan(layer - 0.5, layer + 0.5, color=BLUE, alpha=0.1, lw=0)
        layers = np.arange(1, len(values) + 1)
        spread = (layers[:, None] + np.linspace(-0.18, 0.18, values.shape[1])).ravel()
        panel.plot(spread, values.ravel(), "o", color=BLUE, ms=3.5, mew=0, alpha=0.35)
        panel.plot(layers, values.mean(axis=1), "o-", color=BLUE, lw=1.6, ms=5, mec=GROUND)
        panel.set(xlim=(0.5, len(values) + 0.5), ylim=(0, None))
        panel.xaxis.set_major_locator(MaxNLocator(integer=True))
        panel.grid(True, axis="y")
        panel.set(title=dataset, xlabel="layer", ylabel="BV_A")
    picked = "; ".join(f"{name}: {', '.join(map(str, row))}" for name, row in contextual.items())
    yield canvas.finish(
        figure,
        "variability",
        "How much attention depends on the sentence",
        "Bidirectional attention variability BV_A: dots are heads, the line is the mean over a "
        f"layer. Shaded layers are picked as contextual{f' ({picked})' if picked else ''}.",
    )


@canvas.styled
def overlap_figure(results: Results) -> Iterator[Drawing]:
    """Common words against gold scores, a panel per data set."""
    if not (found := results.overlaps):
        return
    figure, axes = canvas.open_panels(len(found), 3.5, 3.4, columns=3)
    for panel, overlap in zip(axes, found, strict=True):
        binary = set(np.unique(overlap.gold)) <= {0.0, 1.0}
        (_draw_labels if binary else _draw_graded)(panel, overlap)
        panel.set(title=_rho(overlap).replace(", ", "\n", 1), ylabel="common words")
        panel.yaxis.set_major_locator(MaxNLocator(integer=True))
    yield canvas.finish(
        figure,
        "common-words",
        "Common words and gold scores",
        "Where labels are yes or no, bars show the share of pairs of each label by the number of "
        "words they have in common; elsewhere darker cells hold more pairs and the line is the "
        f"mean. Spearman's ρ × 100: {'; '.join(map(_rho, found))}.",
    )


def _rho(overlap: Overlap) -> str:
    text = f"{overlap.dataset}, ρ = {percent(overlap.rho)}"
    known = overlap.published
    return text if known is None else f"{text} (published {percent(known)})"


def _draw_labels(axes: Axes, overlap: Overlap) -> None:
    """A bar for each number of common words, as wide as its share of the label's pairs."""
    levels = np.arange(overlap.common.max(initial=0) + 1)
    for label, color in ((0.0, ORANGE), (1.0, BLUE)):
        common = overlap.common[overlap.gold == label]
        shares = np.bincount(common, minlength=len(levels)) / max(len(common), 1)
        widths = 0.85 * shares / max(shares.max(), 1e-9)
        axes.barh(levels, widths, left=label - widths / 2, height=0.82, color=color, alpha=0.75)
        if len(common):
            axes.plot([label - 0.45, label + 0.45], [common.mean()] * 2, color=INK, lw=1)
    axes.set(xlim=(-0.6, 1.6), xticks=[0, 1], xticklabels=["label 0", "label 1"])


def _draw_graded(axes: Axes, overlap: Overlap) -> None:
    edges = np.linspace(overlap.gold.min(), overlap.gold.max() + 1e-9, 26)
    levels = np.arange(overlap.common.max(initial=0) + 2) - 0.5
    counts, _, _ = np.histogram2d(overlap.gold, overlap.common, bins=(edges, levels))
    shades = ListedColormap([to_rgba(BLUE, fade) for fade in np.linspace(0.08, 1, SHADES)])
    axes.pcolormesh(edges, levels, np.ma.masked_equal(np.sqrt(counts), 0).T, cmap=shades)
    place = np.clip(np.digitize(overlap.gold, edges) - 1, 0, len(edges) - 2)
    filled = np.unique(place)
    means = [overlap.common[place == k].mean() for k in filled]
    axes.plot((edges[:-1] + edges[1:])[filled] / 2, means, color=ORANGE, lw=1.6)
    axes.set_xlabel("gold score")


@canvas.styled
def stage_figure(results: Results) -> Iterator[Drawing]:
    """Time by stage."""
    if not (stages := results.stages):
        return
    figure, (axes,) = canvas.open_panels(1, 10.4, 0.7 + 0.32 * len(stages))
    seconds = [stage.seconds for stage in stages]
    bars = axes.barh([stage.name for stage in stages], seconds, color=BLUE, height=0.6)
    told = [f"{stage.seconds:.1f} s, {stage.count} {stage.unit}" for stage in stages]
    axes.bar_label(bars, told, padding=4, fontsize=8, color=SOFT)
    axes.invert_yaxis()
    axes.margins(x=0.3)
    axes.set(xlim=(0, None), xlabel="seconds")
    axes.tick_params(axis="y", length=0, labelcolor=INK)
    axes.spines["left"].set_visible(False)
    description = f"Wall time of each stage; {sum(seconds):.1f} seconds in all."
    yield canvas.finish(figure, "stages", "Where the time goes", description)
