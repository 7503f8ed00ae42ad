"""Whole files: link the words of a table of pairs."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from movers.align.aligning import align_pairs, signature
from movers.align.drawing import FOOT, HEAD
from movers.align.reading import Given
from movers.align.results import Alignment
from movers.bulk.noticing import LongSentences, Rowlist
from movers.bulk.output import Kept, Run, paired
from movers.encode.transformer import TransformerEncoder
from movers.io import tables
from movers.io.pairs import check_words
from movers.runtime.progress import progress_bar

Pairs = list[tuple[Given, Given]]


@dataclass(frozen=True)
class Style:
    """How alignments are written: what stands before, after, and for each of them."""

    line: Callable[[Alignment], str]
    head: str = ""
    foot: str = ""

    def page(self, found: Alignment) -> str:
        """One alignment by itself."""
        return self.head + self.line(found) + self.foot


STYLES = {
    "pharaoh": Style(lambda found: found.pharaoh + "\n"),
    "json": Style(lambda found: json.dumps(found.to_dict(), ensure_ascii=False) + "\n"),
    "html": Style(Alignment.drawn, HEAD, FOOT),
}


@dataclass(frozen=True)
class Report:
    """What happened to a table.

    ``cut`` lists rows with a sentence that is longer than the model reads; ``resumed`` counts those
    that an earlier run had finished.
    """

    rows: int
    links: int
    seconds: float
    cut: Rowlist
    resumed: int = 0


def align_table(
    file: Path,
    output: Path,
    encoder: TransformerEncoder,
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
    started, links = time.monotonic(), 0
    run = Run(file, output, tables.count_rows(file, input_format), resume)
    with tables.open_table(file, input_format) as table:
        names = tables.pick_columns(table.columns, *columns)
        task = {"links": signature(encoder, aligner), "columns": [*names], "output": style}
        rows = paired(table.chunks, names, _words_of if tokens else tables.check_texts)
        make = partial(_aligned, encoder, aligner, STYLES[style], LongSentences())
        bar = progress_bar("aligning", "rows", run.total, progress=progress)
        for _, step in run.fill(rows, make, partial(_lines, style=STYLES[style]), task, bar):
            links += sum(step.values["links"])
    return Report(run.rows, links, time.monotonic() - started, run.cut, run.resumed)


def _aligned(
    encoder: TransformerEncoder, aligner: str, style: Style, long: LongSentences, pairs: Pairs
) -> Kept:
    """What is written and counted of some rows."""
    with long.noticed():
        found = [*align_pairs(encoder, pairs, aligner=aligner)]
    values: dict[str, list[Any]] = {"line": [*map(style.line, found)], "links": [*map(len, found)]}
    return Kept(values, long.places([(one.source, one.target) for one in found]))


@contextmanager
def _lines(path: Path, style: Style) -> Iterator[tables.Write]:
    """Write the lines of chunks between what stands before and after them all."""
    with tables.text_output(path) as stream:
        head = [style.head]

        def write(chunk: tables.Chunk) -> None:
            stream.writelines((*head, *chunk["line"]))
            head.clear()
            stream.flush()

        yield write
        stream.write(style.foot)


def _words_of(values: Any, column: str, first_row: int) -> list[Given]:
    """Cells as lists of words; an empty or missing cell has none."""
    return [
        cell.split()
        if isinstance(cell, str)
        else list(check_words([] if cell is None else cell, f"row {row}, column {column!r}"))
        for row, cell in enumerate(tables.plain_values(values), first_row + 1)
    ]
