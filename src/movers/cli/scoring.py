"""Commands that work on whole files: score pairs, fit statistics."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from movers.cli.messages import say
from movers.cli.options import (
    DEFAULTS,
    RAY_DEFAULTS,
    Engine,
    Input,
    Json,
    Methods,
    Options,
    Out,
    RayOptions,
    make_scorers,
    method_names,
)
from movers.errors import InputError


def score(
    file: Input,
    /,
    *,
    output: Out = Path("-"),
    source: str | None = None,
    target: str | None = None,
    methods: Methods = "movers",
    format: str | None = None,
    fit: Annotated[bool, Parameter(negative="")] = False,
    json: Json = False,
    engine: Engine = "local",
    options: Options = DEFAULTS,
    ray: RayOptions = RAY_DEFAULTS,
) -> None:
    """Add distances to a table of sentence pairs.

    Reads TSV (no quoting), CSV, JSON lines, Parquet or Arrow and writes all its columns plus one
    per measure. An output file appears only when it is complete; if the run is broken off, the
    rows done so far are kept beside it in a file ending in .partial.

    Parameters
    ----------
    file
        The table, or - for standard input. For Ray also a folder of tables or a quoted pattern.
    output
        Where to write, in the format its name ends in; - is standard output. For Ray a folder,
        which gets Parquet files.
    source
        Column of the first sentence. Default: source, sentence1 and the like, or the only two.
    target
        Column of the second sentence.
    methods
        Measures, separated by commas; each becomes a column of that name.
    format
        Format of the input if its name does not tell: tsv, csv, jsonl, parquet, arrow.
    fit
        First fit whitening and idf on the sentences of this file, as the paper does.
    json
        Write JSON lines.
    engine
        Compute in this process or, with the same results, in worker processes of Ray.
    """
    scorers = dict(zip(method_names(methods), make_scorers(methods, options), strict=True))
    progress = sys.stderr.isatty()
    if engine == "ray":
        from movers.integrations.ray_files import score_files

        if json:
            raise InputError("--engine ray writes Parquet; leave out --json")
        report = score_files(
            file,
            output,
            scorers,
            columns=(source, target),
            input_format=format,
            fit_first=fit,
            workers=ray.pool(),
            address=ray.address,
            progress=progress,
        )
    else:
        from movers.bulk.scoring import score_table

        ray.refuse()
        report = score_table(
            file,
            output,
            scorers,
            columns=(source, target),
            input_format=format,
            output_format="jsonl" if json else None,
            fit=fit,
            progress=progress,
        )
    say(f"{report.rows} row{'s' if report.rows != 1 else ''} in {report.seconds:.1f} s")
    for name, count in report.undefined.items():
        if count:
            say(f"{name}: {count} pairs without a proper distance; see --empty")
    for scorer in scorers.values():
        say(str(scorer.signature))


def fit(
    file: Path,
    /,
    *,
    output: Annotated[Path, Parameter(name=["--output", "-o"])],
    embeddings: str | None = None,
    engine: Engine = "local",
    options: Options = DEFAULTS,
    ray: RayOptions = RAY_DEFAULTS,
) -> None:
    """Fit whitening, idf and attention variability on sentences, and save them.

    Parameters
    ----------
    file
        Text with one sentence per line. For Ray also a folder of texts or a quoted pattern.
    output
        Statistics file to write (safetensors); use it with --statistics.
    embeddings
        Embedding layers to whiten: "0", "0,6" or "all". Default: the one of --embedding.
    engine
        Compute in this process or in worker processes of Ray, which fit whitening and idf only.
    """
    scorer, progress = options.load("wsmd"), sys.stderr.isatty()
    if engine == "ray":
        from movers.integrations.ray_files import fit_files

        statistics = fit_files(
            file,
            scorer,
            embeddings,
            workers=ray.pool(),
            address=ray.address,
            progress=progress,
        )
    else:
        from movers.bulk.scoring import fit_file

        ray.refuse()
        statistics = fit_file(file, scorer, embeddings, progress=progress)
    statistics.save(output)
    layers = ", ".join(map(str, sorted(statistics.whitening))) or "none"
    say(f"wrote {output}: {statistics.origin}, whitened layers {layers}, {statistics.digest}")
