"""A report as Markdown whose tables read as text, and as one HTML file that needs nothing else."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from movers.evaluate.document import ReportTable, Row, Section
from movers.evaluate.svg import inlined


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
        loader=PackageLoader("movers.evaluate"),
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
