"""Whole files: add distances to a table of pairs, fit statistics on a text."""

from __future__ import annotations

import logging
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from tqdm.auto import tqdm

from movers.arrays import Floats
from movers.errors import InputError
from movers.io.columns import all_columns, fill_columns
from movers.io.tables import (
    STANDARD,
    Chunk,
    Table,
    Write,
    check_texts,
    count_rows,
    format_of,
    open_table,
    pick_columns,
    refuse_taken,
    table_writer,
)
from movers.measure.fitting import fit_statistics
from movers.measure.statistics import Statistics
from movers.measure.structure import parse_numbers
from movers.runtime.atomic import replacing
from movers.runtime.notices import UndefinedWarning
from movers.scorer import Scorer

logger = logging.getLogger("movers")

Rows = tuple[Chunk, list[tuple[str, str]]]


@dataclass(frozen=True)
class Report:
    """What happened to a table: rows written, NaN per measure, seconds taken."""

    rows: int
    undefined: dict[str, int]
    seconds: float


def score_table(
    file: Path,
    output: Path,
    scorers: dict[str, Scorer],
    *,
    columns: tuple[str | None, str | None] = (None, None),
    input_format: str | None = None,
    output_format: str | None = None,
    fit: bool = False,
    progress: bool = False,
) -> Report:
    """Add distances, and similarities where there is a scale, to a table of sentence pairs.

    Parameters
    ----------
    file, output
        Tables to read and write; ``-`` is standard input or output.
    scorers
        Scorers by the name of the column they fill.
    columns
        Names of the two columns to compare; None finds them.
    input_format, output_format
        Formats where the file names do not tell; the output's default is the input's.
    fit
        Fit the statistics on the sentences of the table first.
    progress
        Show a progress bar on standard error.
    """
    started = time.monotonic()
    if output_format and output != STANDARD and output_format != format_of(output):
        raise InputError(f"asked for {output_format}, but {output.name} ends in another format")
    kind = output_format or (
        format_of(file, input_format) if output == STANDARD else format_of(output)
    )
    undefined = dict.fromkeys(scorers, 0)
    rows = 0
    with open_table(file, input_format) as table:
        source, target = pick_columns(table.columns, *columns)
        refuse_taken(table.columns, scorers)
        chunks: Iterable[Rows] = _checked(table.chunks, source, target)
        if fit:
            chunks = _fitted(chunks, scorers, progress=progress)
        for scorer in scorers.values():
            scorer.prepare()
        names = all_columns(scorers)
        refuse_taken(table.columns, names)
        bar = tqdm(
            total=count_rows(file, input_format), unit="row", desc="scoring", disable=not progress
        )
        with bar, _told(output, lambda: rows), _output(output, kind, table, names) as write:
            for chunk, pairs in chunks:
                for name, scorer in scorers.items():
                    found = named_columns(name, scorer, pairs)
                    chunk |= {column: values.tolist() for column, values in found.items()}
                    undefined[name] += int(np.isnan(found[name]).sum())
                write(chunk)
                rows += len(pairs)
                bar.update(len(pairs))
            if not rows:
                raise InputError(f"{file} has a header but no rows")
    return Report(rows, undefined, time.monotonic() - started)


def fit_file(
    file: Path, scorer: Scorer, embeddings: str | None = None, *, progress: bool = False
) -> Statistics:
    """Fit statistics on a text with one sentence per line.

    ``embeddings`` names the layers to whiten (``"0,6"``, ``"all"``); None takes the scorer's own.
    """
    if not file.is_file():
        raise InputError(f"no file {str(file)!r}")
    try:
        sentences = [line.strip() for line in file.read_text("utf-8").splitlines() if line.strip()]
    except UnicodeDecodeError as error:
        raise InputError(f"{file}: not UTF-8 (byte {error.start})") from error
    if not sentences:
        raise InputError(f"{file} holds no sentence; expected one per line")
    layers: tuple[int, ...] = (scorer.embedding,)
    if embeddings is not None:
        layers = parse_numbers(embeddings, range(scorer.encoder.layers + 1), "embedding layer")
    statistics, _ = fit_statistics(
        scorer.encoder,
        sentences,
        scorer.fit_request(layers),
        whitening=scorer.settings.whitening_to_fit,
        variability=True,
        origin=f"{len(sentences)} sentences of {file.name}",
        progress=progress,
    )
    single = ["sif", "usif", *(["synwmd"] if scorer.settings.parser is not None else [])]
    for name in single:
        own = scorer.using(name, statistics=statistics, layers=None, embedding=layers[-1])
        statistics = own.fit(sentences, progress=progress).statistics
    return statistics


def _checked(chunks: Iterable[Chunk], source: str, target: str) -> Iterator[Rows]:
    """Every chunk with its pairs of sentences."""
    row = 0
    for chunk in chunks:
        texts = {name: check_texts(chunk[name], name, row) for name in (source, target)}
        row += len(texts[source])
        yield chunk, list(zip(texts[source], texts[target], strict=True))


def _fitted(chunks: Iterable[Rows], scorers: dict[str, Scorer], *, progress: bool) -> list[Rows]:
    """Read the whole table, put fitted scorers in place of the given ones, hand the rows on."""
    held = list(chunks)
    sentences = [pair[side] for side in (0, 1) for _, pairs in held for pair in pairs]
    first = next(iter(scorers.values()))
    for name, scorer in scorers.items():
        # Handing the statistics on lets every measure fit only what it adds to them.
        fitted = scorer if scorer is first else scorer.using(statistics=first.statistics)
        scorers[name] = first = fitted.fit(sentences, progress=progress)
    return held


def named_columns(name: str, scorer: Scorer, pairs: list[tuple[str, str]]) -> dict[str, Floats]:
    """Distances and similarities by column; an error names it, NaN stands without a warning."""
    with warnings.catch_warnings():
        # Counted over the whole file instead.
        warnings.simplefilter("ignore", UndefinedWarning)
        try:
            return fill_columns(name, scorer, scorer.distances(pairs))
        except InputError as error:
            raise error.about(name) from error


@contextmanager
def _told(output: Path, rows: Callable[[], int]) -> Iterator[None]:
    """Say where finished rows are when a run is broken off."""
    try:
        yield
    except BaseException:
        if rows() and output != STANDARD:
            logger.warning("%d finished rows are kept in %s", rows(), _partial(output))
        raise


def _partial(output: Path) -> Path:
    return output.with_name(output.name + ".partial")


@contextmanager
def _output(path: Path, kind: str, table: Table, names: list[str]) -> Iterator[Write]:
    columns = [*table.columns, *names]
    if path == STANDARD:
        with table_writer(path, kind, columns, table.schema) as write:
            yield write
        return
    with (
        replacing(path, partial=_partial(path)) as temporary,
        table_writer(temporary, kind, columns, table.schema) as write,
    ):
        yield write
