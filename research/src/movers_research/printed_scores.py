"""Scores on a terminal: intervals, what structure gains, and what others published."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console
from rich.table import Table
from rich.text import Text

from movers_research.scores import Evaluation, Gain, Score, grouped


def print_scores(console: Console, results: Evaluation) -> None:
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
        table = Table(box=None, header_style="dim", pad_edge=False)
        for heading in ("measure", "layers"):
            table.add_column(heading, no_wrap=True)
        for heading in ("vectors", "score", "95 %", *gained):
            table.add_column(heading, justify="right", no_wrap=True)
        for row, gain in zip(rows, found, strict=True):
            theirs = "" if row.published is None else f"{100 * row.published:.2f}"
            cells = [*_score_cells(row), *_gain_cells(gain) * any(found), *[theirs] * published]
            table.add_row(*cells)
        console.print(Text(about, "bold"))
        console.print(table)
        console.print()
    for note in results.notes:
        console.print(Text(note, "dim"))


def _gain_cells(gain: Gain | None) -> list[str]:
    """What a line says of what structure gains, over which measure; nothing for one without."""
    return [f"{100 * gain.value:+.2f}", gain.base, f"{gain.p:.3f}"] if gain else [""] * 3


def _score_cells(score: Score) -> Iterator[Text | str]:
    """What a line says of a score."""
    column, layers = score.column, score.layers
    if score.selection != layers:
        layers = f"{score.selection} {layers}"
    yield column.method + ("" if column.mix in (None, 0.5) else f" λ={column.mix:g}")
    yield layers.strip()
    yield str(column.embedding)
    yield Text(f"{100 * score.value:.2f}", "bold")
    yield Text(f"{100 * score.low:.1f}–{100 * score.high:.1f}", "dim")
