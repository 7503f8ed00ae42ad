"""Whole files: link the words of a table of pairs."""

from __future__ import annotations

import json
import logging
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from movers.align.aligning import align_pairs
from movers.align.drawing import FOOT, HEAD, draw
from movers.align.results import Alignment
from movers.align.sentences import Given
from movers.encode.transformer import TransformerEncoder
from movers.errors import InputError
from movers.io.pairs import check_words
from movers.io.tables import (
    STANDARD,
    Chunk,
    check_texts,
    count_rows,
    open_table,
    pick_columns,
)
from movers.runtime.atomic import replacing
from movers.runtime.progress import progress_bar

logger = logging.getLogger("movers")


@dataclass(frozen=True)
class Style:
    """How alignments are written: what stands before, after, and for each of them."""

    line: Callable[[Alignment], str]
    head: str = ""
    foot: str = ""


STYLES = {
    "pharaoh": Style(lambda found: found.pharaoh + "\n"),
    "json": Style(lambda found: json.dumps(found.to_dict(), ensure_ascii=False) + "\n"),
    "html": Style(draw, HEAD, FOOT),
}


@dataclass(frozen=True)
class Report:
    """What happened to a table: pairs aligned, links made, seconds taken."""

    rows: int
    links: int
    seconds: float


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
    """
    started, rows, links = time.monotonic(), 0, 0
    chosen = STYLES[style]
    total = count_rows(file, input_format)
    with (
        open_table(file, input_format) as table,
        progress_bar("aligning", "rows", total, progress=progress) as bar,
        _output(output, lambda: rows) as stream,
    ):
        names = pick_columns(table.columns, *columns)
        stream.write(chosen.head)
        for pairs in _pairs(table.chunks, names, tokens=tokens):
            for found in align_pairs(encoder, pairs, aligner=aligner):
                stream.write(chosen.line(found))
                links += len(found)
                rows += 1
                bar.update(1)
        stream.write(chosen.foot)
        if not rows:
            raise InputError(f"{file} has a header but no rows")
    return Report(rows, links, time.monotonic() - started)


def _pairs(
    chunks: Iterable[Chunk], names: tuple[str, str], *, tokens: bool
) -> Iterator[list[tuple[Given, Given]]]:
    """The pairs of every chunk."""
    row = 0
    for chunk in chunks:
        read = _words_of if tokens else check_texts
        source, target = (read(chunk[name], name, row) for name in names)
        row += len(source)
        yield list(zip(source, target, strict=True))


def _words_of(values: Any, column: str, first_row: int) -> list[Given]:
    """Cells as lists of words; an empty or missing cell has none."""
    listed = values if isinstance(values, list) else values.to_pylist()
    return [
        cell.split()
        if isinstance(cell, str)
        else list(check_words([] if cell is None else cell, f"row {row}, column {column!r}"))
        for row, cell in enumerate(listed, first_row + 1)
    ]


@contextmanager
def _output(path: Path, rows: Callable[[], int]) -> Iterator[IO[str]]:
    """Where lines go: a file that appears whole, or what is done so far in OUTPUT.partial."""
    if path == STANDARD:
        yield sys.stdout
        sys.stdout.flush()
        return
    partial = path.with_name(path.name + ".partial")
    try:
        with (
            replacing(path, partial=partial) as temporary,
            temporary.open("w", encoding="utf-8", newline="") as stream,
        ):
            yield stream
    except BaseException:
        if rows():
            logger.warning("%d finished rows are kept in %s", rows(), partial)
        raise
