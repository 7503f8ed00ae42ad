"""Plans drawn with matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from movers.errors import DependencyError
from movers.explain.compared import Compared

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.path import Path


INK, PLAIN = "#1b1f24", "#5d6672"
TOP, BOTTOM, MARGIN = 1.0, 0.0, 0.04
THICK = 48.0
"""Width of a line that carries the whole sentence, in points."""


def draw_plan(comparison: Compared, axes: Axes | None = None) -> Axes:
    """Draw two sentences as rows of words and the plan between them.

    The width of a line is mass, its colour the cost of the two words: pale is cheap.
    """
    try:
        import matplotlib.pyplot as plt
        from matplotlib.patches import PathPatch
    except ImportError as error:
        raise DependencyError("drawing needs matplotlib: pip install movers[eval]") from error
    rows = comparison.source_words, comparison.target_words
    if axes is None:
        longest = max(sum(map(len, words)) + 2 * len(words) for words in rows)
        _, axes = plt.subplots(figsize=(max(4.0, 0.13 * longest), 2.8), layout="constrained")
    places = [_places(words) for words in rows]
    colours = _colours(comparison)
    for i, j in np.argwhere(comparison.plan > 0):
        line = _curve(places[0][i], places[1][j])
        width = THICK * comparison.plan[i, j]
        axes.add_patch(
            PathPatch(line, edgecolor=colours[i][j], facecolor="none", linewidth=width, alpha=0.85)
        )
    _write(axes, rows[0], places[0], TOP + MARGIN, "bottom")
    _write(axes, rows[1], places[1], BOTTOM - MARGIN, "top")
    axes.set(xlim=(0, 1), ylim=(BOTTOM - 0.25, TOP + 0.25))
    axes.set_title(f"{comparison.method} {comparison.distance:.4f}", fontsize=11, color=INK)
    axes.axis("off")
    return axes


def _curve(start: float, end: float) -> Path:
    """A line that leaves and arrives upright."""
    from matplotlib.path import Path

    middle = (TOP + BOTTOM) / 2
    points = [(start, TOP), (start, middle), (end, middle), (end, BOTTOM)]
    return Path(points, [Path.MOVETO, *[Path.CURVE4] * 3])


def _places(words: tuple[str, ...]) -> list[float]:
    """Middle of every word in a row from 0 to 1, each as wide as it is long."""
    widths = np.array([len(word) + 2.0 for word in words])
    return list((np.cumsum(widths) - widths / 2) / max(widths.sum(), 1.0))


def _colours(comparison: Compared) -> list[list[object]]:
    """Colour of every word pair: viridis backwards, from nothing to the average cost."""
    import matplotlib

    if not comparison.cost.size:
        return [[PLAIN] * len(comparison.target_words) for _ in comparison.source_words]
    shades = matplotlib.colormaps["viridis_r"](comparison.cost / comparison.cost.mean())
    return [list(row) for row in shades]


def _write(
    axes: Axes, words: tuple[str, ...], places: list[float], height: float, align: str
) -> None:
    for word, place in zip(words, places, strict=True):
        axes.text(place, height, word, ha="center", va=align, fontsize=12, color=INK)
