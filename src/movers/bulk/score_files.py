"""Whole files: add distances to a table of pairs, fit statistics on a text."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any

from movers.bulk.output import Pairs, Report, Rowlist, Values, paired
from movers.errors import InputError
from movers.io import tables
from movers.io.columns import UNREAD, all_columns, count_unread, fill_columns
from movers.io.texts import read_texts
from movers.measures.parts.statistics import Statistics, fit_statistics
from movers.measures.parts.structure import parse_numbers
from movers.measures.registry import METHODS
from movers.runtime.progress import progress_bar
from movers.scorer import Scorer
from movers.version import __version__

Rows = tuple[tables.Chunk, list[tuple[str, str]]]


def score_table(
    file: Path | tables.TwoTexts,
    output: Path,
    scorers: dict[str, Scorer],
    *,
    columns: tuple[str | None, str | None] = (None, None),
    input_format: str | None = None,
    output_format: str | None = None,
    fit: bool = False,
    resume: bool = False,
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
    resume
        Go on behind the rows that a run broken off has left in ``OUTPUT.partial``.
    progress
        Show a progress bar on standard error.
    """
    kind = _output_format(file, output, input_format, output_format)
    report = Report(file, output, tables.count_rows(file, input_format), resume)
    report.undefined = {name: Rowlist() for name in scorers}
    with tables.open_table(file, input_format) as table:
        names = tables.pick_columns(table.columns, *columns)
        tables.refuse_taken(table.columns, scorers)
        rows: Iterable[Rows] = paired(table.chunks, names)
        if fit:
            rows = fit_on_rows(rows, scorers, progress=progress)
        for scorer in scorers.values():
            scorer.prepare()
        tables.refuse_taken(table.columns, added := all_columns(scorers))
        signatures = {name: str(scorer.signature) for name, scorer in scorers.items()}
        task = {"movers": __version__, "columns": [*names], **signatures}
        every = [*table.columns, *added]
        writer = partial(tables.table_writer, format=kind, columns=every, schema=table.schema)

        def make(pairs: Pairs) -> Values:
            columns: dict[str, Any] = {}
            for name, scorer in scorers.items():
                columns |= named_columns(name, scorer, pairs, progress=progress)
            columns[UNREAD] = count_unread(scorers, pairs)
            return {name: array.tolist() for name, array in columns.items()}

        bar = progress_bar("scoring", "rows", report.total, progress=progress)
        report.fill(rows, make, writer, task, bar)
    return report


def _output_format(
    file: Path | tables.TwoTexts, output: Path, given: str | None, wanted: str | None
) -> str:
    if output == tables.STANDARD:
        return wanted or tables.format_of(file, given)
    if wanted and wanted != tables.format_of(output):
        raise InputError(f"asked for {wanted}, but {output.name} ends in another format")
    return tables.format_of(output)


def fit_file(
    file: Path,
    scorer: Scorer,
    embeddings: str | None = None,
    *,
    column: str | None = None,
    format: str | None = None,
    progress: bool = False,
) -> Statistics:
    """Fit statistics on the sentences of a file.

    Parameters
    ----------
    file
        One sentence per line, or a table; see `movers.io.texts.read_texts`.
    embeddings
        The layers to whiten (``"0,6"``, ``"all"``); None takes the scorer's own.
    column, format
        Which column of a table holds the sentences, and what format the file has.
    progress
        Show a progress bar.
    """
    sentences = list(read_texts(file, column=column, format=format))
    if not sentences:
        raise InputError(f"{file} holds no sentence; expected one per line")
    layers: tuple[int, ...] = (scorer.embedding,)
    if embeddings is not None:
        layers = parse_numbers(embeddings, range(scorer.encoder.layers + 1), "embedding layer")
    statistics, _ = fit_statistics(
        scorer.encoder,
        sentences,
        scorer.measure.fit_request(layers),
        whitening=scorer.settings.whitening_to_fit,
        variability=True,
        origin=f"{len(sentences)} sentences of {file.name}",
        progress=progress,
    )
    learners = ["sif", "usif", *(["synwmd"] if scorer.settings.parser is not None else [])]
    for name in filter(METHODS.__contains__, learners):  # some are of movers-research
        learner = scorer.using(name, statistics=statistics, layers=None, embedding=layers[-1])
        statistics = learner.fit(sentences, progress=progress).statistics
    return statistics


def fit_on_rows(
    chunks: Iterable[Rows], scorers: dict[str, Scorer], *, progress: bool
) -> list[Rows]:
    """Read the whole table, put fitted scorers in place of the given ones, hand the rows on."""
    held = list(chunks)
    sentences = [pair[side] for side in (0, 1) for _, pairs in held for pair in pairs]
    first = next(iter(scorers.values()))
    for name, scorer in scorers.items():
        # Handing the statistics on lets every measure fit only what it adds to them.
        fitted = scorer if scorer is first else scorer.using(statistics=first.statistics)
        scorers[name] = first = fitted.fit(sentences, progress=progress)
    return held


def named_columns(
    name: str, scorer: Scorer, pairs: list[tuple[str, str]], *, progress: bool = False
) -> dict[str, Any]:
    """Return distances and similarities by column; an error names it."""
    try:
        return fill_columns(name, scorer, pairs, progress=progress)
    except InputError as error:
        raise error.about(f"measure {name}") from error
