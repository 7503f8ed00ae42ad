"""Plans drawn with matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from movers.errors import DependencyError
from movers.explain.compared import Compared

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.patches import PathPatch

INK, PLAIN = "#1b1f24", "#5d6672"
TOP, BOTTOM, MARGIN = 1.0, 0.0, 0.04
THICK = 48.0
"""Width of a line that carries the whole sentence, in points."""


def draw_plan(comparison: Compared, axes: Axes | None = None) -> Axes:
    """Draw two sentences as rows of words and the plan between them.

    The width of a line is mass, its colour the cost of the two words: pale is cheap, from nothing
    to the average.
    """
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise DependencyError("drawing needs matplotlib: pip install movers[plot]") from error
    rows = comparison.source_words, comparison.target_words
    if axes is None:
        longest = max(sum(map(len, words)) + 2 * len(words) for words in rows)
        _, axes = plt.subplots(figsize=(max(4.0, 0.13 * longest), 2.8), layout="constrained")
    sources, targets = (_places(words) for words in rows)
    cost = comparison.cost
    shades = plt.get_cmap("viridis_r")(cost / cost.mean()) if cost.size else None
    for i, j in np.argwhere(comparison.plan > 0):
        color = PLAIN if shades is None else shades[i, j]
        axes.add_patch(_line(sources[i], targets[j], THICK * comparison.plan[i, j], color))
    for words, places, height, align in (
        (rows[0], sources, TOP + MARGIN, "bottom"),
        (rows[1], targets, BOTTOM - MARGIN, "top"),
    ):
        for word, place in zip(words, places, strict=True):
            axes.text(place, height, word, ha="center", va=align, fontsize=12, color=INK)
    axes.set(xlim=(0, 1), ylim=(BOTTOM - 0.25, TOP + 0.25))
    axes.set_title(f"{comparison.method} {comparison.distance:.4f}", fontsize=11, color=INK)
    axes.axis("off")
    return axes


def _line(start: float, end: float, width: float, color: Any) -> PathPatch:
    """Return a line from the upper row to the lower one, which leaves and arrives upright."""
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    middle = (TOP + BOTTOM) / 2
    points = [(start, TOP), (start, middle), (end, middle), (end, BOTTOM)]
    curve = Path(points, [Path.MOVETO, *[Path.CURVE4] * 3])
    return PathPatch(curve, linewidth=width, alpha=0.85, edgecolor=color, facecolor="none")


def _places(words: tuple[str, ...]) -> list[float]:
    """Return the middle of every word in a row from 0 to 1, each as wide as it is long."""
    widths = np.array([len(word) + 2.0 for word in words])
    return list((np.cumsum(widths) - widths / 2) / max(widths.sum(), 1.0))
