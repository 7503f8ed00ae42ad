"""What structure adds to each measure, as stems that rise from a diagonal."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import cycle
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from movers.evaluate import canvas
from movers.evaluate.canvas import GROUND, SOFT, Label, Labels
from movers.evaluate.document import Drawing
from movers.evaluate.findings import by_question, find_bases, metric_name
from movers.evaluate.outcomes import Results, Score, grouped
from movers.evaluate.svg import PALETTE, slug

SERIES = [PALETTE[name] for name in ("orange", "blue", "green", "purple", "gold", "sky")]
MARKERS = "^", "o", "s", "D", "v", "P"


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
    kinds = [(marker, SOFT, selection) for selection, marker in markers.items()]
    embedded = ((color, results.embedding_name(layer)) for layer, color in colors.items())
    kinds += [("o", color, f"embedding: {layer}") for color, layer in embedded]
    handles = [Line2D([], [], ls="", marker=m, color=c, ms=6, label=told) for m, c, told in kinds]
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
