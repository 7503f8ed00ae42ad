"""The report of a judge as one HTML page with plots, drawn as SVG."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from movers.judge.report import JudgeReport

SIDE, EDGE = 320, 40
STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:52rem;margin:2rem auto;padding:0 1rem;"
    "color-scheme:light dark}table{border-collapse:collapse}td,th{padding:.2rem .8rem;"
    "text-align:left}svg{max-width:100%}line,path{stroke:currentColor;fill:none}"
    "text{fill:currentColor;font-size:12px}"
)


def render(report: JudgeReport) -> str:
    """Return the page."""
    scores = [
        [one.method, one.metric, f"{100 * one.value:.1f}", f"{100 * one.low:.1f} to "
         f"{100 * one.high:.1f}", "" if one.behind is None else f"{100 * one.behind[0]:+.1f} "
         f"({100 * one.behind[1]:+.1f} to {100 * one.behind[2]:+.1f})"]
        for one in report.scores
    ]  # fmt: skip
    first = next(report.lines())
    parts = [
        f"<p>{escape(first)}</p>",
        _table(["", "metric", "× 100", "95 %", "judge ahead"], scores),
    ]
    if report.bins:
        points = [(one.probability, one.share) for one in report.bins]
        parts += ["<h2>Calibration</h2>", _plot(points, "probability", "share the same", line=True)]
        parts.append(f"<p>Brier {report.brier:.3f}, expected error {report.error:.3f}.</p>")
    if report.cuts:
        cuts = [
            [f"{one.precision:.2f}", "not reached" if one.probability is None else
             f"{one.probability:.2f}", "" if one.recall is None else f"{one.recall:.2f}"]
            for one in report.cuts
        ]  # fmt: skip
        parts.append(_table(["precision", "from probability", "recall"], cuts))
    if len(report.curve) > 1:
        most = report.curve[-1][0]
        points = [(labels / most, value) for labels, value in report.curve]
        title = f"labels, up to {most:,}"
        parts += ["<h2>More labels</h2>", _plot(points, title, report.scores[0].metric)]
    parts.append(f"<p>{escape(report.advice)}</p>")
    if report.surprises:
        rows = [
            [f"{one.label:g}", f"{one.probability:.2f}", one.source, one.target]
            for one in report.surprises
        ]
        parts += ["<h2>Labels that surprise most</h2>", _table(["label", "judge", "A", "B"], rows)]
    body = "\n".join(parts)
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>movers: a judge</title>'
        f"<style>{STYLE}</style><h1>What the judge does on pairs it has not seen</h1>{body}</html>"
    )


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    head = "".join(f"<th>{escape(one)}</th>" for one in heads)
    cells = ("".join(f"<td>{escape(cell)}</td>" for cell in row) for row in rows)
    return f"<table><tr>{head}</tr>{''.join(f'<tr>{row}</tr>' for row in cells)}</table>"


def _plot(
    points: Sequence[tuple[float, float]], across: str, up: str, *, line: bool = False
) -> str:
    """Draw points of the unit square; with ``line``, the diagonal as well."""
    places = [
        (EDGE + SIDE * min(1.0, max(0.0, x)), EDGE / 2 + SIDE * (1 - min(1.0, max(0.0, y))))
        for x, y in points
    ]
    path = " ".join(f"{'ML'[k > 0]}{x:.1f} {y:.1f}" for k, (x, y) in enumerate(places))
    dots = "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4"/>' for x, y in places)
    left, low, right, top = EDGE, EDGE / 2 + SIDE, EDGE + SIDE, EDGE / 2
    ideal = (
        f'<line x1="{left}" y1="{low}" x2="{right}" y2="{top}" stroke-dasharray="4"/>'
        if line
        else ""
    )
    return (
        f'<svg role="img" aria-label="{escape(up)} by {escape(across)}" width="{right + EDGE}" '
        f'height="{low + EDGE}"><path d="M{left} {top}V{low}H{right}"/>{ideal}<path d="{path}"/>'
        f'{dots}<text x="{left}" y="{low + 25}">{escape(across)}</text>'
        f'<text x="{left + 5}" y="{top + 5}">{escape(up)}</text></svg>'
    )
