"""A report as one HTML file that needs nothing else: no network, no script."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape
from importlib.resources import files
from string import Template

from movers.evaluate.document import Cell, Drawing, Row, Section, Table
from movers.evaluate.svg import inlined

ARROWS = {"gain": "▲", "loss": "▼"}


def write_webpage(title: str, sections: Iterable[Section]) -> str:
    """The whole report."""
    sections = tuple(sections)
    here = files("movers.evaluate")
    page = Template(here.joinpath("report.html").read_text("utf-8"))
    return page.substitute(
        title=escape(title),
        style=here.joinpath("report.css").read_text("utf-8"),
        contents="".join(
            f'<li><a href="#{_anchor(s)}">{escape(s.title)}</a></li>' for s in sections
        ),
        sections="\n".join(map(_section, sections)),
    )


def _link(section: Section) -> str:
    return f'<li><a href="#{_anchor(section)}">{escape(section.title)}</a></li>'


def _anchor(section: Section) -> str:
    return re.sub(r"\W+", "-", section.title.lower())


def _section(section: Section) -> str:
    parts = [f"<h2>{escape(section.title)}</h2>"]
    parts += [f"<p>{escape(text)}</p>" for text in section.text]
    parts += [_block(block) for block in section.blocks]
    if section.points:
        parts.append(f"<ul>{''.join(f'<li>{escape(point)}</li>' for point in section.points)}</ul>")
    return f'<section id="{_anchor(section)}">\n' + "\n".join(parts) + "\n</section>"


def _block(block: Table | Drawing) -> str:
    html = _figure(block) if isinstance(block, Drawing) else _table(block)
    if block.folded:
        return f"<details><summary>{escape(block.title)}</summary>\n{html}\n</details>"
    return html


def _figure(drawing: Drawing) -> str:
    title = "" if drawing.folded else f"<strong>{escape(drawing.title)}.</strong> "
    caption = f"<figcaption>{title}{escape(drawing.description)}</figcaption>"
    return f"<figure>\n{inlined(drawing.svg)}\n{caption}\n</figure>"


def _table(table: Table) -> str:
    title = "" if table.folded or not table.title else f"<caption>{escape(table.title)}</caption>"
    rows = "\n".join(_row(row, table) for row in table.rows)
    kind = ' class="verbal"' if table.verbal else ""
    return (
        f'<div class="scroll" tabindex="0"><table{kind}>{title}\n<thead>{_header(table)}</thead>\n'
        f"<tbody>\n{rows}\n</tbody></table></div>"
    )


def _header(table: Table) -> str:
    deep = any(heading.parts for heading in table.headings)
    rows = 2 if deep else 1
    first = [f'<th scope="col" rowspan="{rows}">{escape(table.corner)}</th>']
    for heading in table.headings:
        over = f'scope="colgroup" class="open" colspan="{heading.span}"'
        alone = f'scope="col" rowspan="{rows}"'
        first.append(f"<th {over if heading.parts else alone}>{escape(heading.text)}</th>")
    second = [
        f'<th scope="col"{_opening(number)}>{escape(part)}</th>'
        for heading in table.headings
        for number, part in enumerate(heading.parts)
    ]
    lines = (first, second) if deep else (first,)
    return "".join(f"<tr>{''.join(line)}</tr>" for line in lines)


def _opening(number: int) -> str:
    """The class of the first column below a heading, which a line sets off."""
    return "" if number else ' class="open"'


def _row(row: Row, table: Table) -> str:
    if not row.cells:
        span = 1 + sum(heading.span for heading in table.headings)
        label = f"<span>{escape(row.label)}</span>"
        return f'<tr class="group"><th scope="rowgroup" colspan="{span}">{label}</th></tr>'
    indent = ' class="indent"' if row.indent else ""
    opening = [number == 0 and bool(h.parts) for h in table.headings for number in range(h.span)]
    cells = "".join(_entry(cell, start) for cell, start in zip(row.cells, opening, strict=True))
    return f'<tr{indent}><th scope="row">{escape(row.label)}</th>{cells}</tr>'


def _entry(cell: Cell, opening: bool) -> str:
    text = escape(cell.text)
    if cell.tone:
        text = text.replace("-", "−")
    if cell.tone in ARROWS:
        text = f'<i aria-hidden="true">{ARROWS[cell.tone]}</i>{text}'
    text = f"<b>{text}</b>" if cell.best else text
    aside = f" <small>{escape(cell.aside)}</small>" if cell.aside else ""
    classes = " ".join(filter(None, ("open" if opening else "", cell.tone)))
    marked = f' class="{classes}"' if classes else ""
    hint = f' title="{escape(cell.hint)}"' if cell.hint else ""
    return f"<td{marked}{hint}>{text}{aside}</td>"
