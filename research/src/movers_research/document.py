"""A report: sections of sentences, tables and figures, written as Markdown or as HTML."""

from __future__ import annotations

import html
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from movers_research.svg import inlined

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
class ReportTable:
    """A table with one or two lines of headings; a folded one opens on request.

    Headings stand above their parts; one without parts is a column itself. Entries of a ``verbal``
    one are words, which are set to the left, and not numbers.
    """

    corner: str
    headings: Mapping[str, Sequence[str]]
    rows: Sequence[Row]
    title: str = ""
    folded: bool = False
    verbal: bool = False

    @property
    def openings(self) -> list[bool]:
        """For each column, whether it is the first below a heading."""
        return [
            bool(parts) and not number
            for parts in self.headings.values()
            for number in range(len(parts) or 1)
        ]


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


def write_markdown(title: str, sections: Sequence[Section]) -> str:
    """The whole report; figures are linked, not contained."""
    return _render("report.md", escape, title, sections)


def write_webpage(title: str, sections: Sequence[Section]) -> str:
    """The whole report: no network, no script."""
    return _render("report.html", html.escape, title, sections)


def _render(
    template: str, escaping: Callable[[str], str], title: str, sections: Sequence[Section]
) -> str:
    """Fill a template; whatever it prints is escaped for its own language."""

    def printed(value: Any) -> Markup:
        return value if isinstance(value, Markup) else Markup(escaping(str(value)))

    environment = Environment(
        loader=PackageLoader("movers_research"),
        autoescape=True,
        finalize=printed,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {
        "inlined": lambda svg: Markup(inlined(svg)),
        "grid": lambda table: map(Markup, _grid(table)),
    }
    return environment.get_template(template).render(title=title, sections=sections)


def escape(text: str) -> str:
    r"""Text that Markdown shows as it is.

    >>> print(escape("a|b *c* <d>"))
    a\|b \*c\* \<d\>
    """
    return re.sub(r"([\\`*_\[\]<>|&])", r"\\\1", " ".join(text.split()))


def _grid(table: ReportTable) -> Iterator[str]:
    """Lines of a table, padded to the width of their widest entry, numbers to the right."""
    header = [table.corner]
    for heading, parts in table.headings.items():
        first, *others = parts or [""]
        header += [f"{heading}: {first}" if first else heading, *others]
    lines = [[*map(escape, header)], *(_line(row, len(header)) for row in table.rows)]
    widths = [max(3, *map(len, column)) for column in zip(*lines, strict=True)]
    ends = ["-", *("-" if table.verbal else ":" for _ in table.openings)]
    rule = ["-" * (width - 1) + end for width, end in zip(widths, ends, strict=True)]
    for line in (lines[0], rule, *lines[1:]):
        entries = zip(line, widths, ends, strict=True)
        padded = (f"{text:{'>' if end == ':' else '<'}{width}}" for text, width, end in entries)
        yield f"| {' | '.join(padded)} |"


def _line(row: Row, width: int) -> list[str]:
    if not row.cells:
        return [f"**{escape(row.label)}**"] + [""] * (width - 1)
    texts = (f"**{escape(cell.text)}**" if cell.best else escape(cell.text) for cell in row.cells)
    entries = zip(texts, (escape(cell.aside) for cell in row.cells), strict=True)
    label = f"{'↳ ' if row.indent else ''}{escape(row.label)}"
    return [label, *(" ".join(filter(None, entry)) for entry in entries)]
