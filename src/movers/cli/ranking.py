"""The command that ranks the sentences of a file without an index."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter
from rich.console import Console

from movers.cli.messages import print_json, say
from movers.cli.options import DEFAULTS, Input, Json, Options, Quiet, Sentence


def rank(
    query: Sentence,
    file: Input,
    /,
    *,
    top_k: Annotated[int, Parameter(name=["--top-k", "-k"])] = 10,
    column: str | None = None,
    format: str | None = None,
    method: str = "movers",
    json: Json = False,
    quiet: Quiet = False,
    options: Options = DEFAULTS,
) -> None:
    """Rank the sentences of a file by their distance to a query.

    For many queries, `movers index` and `movers search` do the same without reading the file anew.

    Example: `movers rank "a dog runs after a cat" examples/data/sentences.txt -k 3`

    Parameters
    ----------
    query
        A sentence.
    file
        Text with one sentence per line, a table with a column of sentences, or - for lines from
        standard input.
    top_k
        How many sentences to show.
    column
        Column of a table that holds the sentences. Default: sentence, text and the like, or the
        only one.
    format
        Format of the file if its name does not tell: lines, tsv, csv, jsonl, parquet, arrow.
    method
        The measure; `movers methods` lists them.
    """
    from movers.cli.terminal import print_matches
    from movers.io.texts import read_texts

    corpus = list(read_texts(file, column=column, format=format))
    scorer = options.load(method)
    ranking = scorer.rank(query, corpus, top_k=top_k, progress=not quiet)
    if json:
        print_json(ranking.to_dict())
        return
    print_matches(Console(), ranking)
    if not quiet:
        say(f"{len(corpus):,} sentences; {ranking.signature}")
