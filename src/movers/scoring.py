"""Whole files: add distances to a table of pairs, fit statistics on a text."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from tqdm.auto import tqdm

from movers.atomic import replacing
from movers.errors import InputError
from movers.measure.fitting import fit_statistics
from movers.measure.statistics import Statistics
from movers.measure.structure import parse_numbers
from movers.notices import UndefinedWarning
from movers.scorer import Scorer
from movers.tables import (
    STANDARD,
    Chunk,
    Table,
    Write,
    check_texts,
    count_rows,
    format_of,
    open_table,
    pick_columns,
    table_writer,
)


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
    """Add one column of distances per scorer to a table of sentence pairs.

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
    kind = output_format or (
        format_of(file, input_format) if output == STANDARD else format_of(output)
    )
    undefined = dict.fromkeys(scorers, 0)
    rows = 0
    with open_table(file, input_format) as table:
        source, target = pick_columns(table.columns, *columns)
        if taken := [name for name in scorers if name in table.columns]:
            raise InputError(f"the table has a column {taken[0]!r} already; rename it first")
        chunks: Iterable[Chunk] = _checked(table.chunks, source, target)
        if fit:
            chunks = _fitted(chunks, scorers, source, target, progress=progress)
        for scorer in scorers.values():
            scorer.prepare()
        bar = tqdm(
            total=count_rows(file, input_format), unit="row", desc="scoring", disable=not progress
        )
        with bar, _output(output, kind, table, list(scorers)) as write:
            for chunk in chunks:
                pairs = list(zip(chunk[source], chunk[target], strict=True))
                for name, scorer in scorers.items():
                    found = _distances(scorer, pairs)
                    chunk[name] = found.tolist()
                    undefined[name] += int(np.isnan(found).sum())
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


def _checked(chunks: Iterable[Chunk], source: str, target: str) -> Iterator[Chunk]:
    row = 0
    for chunk in chunks:
        check_texts(chunk[source], source, row)
        row += len(check_texts(chunk[target], target, row))
        yield chunk


def _fitted(
    chunks: Iterable[Chunk],
    scorers: dict[str, Scorer],
    source: str,
    target: str,
    *,
    progress: bool,
) -> list[Chunk]:
    """Read the whole table, put fitted scorers in place of the given ones, hand the rows on."""
    held = list(chunks)
    sentences = [text for name in (source, target) for chunk in held for text in chunk[name]]
    first = next(iter(scorers.values()))
    for name, scorer in scorers.items():
        # Handing the statistics on lets every measure fit only what it adds to them.
        fitted = scorer if scorer is first else scorer.using(statistics=first.statistics)
        scorers[name] = first = fitted.fit(sentences, progress=progress)
    return held


def _distances(scorer: Scorer, pairs: list[tuple[str, str]]) -> np.ndarray:
    with warnings.catch_warnings():
        # Counted over the whole file instead.
        warnings.simplefilter("ignore", UndefinedWarning)
        return scorer.distances(pairs)


@contextmanager
def _output(path: Path, kind: str, table: Table, names: list[str]) -> Iterator[Write]:
    columns = [*table.columns, *names]
    if path == STANDARD:
        with table_writer(path, kind, columns, table.schema) as write:
            yield write
        return
    with (
        replacing(path, partial=path.with_name(path.name + ".partial")) as temporary,
        table_writer(temporary, kind, columns, table.schema) as write,
    ):
        yield write
