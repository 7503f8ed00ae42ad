"""Parts of an HTML page that needs neither server nor network: tables, and plots as SVG."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

SIDE, EDGE = 320, 40
STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:52rem;margin:2rem auto;padding:0 1rem;"
    "color-scheme:light dark}table{border-collapse:collapse}td,th{padding:.2rem .8rem;"
    "text-align:left}svg{max-width:100%}line,path{stroke:currentColor;fill:none}"
    "text{fill:currentColor;font-size:12px}"
)


def page_of(title: str, parts: Iterable[str]) -> str:
    """Return a page of parts that are HTML already."""
    body = "\n".join(parts)
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>movers: {escape(title)}'
        f"</title><style>{STYLE}</style><h1>{escape(title)}</h1>{body}</html>"
    )


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table of texts."""
    head = "".join(f"<th>{escape(one)}</th>" for one in heads)
    cells = ("".join(f"<td>{escape(cell)}</td>" for cell in row) for row in rows)
    return f"<table><tr>{head}</tr>{''.join(f'<tr>{row}</tr>' for row in cells)}</table>"


def plot(
    points: Sequence[tuple[float, float]], across: str, up: str, *, diagonal: bool = False
) -> str:
    """Draw points of the unit square; on request the diagonal too."""
    places = [
        (EDGE + SIDE * min(1.0, max(0.0, x)), EDGE / 2 + SIDE * (1 - min(1.0, max(0.0, y))))
        for x, y in points
    ]
    path = " ".join(f"{'ML'[k > 0]}{x:.1f} {y:.1f}" for k, (x, y) in enumerate(places))
    dots = "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4"/>' for x, y in places)
    left, low, right, top = EDGE, EDGE / 2 + SIDE, EDGE + SIDE, EDGE / 2
    ideal = (
        f'<line x1="{left}" y1="{low}" x2="{right}" y2="{top}" stroke-dasharray="4"/>'
        if diagonal
        else ""
    )
    return (
        f'<svg role="img" aria-label="{escape(up)} by {escape(across)}" width="{right + EDGE}" '
        f'height="{low + EDGE}"><path d="M{left} {top}V{low}H{right}"/>{ideal}<path d="{path}"/>'
        f'{dots}<text x="{left}" y="{low + 25}">{escape(across)}</text>'
        f'<text x="{left + 5}" y="{top + 5}">{escape(up)}</text></svg>'
    )
