"""Whole files: link the words of a table of pairs."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from operator import itemgetter
from pathlib import Path
from typing import Any

from movers.align.align_texts import align_pairs, signature
from movers.align.alignment import Alignment
from movers.align.reading import Given
from movers.bulk.output import LINKS, Pairs, Report, Values, paired
from movers.encode.encoder import Encoder
from movers.io import tables
from movers.io.columns import UNREAD
from movers.io.pairs import check_words
from movers.runtime.progress import progress_bar

STYLES: dict[str, Callable[[Alignment], str]] = {
    "pharaoh": lambda alignment: alignment.pharaoh + "\n",
    "json": lambda alignment: json.dumps(alignment.to_dict(), ensure_ascii=False) + "\n",
}
"""How an alignment is written on a line."""


def align_table(
    file: Path,
    output: Path,
    encoder: Encoder,
    *,
    columns: tuple[str | None, str | None] = (None, None),
    input_format: str | None = None,
    tokens: bool = False,
    aligner: str,
    style: str = "pharaoh",
    resume: bool = False,
    progress: bool = False,
) -> Report:
    """Write the links of every pair of a table, in the order of its rows.

    Parameters
    ----------
    file, output
        Table to read and text to write; ``-`` is standard input or output.
    columns
        Names of the two columns; None finds them.
    input_format
        Format of the table where its name does not tell.
    tokens
        Whether cells hold words: a list of them, or a text that is split at blanks.
    aligner
        Row of `movers.align.aligners.ALIGNERS`.
    style
        Row of `STYLES`.
    resume
        Go on behind the rows that a run broken off has left in ``OUTPUT.partial``.
    progress
        Show a progress bar on standard error.
    """
    report = Report(file, output, tables.count_rows(file, input_format), resume)
    writer = partial(tables.line_writer, lines=itemgetter("line"))
    with tables.open_table(file, input_format) as table:
        names = tables.pick_columns(table.columns, *columns)
        task = {"links": signature(encoder, aligner), "columns": [*names], "output": style}
        rows = paired(table.chunks, names, _words_of if tokens else tables.check_texts)

        def make(pairs: Pairs) -> Values:
            alignments = [*align_pairs(encoder, pairs, aligner=aligner)]
            texts = ((alignment.source, alignment.target) for alignment in alignments)
            return {
                "line": [*map(STYLES[style], alignments)],
                LINKS: [*map(len, alignments)],
                UNREAD: [sum(len(encoder.unread(text).split()) for text in two) for two in texts],
            }

        bar = progress_bar("aligning", "rows", report.total, progress=progress)
        report.fill(rows, make, writer, task, bar)
    return report


def _words_of(values: Any, column: str, first_row: int) -> list[Given]:
    """Return cells as lists of words; an empty or missing cell has none."""
    return [
        cell.split()
        if isinstance(cell, str)
        else list(check_words([] if cell is None else cell, f"row {row}, column {column!r}"))
        for row, cell in enumerate(tables.plain_values(values), first_row + 1)
    ]
