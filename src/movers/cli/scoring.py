"""Commands that work on whole files: score pairs, fit statistics."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from movers.cli.messages import say
from movers.cli.options import (
    DEFAULTS,
    Input,
    Json,
    Methods,
    Options,
    Out,
    make_scorers,
    method_names,
)


def score(
    file: Input,
    /,
    *,
    output: Out = Path("-"),
    source: str | None = None,
    target: str | None = None,
    methods: Methods = "wsmd",
    format: str | None = None,
    fit: Annotated[bool, Parameter(negative="")] = False,
    json: Json = False,
    options: Options = DEFAULTS,
) -> None:
    """Add distances to a table of sentence pairs.

    Reads TSV (no quoting), CSV, JSON lines, Parquet or Arrow and writes all its columns plus one
    per measure. An output file appears only when it is complete; if the run is broken off, the
    rows done so far are kept beside it in a file ending in .partial.

    Parameters
    ----------
    file
        The table, or - for standard input.
    output
        Where to write, in the format its name ends in; - is standard output.
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
    """
    from movers.scoring import score_table

    scorers = dict(zip(method_names(methods), make_scorers(methods, options), strict=True))
    report = score_table(
        file,
        output,
        scorers,
        columns=(source, target),
        input_format=format,
        output_format="jsonl" if json else None,
        fit=fit,
        progress=sys.stderr.isatty(),
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
    options: Options = DEFAULTS,
) -> None:
    """Fit whitening, idf and attention variability on sentences, and save them.

    Parameters
    ----------
    file
        Text with one sentence per line.
    output
        Statistics file to write (safetensors); use it with --statistics.
    embeddings
        Embedding layers to whiten: "0", "0,6" or "all". Default: the one of --embedding.
    """
    from movers.scoring import fit_file

    statistics = fit_file(file, options.load("wsmd"), embeddings, progress=sys.stderr.isatty())
    statistics.save(output)
    layers = ", ".join(map(str, sorted(statistics.whitening))) or "none"
    say(f"wrote {output}: {statistics.origin}, whitened layers {layers}, {statistics.digest}")
