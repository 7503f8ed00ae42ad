"""A report as Markdown whose tables can be read as text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from movers.evaluate.document import Cell, Drawing, Row, Section, Table


def write_markdown(title: str, sections: Iterable[Section]) -> str:
    """The whole report; figures are linked, not contained."""
    parts = [f"# {escape(title)}"]
    for section in sections:
        parts += [f"## {escape(section.title)}", *map(escape, section.text)]
        parts += [_block(block) for block in section.blocks]
        if section.points:
            parts.append("\n".join(f"- {escape(point)}" for point in section.points))
    return "\n\n".join(parts) + "\n"


def escape(text: str) -> str:
    r"""Text that Markdown shows as it is.

    >>> print(escape("a|b *c* <d>"))
    a\|b \*c\* \<d\>
    """
    return re.sub(r"([\\`*_\[\]<>|&])", r"\\\1", " ".join(text.split()))


def _block(block: Table | Drawing) -> str:
    if isinstance(block, Drawing):
        title, description = escape(block.title), escape(block.description)
        return f"![{title}](figures/{block.name}.svg)\n\n*{title}.* {description}"
    return "\n\n".join(filter(None, (block.title and f"### {escape(block.title)}", _grid(block))))


def _grid(table: Table) -> str:
    """Columns padded to the width of their widest entry, numbers to the right."""
    lines = [_header(table), *(_line(row, table) for row in table.rows)]
    widths = [max(3, *map(len, column)) for column in zip(*lines, strict=True)]
    right = [False, *(not table.verbal for _ in widths[1:])]
    rule = [
        "-" * (width - 1) + (":" if end else "-") for width, end in zip(widths, right, strict=True)
    ]
    padded = (_padded(line, widths, right) for line in lines)
    header, *body = (f"| {' | '.join(line)} |" for line in padded)
    return "\n".join([header, f"| {' | '.join(rule)} |", *body])


def _padded(line: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> list[str]:
    return [
        text.rjust(width) if end else text.ljust(width)
        for text, width, end in zip(line, widths, right, strict=True)
    ]


def _header(table: Table) -> list[str]:
    """Two lines of headings as one: the group stands before its first column."""
    names = [table.corner]
    for heading in table.headings:
        first, *others = heading.parts or ("",)
        names += [" ".join(filter(None, (f"{heading.text}:" if first else heading.text, first)))]
        names += others
    return list(map(escape, names))


def _line(row: Row, table: Table) -> list[str]:
    if not row.cells:
        return [f"**{escape(row.label)}**", *[""] * sum(h.span for h in table.headings)]
    mark = "↳ " if row.indent else ""
    return [mark + escape(row.label), *map(_entry, row.cells)]


def _entry(cell: Cell) -> str:
    text = escape(cell.text)
    return " ".join(filter(None, (f"**{text}**" if cell.best else text, escape(cell.aside))))
