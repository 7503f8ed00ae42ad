"""The figures of a report, each made from `Results` alone."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap, to_rgba
from matplotlib.ticker import MaxNLocator

from movers.arrays import Floats
from movers.evaluate import canvas
from movers.evaluate.canvas import BLUE, GROUND, INK, ORANGE, SOFT
from movers.evaluate.document import Drawing, percent
from movers.evaluate.gain_figures import improvement_figures
from movers.evaluate.head_figures import SHADES, head_figures, layer_figures
from movers.evaluate.outcomes import Overlap, Results

__all__ = ["head_figures", "improvement_figures", "layer_figures"]
__all__ += ["overlap_figure", "stage_figure", "variability_figure"]


@canvas.styled
def variability_figure(results: Results) -> Iterator[Drawing]:
    """BV_A by layer, a panel per data set."""
    found, contextual = results.variability, results.contextual
    if not found:
        return
    figure, axes = canvas.open_panels(len(found), 5.2, 3.2)
    for panel, (dataset, values) in zip(axes, found.items(), strict=True):
        _draw_variability(panel, values, contextual.get(dataset, ()))
        panel.set(title=dataset, xlabel="layer", ylabel="BV_A")
    picked = "; ".join(f"{name}: {', '.join(map(str, row))}" for name, row in contextual.items())
    yield canvas.finish(
        figure,
        "variability",
        "How much attention depends on the sentence",
        "Bidirectional attention variability BV_A: dots are heads, the line is the mean over a "
        f"layer. Shaded layers are picked as contextual{f' ({picked})' if picked else ''}.",
    )


def _draw_variability(axes: Axes, values: Floats, picked: tuple[int, ...]) -> None:
    layers = np.arange(1, len(values) + 1)
    for layer in picked:
        axes.axvspan(layer - 0.5, layer + 0.5, color=BLUE, alpha=0.1, lw=0)
    spread = (layers[:, None] + np.linspace(-0.18, 0.18, values.shape[1])).ravel()
    axes.plot(spread, values.ravel(), "o", color=BLUE, ms=3.5, mew=0, alpha=0.35)
    axes.plot(layers, values.mean(axis=1), "o-", color=BLUE, lw=1.6, ms=5, mec=GROUND)
    axes.set(xlim=(0.5, len(values) + 0.5), ylim=(0, None))
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.grid(True, axis="y")


@canvas.styled
def overlap_figure(results: Results) -> Iterator[Drawing]:
    """Common words against gold scores, a panel per data set."""
    found = results.overlaps
    if not found:
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
    stages = results.stages
    if not stages:
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
