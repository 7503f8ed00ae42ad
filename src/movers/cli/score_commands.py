"""Commands that work on whole files: score pairs, fit statistics."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Any

from movers.cli import options as given
from movers.cli.messages import refuse_unread, say
from movers.cli.options import DEFAULTS, RAY_DEFAULTS, make_scorers
from movers.errors import InputError
from movers.io.tables import STANDARD, TwoTexts

if TYPE_CHECKING:
    from movers.bulk.output import Report
    from movers.scorer import Scorer


def score(
    file: given.Input | None = None,
    /,
    *,
    output: given.Out = STANDARD,
    source: given.First = None,
    target: given.Second = None,
    source_file: Path | None = None,
    target_file: Path | None = None,
    methods: given.Methods = "movers",
    format: given.TableFormat = None,
    delimiter: given.Delimiter = None,
    fit: bool = False,
    resume: given.Resume = False,
    json: bool = False,
    quiet: given.Quiet = False,
    strict: given.Strict = False,
    batch_size: given.BatchSize = None,
    engine: given.Engine = "local",
    options: given.Options = DEFAULTS,
    ray: given.RayOptions = RAY_DEFAULTS,
) -> None:
    """Add distances to a table of sentence pairs.

    Reads TSV (no quoting), CSV, JSON lines, Parquet or Arrow and writes all its columns plus one
    per measure, and one that counts the words that the model did not read. An output file appears
    only when it is complete; if the run is broken off, the rows done so far are kept beside it in a
    file ending in .partial, and --resume goes on behind them.

    Example: `movers score examples/data/pairs.tsv -o scored.csv`

    Parameters
    ----------
    file
        The table, or - for standard input. For Ray also a folder of tables or a quoted pattern.
    output
        Where to write, in the format its name ends in; - is standard output. For Ray a folder,
        which gets Parquet files.
    source_file
        In place of a table: a text with the first sentence of each pair on a line of its own.
    target_file
        A text with the second sentences.
    methods
        Measures, separated by commas; each becomes a column of that name.
    fit
        First fit whitening and idf on the sentences of this file, as the paper does.
    json
        Write JSON lines; with -o, print the summary as JSON.
    engine
        Compute in this process or, with the same results, in worker processes of Ray.
    """
    scorers = make_scorers(methods, options)
    table = _table(file, source_file, target_file)
    as_json = json and output == STANDARD
    reading: dict[str, Any] = {"columns": (source, target)}
    reading["input_format"] = given.format_with(format, delimiter)
    with limited_batches(scorers.values(), batch_size):
        if engine == "ray":
            from movers.integrations.ray import score_files

            tables = _for_ray(table, as_json=as_json, resume=resume)
            reading |= ray.where(quiet=quiet)
            report = score_files(tables, output, scorers, fit_first=fit, **reading)
        else:
            from movers.bulk.score_files import score_table

            ray.refuse()
            reading |= {"output_format": "jsonl" if as_json else None, "progress": not quiet}
            report = score_table(table, output, scorers, fit=fit, resume=resume, **reading)
    _tell(report, scorers, output, json=json, quiet=quiet)
    refuse_unread(report.cut.count, strict)


def _table(file: Path | None, sources: Path | None, targets: Path | None) -> Path | TwoTexts:
    """Return the table, or the two texts that take its place."""
    if file is not None:
        if sources or targets:
            raise InputError("name a table, or --source-file and --target-file; not both")
        return file
    if sources is None or targets is None:
        raise InputError("name a table of pairs, or both --source-file and --target-file")
    return TwoTexts(sources, targets)


def _for_ray(table: Path | TwoTexts, *, as_json: bool, resume: bool) -> Path:
    """Return the table, if Ray can do what is asked with it."""
    if resume:
        raise InputError(
            "--engine ray starts anew; leave out --resume, or go on with --engine local. "
            "For a long run, score several tables into folders of their own: what is "
            "finished then stays finished"
        )
    if as_json or not isinstance(table, Path):
        raise InputError("--engine ray reads tables and writes Parquet; name a table and a folder")
    return table


def _tell(
    report: Report, scorers: dict[str, Scorer], output: Path, *, json: bool, quiet: bool
) -> None:
    """Say what was done and which rows need a look, for people or as JSON."""
    signatures = {name: str(scorer.signature) for name, scorer in scorers.items()}
    if json:
        stream = sys.stdout if output != STANDARD else sys.stderr
        if stream is sys.stdout or not quiet:
            print(dumps({**report.to_dict(), "signatures": signatures}), file=stream)
        return
    for name, rows in report.undefined.items():
        if rows.count:
            pairs = f"{rows.count} pair{'s' * (rows.count != 1)}"
            say(f"{pairs} without a proper distance under {name}, {rows}; see --empty")
    if report.cut.count:
        say(f"sentences too long for the model lost their end in {report.cut}")
    if quiet:
        return
    before = f", {report.resumed:,} of them from the run before" if report.resumed else ""
    plural = "s" if report.rows != 1 else ""
    say(f"{report.rows} row{plural} in {report.seconds:.1f} s{before}")
    for signature in signatures.values():
        say(signature)


def fit(
    file: given.Input,
    /,
    *,
    output: given.Target,
    column: given.Column = None,
    format: given.TextFormat = None,
    delimiter: given.Delimiter = None,
    embeddings: str | None = None,
    quiet: given.Quiet = False,
    batch_size: given.BatchSize = None,
    options: given.Options = DEFAULTS,
) -> None:
    """Fit whitening, idf and attention variability on sentences, and save them.

    Example: `movers fit examples/data/sentences.txt -o stats.safetensors`

    Parameters
    ----------
    file
        Text with one sentence per line, a table with a column of sentences, or - for lines from
        standard input.
    output
        Statistics file to write (safetensors); use it with --statistics.
    embeddings
        Embedding layers to whiten: "0", "0,6" or "all". Default: the one of --embedding.
    """
    scorer = options.load("wsmd")
    reading: dict[str, Any] = {"column": column, "format": given.format_with(format, delimiter)}
    from movers.bulk.score_files import fit_file

    with limited_batches([scorer], batch_size):
        statistics = fit_file(file, scorer, embeddings, progress=not quiet, **reading)
    statistics.save(output)
    if quiet:
        return
    layers = ", ".join(map(str, sorted(statistics.whitening))) or "none"
    say(f"wrote {output}: {statistics.origin}, whitened layers {layers}, {statistics.digest}")


@contextmanager
def limited_batches(scorers: Iterable[Scorer], batch_size: int | None) -> Iterator[None]:
    """Let the models of some scorers read at most so many sentences at once."""
    if batch_size is None:
        yield
        return
    if batch_size < 1:
        raise InputError(f"--batch-size must be at least 1, got {batch_size}")
    encoders = [scorer.encoder for scorer in scorers]
    for encoder in encoders:
        encoder.batch_size = batch_size
    try:
        yield
    finally:
        for encoder in encoders:
            encoder.batch_size = None
