"""Where figures are drawn: the style, and labels that keep out of each other's way."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import wraps
from io import BytesIO
from itertools import product
from math import cos, pi, sin
from typing import Any

import numpy as np
from matplotlib import rc_context, style
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from movers.arrays import Floats
from movers_research.document import Drawing
from movers_research.outcomes import Results
from movers_research.svg import PALETTE, finished

INK, SOFT, FAINT = PALETTE["ink"], PALETTE["soft"], PALETTE["faint"]
BLUE, ORANGE, GROUND = PALETTE["blue"], PALETTE["orange"], PALETTE["ground"]
STYLE = {
    **dict.fromkeys(("text.color", "axes.labelcolor"), INK),
    **dict.fromkeys(("axes.edgecolor", "xtick.color", "ytick.color"), SOFT),
    **dict.fromkeys(("axes.spines.top", "axes.spines.right", "legend.frameon"), False),
    **dict.fromkeys(("xtick.labelsize", "ytick.labelsize", "legend.fontsize"), 8),
    **{"font.family": "DejaVu Sans", "font.size": 9, "text.parse_math": False},
    **{"axes.linewidth": 0.8, "axes.facecolor": "none", "axes.axisbelow": True},
    **{"axes.titlesize": 9.5, "axes.titlelocation": "left", "axes.titlepad": 8},
    **{"grid.color": FAINT, "grid.linewidth": 0.6, "svg.fonttype": "none"},
    **{"figure.dpi": 100, "figure.facecolor": GROUND},
    **{"figure.constrained_layout.w_pad": 0.1, "figure.constrained_layout.h_pad": 0.08},
}
UNSIGNED = dict.fromkeys(("Date", "Creator", "Format", "Type"))
"""Nothing about the making of a file, which would differ from one to the next."""
PIXELS = 100 / 72
"""Pixels of the layout in a typographic point."""


def styled(
    draw: Callable[[Results], Iterator[Drawing]],
) -> Callable[[Results], tuple[Drawing, ...]]:
    """Have a function draw in our style, and leave matplotlib's settings as they were."""

    @wraps(draw)
    def drawn(results: Results) -> tuple[Drawing, ...]:
        with style.context(["default", STYLE]):
            return tuple(draw(results))

    return drawn


def open_panels(
    count: int, width: float, height: float, *, columns: int = 2
) -> tuple[Figure, list[Axes]]:
    """A figure of so many panels, each of so many inches, ``columns`` in a row."""
    columns = min(columns, count)
    rows = -(-count // columns)
    figure = Figure(figsize=(columns * width, rows * height), layout="constrained")
    FigureCanvasAgg(figure)
    axes: list[Axes] = list(figure.subplots(rows, columns, squeeze=False).flat)
    for spare in axes[count:]:
        spare.set_axis_off()
    return figure, axes[:count]


def finish(
    figure: Figure, name: str, title: str, description: str, *, folded: bool = False
) -> Drawing:
    """Make a drawing of a figure; the same content gives the same bytes."""
    buffer = BytesIO()
    with rc_context({"svg.hashsalt": name}):
        figure.savefig(buffer, format="svg", metadata=UNSIGNED)
    svg = finished(buffer.getvalue(), name, title, description)
    return Drawing(name, title, description, svg, folded=folded)


@dataclass(frozen=True)
class Label:
    """A word beside a point; one that is ``optional`` is left out where there is no room."""

    x: float
    y: float
    text: str
    color: str
    optional: bool = False


RADII = 9, 15, 23, 33, 45, 60
"""Distances to try between a point and its label, in typographic points."""
ANGLES = [pi / 2, 0, pi, -pi / 2, *(k * pi / 8 for k in (1, 7, 3, 5, -1, -7, -3, -5, 2, 6, -2, -6))]


@dataclass
class Labels:
    """Labels of one panel, and the points they must not cover."""

    axes: Axes
    labels: list[Label] = field(default_factory=list)
    points: list[tuple[float, float]] = field(default_factory=list)


def place_labels(figure: Figure, panels: Sequence[Labels]) -> None:
    """Write labels where they cover neither points nor each other.

    Each label in turn takes the nearest free place around its point; if there is none, the
    first place at all. The layout is final afterwards.
    """
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    for panel in panels:
        dots = panel.axes.transData.transform(np.reshape(panel.points, (-1, 2)))
        taken = np.hstack([dots - 5, dots + 5])
        for label in panel.labels:
            taken = _place(panel.axes, label, taken)


def _place(axes: Axes, label: Label, taken: Floats) -> Floats:
    """Write one label, with a line if it is far from its point, or leave it out.

    Boxes are left, lower, right and upper pixels; those taken afterwards are returned.
    """
    line = {"arrowstyle": "-", "color": label.color, "lw": 0.5, "alpha": 0.6, "shrinkA": 0}
    look: dict[str, Any] = {"color": label.color, "fontsize": 7, "va": "center", "arrowprops": line}
    at = label.x, label.y
    note = axes.annotate(label.text, at, (0, 0), textcoords="offset points", **look)
    note.set_in_layout(False)
    point, extent = axes.transData.transform(at), Text.get_window_extent(note)
    around = product(RADII[:1] if label.optional else RADII, ANGLES)
    places = [(_box(point, extent, *polar), *polar) for polar in around]
    frame = axes.get_window_extent()
    for place in places:
        box = place[0]
        inside = (box[:2] >= frame.min).all() and (box[2:] <= frame.max).all()
        over = (box[:2] < taken[:, 2:]) & (taken[:, :2] < box[2:])
        if inside and not over.all(axis=1).any():
            break
    else:
        if label.optional:
            note.remove()
            return taken
        place = places[0]
    box, radius, angle = place
    note.set_position((radius * cos(angle), radius * sin(angle)))
    note.set_horizontalalignment({1: "left", -1: "right", 0: "center"}[_side(angle)])  # type: ignore[arg-type]
    assert note.arrow_patch is not None
    note.arrow_patch.set_visible(radius > RADII[1])
    return np.vstack([taken, box])


def _side(angle: float) -> int:
    """Whether a label stands to the right (1), to the left (-1), or above or below (0)."""
    return round(cos(angle) * 1.2) if abs(cos(angle)) > 0.42 else 0


def _box(point: Floats, extent: Bbox, radius: float, angle: float) -> Floats:
    """What a label would cover at a distance, in typographic points, from its point."""
    x, y = (point[k] + radius * PIXELS * turn(angle) for k, turn in enumerate((cos, sin)))
    left, low = x + (_side(angle) - 1) / 2 * extent.width, y - extent.height / 2
    return np.array([left - 1, low, left + extent.width + 1, low + extent.height])
