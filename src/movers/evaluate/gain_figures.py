"""What structure adds to each measure, as stems that rise from a diagonal."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
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
    marks = _marks(scores, bases)
    figure, axes = canvas.open_panels(len(recipes), 5.2, 5.6)
    handles = _legend(marks, results)
    figure.legend(handles=handles, loc="outside upper left", ncols=len(handles))
    _same_limits(axes, [100 * score.value for score in scores])
    axes[0].set_ylabel(f"with structure, {metric_name(metric)} × 100")
    labels = []
    for panel, recipe in zip(axes, recipes, strict=True):
        panel.set_title(f"{recipe} recipe")
        panel.set_xlabel(f"base, {metric_name(metric)} × 100")
        chosen = [score for score in scores if score.column.recipe == recipe]
        labels.append(_draw_panel(panel, chosen, bases, marks))
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


@dataclass(frozen=True)
class Marks:
    """How scores are drawn: colours by embedding layer, markers by selection of layers."""

    colors: dict[int, str]
    markers: dict[str, str]


def _marks(scores: list[Score], bases: dict[Score, Score]) -> Marks:
    embeddings = sorted({score.column.embedding for score in scores})
    selections = dict.fromkeys(score.selection for score in bases)
    colors = dict(zip(embeddings, cycle(SERIES), strict=False))
    return Marks(colors, dict(zip(selections, cycle(MARKERS), strict=False)))


def _legend(marks: Marks, results: Results) -> list[Line2D]:
    kinds = [(marker, SOFT, selection) for selection, marker in marks.markers.items()]
    kinds += [
        ("o", color, f"embedding: {results.embedding_name(embedding)}")
        for embedding, color in marks.colors.items()
    ]
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
        aside: dict[str, Any] = {"color": SOFT, "fontsize": 8, "style": "italic"}
        aside["transform"] = one.transAxes
        one.text(0.02, 0.98, "structure helps", ha="left", va="top", **aside)
        one.text(0.98, 0.02, "structure hurts", ha="right", va="bottom", **aside)


def _draw_panel(axes: Axes, scores: list[Score], bases: dict[Score, Score], marks: Marks) -> Labels:
    stems = grouped((score for score in scores if score in bases), lambda score: bases[score])
    labels = Labels(axes)
    for base, tops in stems.items():
        _draw_stem(labels, base, tops, marks)
    for score in scores:
        if score not in bases and score not in stems:
            _draw_ring(labels, score, marks.colors[score.column.embedding])
    return labels


def _draw_stem(labels: Labels, base: Score, tops: list[Score], marks: Marks) -> None:
    """A measure on the diagonal and what becomes of it with each selection of layers."""
    color = marks.colors[base.column.embedding]
    x, heights = 100 * base.value, [100 * score.value for score in tops]
    low, high = min(x, *heights), max(x, *heights)
    labels.axes.plot([x, x], [low, high], color=color, lw=1, alpha=0.5)
    labels.axes.plot(x, x, "o", color=color, ms=2.5)
    for score, y in zip(tops, heights, strict=True):
        marker = marks.markers[score.selection]
        labels.axes.plot(x, y, marker, color=color, ms=6, mec=GROUND, mew=0.6)
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
