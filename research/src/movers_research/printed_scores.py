"""Scores on a terminal: intervals, what structure gains, and what others published."""

from __future__ import annotations

from collections.abc import Iterator

from movers.cli.drawing import Cell, echo, print_table, print_text
from movers_research.scores import Evaluation, Gain, Score, grouped


def print_scores(results: Evaluation) -> None:
    """Print scores with their intervals, what structure gains, and notes."""
    gains = {(gain.column, gain.selection): gain for gain in results.gains}
    groups = grouped(results.scores, lambda score: (score.column.dataset, score.column.recipe))
    for (dataset, recipe), rows in groups.items():
        about = f"{dataset}, {recipe} recipe: {rows[0].metric} × 100, {rows[0].pairs} pairs"
        if rows[0].dropped:
            about += f" ({rows[0].dropped} without words on one side left out)"
        published = any(row.published is not None for row in rows)
        found = [gains.get((row.column, row.selection)) for row in rows]
        gained = [*["gain", "over", "p"] * any(found), *["published"] * published]
        numbers = ["vectors", "score", "95 %", *gained]
        cells: list[list[Cell]] = []
        for row, gain in zip(rows, found, strict=True):
            theirs = "" if row.published is None else f"{100 * row.published:.2f}"
            gain_cells = _gain_cells(gain) * any(found)
            cells.append([*_score_cells(row), *gain_cells, *[theirs] * published])
        print_text(about, "bold")
        print_table(["measure", "layers", *numbers], cells, numbers)
        echo()
    for note in results.notes:
        print_text(note, "dim")


def _gain_cells(gain: Gain | None) -> list[str]:
    """What a line says of what structure gains, over which measure; nothing for one without."""
    return [f"{100 * gain.value:+.2f}", gain.base, f"{gain.p:.3f}"] if gain else [""] * 3


def _score_cells(score: Score) -> Iterator[Cell]:
    """What a line says of a score."""
    column, layers = score.column, score.layers
    if score.selection != layers:
        layers = f"{score.selection} {layers}"
    yield column.method + ("" if column.mix in (None, 0.5) else f" λ={column.mix:g}")
    yield layers.strip()
    yield str(column.embedding)
    yield f"{100 * score.value:.2f}", "bold"
    yield f"{100 * score.low:.1f}–{100 * score.high:.1f}", "dim"
