"""A report before it is Markdown or HTML: sections of sentences, tables and figures."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Tone = Literal["", "gain", "loss", "quiet"]
MISSING = "–"


@dataclass(frozen=True)
class Cell:
    """One entry of a table: text, an aside in a lighter tone, and a hint that a pointer brings up.

    ``tone`` tells a gain, a loss or something to compare with; ``best`` is the best of a column.
    """

    text: str = ""
    aside: str = ""
    tone: Tone = ""
    best: bool = False
    hint: str = ""


@dataclass(frozen=True)
class Row:
    """One line of a table; a line without cells opens a group of lines."""

    label: str
    cells: tuple[Cell, ...] = ()
    indent: bool = False


def row(label: str, *entries: Cell | str, indent: bool = False) -> Row:
    """A line of a table, of cells and of texts that become some."""
    cells = (Cell(entry) if isinstance(entry, str) else entry for entry in entries)
    return Row(label, tuple(cells), indent)


@dataclass(frozen=True)
class Heading:
    """What stands above its parts; one without parts is a column itself."""

    text: str
    parts: tuple[str, ...] = ()


@dataclass(frozen=True)
class ReportTable:
    """A table with one or two lines of headings; a folded one opens on request."""

    title: str
    corner: str
    headings: tuple[Heading, ...]
    rows: tuple[Row, ...]
    folded: bool = False
    verbal: bool = False
    """Whether entries are words, which are set to the left, and not numbers."""

    @property
    def openings(self) -> list[bool]:
        """For each column, whether it is the first below a heading."""
        return [
            bool(heading.parts) and not number
            for heading in self.headings
            for number in range(len(heading.parts) or 1)
        ]


def table(
    corner: str,
    headings: Iterable[Heading | str],
    rows: Iterable[Row],
    *,
    title: str = "",
    folded: bool = False,
    verbal: bool = False,
) -> ReportTable:
    """A table, of headings and of texts that become some."""
    above = (Heading(one) if isinstance(one, str) else one for one in headings)
    return ReportTable(title, corner, tuple(above), tuple(rows), folded, verbal)


@dataclass(frozen=True)
class Drawing:
    """A finished figure."""

    name: str
    title: str
    description: str
    svg: str
    folded: bool = False


@dataclass(frozen=True)
class Section:
    """A chapter of the report."""

    title: str
    text: tuple[str, ...] = ()
    blocks: tuple[ReportTable | Drawing, ...] = ()
    points: tuple[str, ...] = ()
    """Sentences for a list."""

    @property
    def anchor(self) -> str:
        """What a link to it ends in."""
        return re.sub(r"\W+", "-", self.title.lower())

    def __bool__(self) -> bool:
        """Whether there is anything to show."""
        return bool(self.blocks or self.points)


def percent(value: float | None) -> str:
    """A metric times 100, with two decimals.

    >>> percent(0.66444), percent(None)
    ('66.44', '–')
    """
    return MISSING if value is None or math.isnan(value) else f"{100 * value:.2f}"


def signed(value: float) -> str:
    """A difference of metrics times 100, with its sign unless it is nought.

    >>> signed(0.1042), signed(-0.00001)
    ('+10.42', '0.00')
    """
    rounded = round(100 * value, 2)
    return MISSING if math.isnan(value) else f"{rounded:+.2f}" if rounded else "0.00"


def change(value: float, *, aside: str = "", hint: str = "") -> Cell:
    """The entry for a gain or a loss."""
    text = signed(value)
    tones: dict[str, Tone] = {"+": "gain", "-": "loss"}
    return Cell(text, aside, tones.get(text[0], ""), hint=hint)


def quiet(text: str | None) -> Cell:
    """An entry to compare with; an empty one for None."""
    return Cell() if text is None else Cell(text, tone="quiet")
