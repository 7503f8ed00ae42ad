"""What structure adds to each measure, as stems that rise from a diagonal."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from movers.evaluate.canvas import (
    GROUND,
    SOFT,
    Label,
    Labels,
    draw,
    panel_size,
    panels,
    place_labels,
)
from movers.evaluate.document import Drawing
from movers.evaluate.findings import LINEAR, STRUCTURAL, depth, embedding_name, find_bases
from movers.evaluate.results import Results, Score
from movers.evaluate.score_tables import metric_name
from movers.evaluate.svg import PALETTE, slug

SERIES = "orange", "blue", "green", "purple", "gold", "sky"
MARKERS = "^", "o", "s", "D", "v", "P"


def improvement_figures(results: Results) -> tuple[Drawing, ...]:
    """What structure adds to each measure, a figure per data set and metric."""
    bases = find_bases(results.scores)
    questions = dict.fromkeys(
        (score.column.dataset, score.metric)
        for score in bases
        if score.column.method.startswith(STRUCTURAL)
    )
    metrics = [dataset for dataset, _ in questions]
    return tuple(
        _improvement(results, dataset, metric, plain=metrics.count(dataset) == 1)
        for dataset, metric in questions
    )


def _improvement(results: Results, dataset: str, metric: str, *, plain: bool) -> Drawing:
    scores = [
        score
        for score in results.scores
        if (score.column.dataset, score.metric) == (dataset, metric)
        and not score.column.method.startswith(LINEAR)
        and np.isfinite(score.value)
    ]
    bases = find_bases(scores)
    recipes = list(dict.fromkeys(score.column.recipe for score in bases))
    colors = _colors(score.column.embedding for score in scores)
    markers = dict(zip(dict.fromkeys(s.selection for s in bases), MARKERS * 9, strict=False))

    def fill(figure: Figure) -> None:
        axes = panels(figure, len(recipes))
        handles = _improvement_legend(colors, markers, depth(results))
        figure.legend(handles=handles, loc="outside upper left", ncols=len(handles))
        _same_limits(axes, [100 * score.value for score in scores])
        axes[0].set_ylabel(f"with structure, {metric_name(metric)} × 100")
        labels = []
        for one, recipe in zip(axes, recipes, strict=True):
            one.set_title(f"{recipe} recipe")
            one.set_xlabel(f"base, {metric_name(metric)} × 100")
            chosen = [score for score in scores if score.column.recipe == recipe]
            labels.append(_draw_improvement(one, chosen, bases, colors, markers))
        place_labels(figure, labels)

    return draw(
        f"improvement-{slug(dataset)}" + ("" if plain else f"-{slug(metric)}"),
        f"What structure adds on {dataset}",
        "A stem rises (or falls) from a measure on the diagonal to the same measure with attention "
        f"structure, {_counted(bases)}. Small rings on the diagonal are measures that have no "
        "structural version.",
        fill,
        size=panel_size(len(recipes), 5.2, 5.6),
    )


def _counted(bases: dict[Score, Score]) -> str:
    better = sum(score.value > base.value for score, base in bases.items())
    return f"better in {better} of {len(bases)} cells"


def _colors(embeddings: Iterable[int]) -> dict[int, str]:
    return {
        embedding: PALETTE[SERIES[number % len(SERIES)]]
        for number, embedding in enumerate(sorted(set(embeddings)))
    }


def _improvement_legend(
    colors: dict[int, str], markers: dict[str, str], layers: int | None
) -> list[Line2D]:
    kinds = [(marker, SOFT, selection) for selection, marker in markers.items()]
    kinds += [("o", c, f"embedding: {embedding_name(e, layers)}") for e, c in colors.items()]
    return [
        Line2D([], [], ls="", marker=marker, color=color, ms=6, label=label)
        for marker, color, label in kinds
    ]


def _same_limits(axes: list[Axes], values: list[float]) -> None:
    """Square panels with one scale, so that the diagonal is one."""
    margin = 0.06 * max(max(values) - min(values), 1.0)
    low, high = min(values) - margin, max(values) + margin
    for one in axes:
        one.set(xlim=(low, high), ylim=(low, high), aspect="equal")
        one.grid(True)
        one.axline((low, low), slope=1, color=SOFT, lw=0.8)
        aside: dict[str, Any] = {
            "transform": one.transAxes,
            "color": SOFT,
            "fontsize": 8,
            "style": "italic",
        }
        one.text(0.02, 0.98, "structure helps", ha="left", va="top", **aside)
        one.text(0.98, 0.02, "structure hurts", ha="right", va="bottom", **aside)


def _draw_improvement(
    axes: Axes,
    scores: list[Score],
    bases: dict[Score, Score],
    colors: dict[int, str],
    markers: dict[str, str],
) -> Labels:
    stems: dict[Score, list[Score]] = {}
    for score in scores:
        if score in bases:
            stems.setdefault(bases[score], []).append(score)
    labels = Labels(axes)
    for base, tops in stems.items():
        _draw_stem(labels, base, tops, colors[base.column.embedding], markers)
    for score in scores:
        if score not in bases and score not in stems:
            _draw_ring(labels, score, colors[score.column.embedding])
    return labels


def _draw_stem(
    labels: Labels, base: Score, tops: list[Score], color: str, markers: dict[str, str]
) -> None:
    """A measure on the diagonal and what becomes of it with each selection of layers."""
    x, heights = 100 * base.value, [100 * score.value for score in tops]
    low, high = min(x, *heights), max(x, *heights)
    labels.axes.plot([x, x], [low, high], color=color, lw=1, alpha=0.5)
    labels.axes.plot(x, x, "o", color=color, ms=2.5)
    for score, y in zip(tops, heights, strict=True):
        labels.axes.plot(x, y, markers[score.selection], color=color, ms=6, mec=GROUND, mew=0.6)
    end = high if high - x >= x - low else low
    labels.labels.append(Label(x, end, base.column.method, color))
    labels.points += [(x, y) for y in (*heights, *np.linspace(low, high, 9))]


def _draw_ring(labels: Labels, score: Score, color: str) -> None:
    """A measure that has no structural version."""
    x = 100 * score.value
    labels.axes.plot(x, x, "o", mfc=GROUND, mec=color, mew=0.8, ms=3.5, alpha=0.8)
    labels.points.append((x, x))
    name = " ".join(filter(None, (score.column.method, score.selection)))
    labels.labels.append(Label(x, x, name, SOFT, optional=True))
