"""Alignments drawn as SVG: two sentences, one above the other, and a line for every link."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from html import escape
from itertools import accumulate
from unicodedata import combining, east_asian_width

from movers.align.links import Link

CELL, GAP, MARGIN = 8.5, 14.0, 10.0
"""Width of a letter, and the room between words and around them, in pixels."""
TOP, BOTTOM, HEIGHT = 22.0, 118.0, 136.0
INK, LINE, FAINT = "#1b1f24", "#2166ac", "#8a8f98"
FONT = "14px ui-monospace, 'DejaVu Sans Mono', monospace"

HEAD = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>movers: which word goes with which</title>
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<style>
body { font: 15px/1.5 system-ui, sans-serif; color: #1b1f24; margin: 2rem auto; max-width: 72rem;
       padding: 0 1rem; }
.alignment { overflow-x: auto; margin: 1rem 0 2rem; }
</style></head><body>
<h1>Which word goes with which</h1>
<p>The darker a line, the surer the link; hover for its confidence. Words in a dashed frame match
nothing.</p>
"""
FOOT = "</body></html>\n"


def draw(
    sides: tuple[Sequence[str], Sequence[str]],
    links: Iterable[Link],
    alone: tuple[Collection[int], Collection[int]],
    label: str,
) -> str:
    """Draw the words of two sentences, their links, and the words alone as a piece of HTML."""
    rows, ends = [], []
    for words in sides:
        widths = [CELL * _cells(word) for word in words]
        *starts, end = accumulate((width + GAP for width in widths), initial=MARGIN)
        rows.append([start + width / 2 for start, width in zip(starts, widths, strict=True)])
        ends.append(end + MARGIN)
    parts = [
        *(_curve(link, *rows) for link in links),
        *_texts(sides[0], rows[0], TOP, alone[0]),
        *_texts(sides[1], rows[1], BOTTOM, alone[1]),
    ]
    return (
        f'<figure class="alignment" style="overflow-x:auto"><svg width="{max(ends):.0f}" '
        f'height="{HEIGHT:.0f}" role="img" aria-label="{escape(label)}" '
        f'style="font:{FONT}">{"".join(parts)}</svg></figure>\n'
    )


def _cells(word: str) -> int:
    """Letters a word is wide: none for a combining mark, two for a wide character."""
    return sum(
        0 if combining(letter) else 1 + (east_asian_width(letter) in "WF") for letter in word
    )


def _curve(link: Link, source: list[float], target: list[float]) -> str:
    a, b = source[link.source_index], target[link.target_index]
    top, bottom, half = TOP + 7, BOTTOM - 16, (TOP + BOTTOM) / 2
    return (
        f'<path d="M{a:.1f} {top} C{a:.1f} {half} {b:.1f} {half} {b:.1f} {bottom}" fill="none" '
        f'stroke="{LINE}" stroke-width="2" stroke-opacity="{0.15 + 0.85 * link.confidence:.2f}">'
        f"<title>{escape(f'{link.source_index}-{link.target_index}  {link}')}</title></path>"
    )


def _texts(
    words: Sequence[str], middles: list[float], height: float, unmatched: Collection[int]
) -> Iterable[str]:
    for number, (word, middle) in enumerate(zip(words, middles, strict=True)):
        alone = number in unmatched
        look = f'fill="{FAINT}" font-style="italic"' if alone else f'fill="{INK}"'
        note = f"{number}: {word}" + (" matches nothing" if alone else "")
        frame = (
            f'<rect x="{middle - CELL * _cells(word) / 2 - 4:.1f}" y="{height - 15}" rx="4" '
            f'width="{CELL * _cells(word) + 8:.1f}" height="20" fill="none" stroke="{FAINT}" '
            'stroke-dasharray="3 3"/>'
        )
        yield (
            f"{frame if alone else ''}"
            f'<text x="{middle:.1f}" y="{height}" text-anchor="middle" {look}>'
            f"<title>{escape(note)}</title>{escape(word)}</text>"
        )
