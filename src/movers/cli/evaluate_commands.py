"""Commands that hold measures against labelled pairs: scores and thresholds."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from math import isnan
from pathlib import Path
from typing import Annotated, Any

from movers.cli import options as given
from movers.cli.messages import command_line, show
from movers.cli.options import DEFAULTS, MODEL_DEFAULTS, method_names
from movers.cli.parameters import Parameter
from movers.cli.terminal import print_scores, print_thresholds
from movers.io.pairs import known_columns
from movers.io.tables import SUFFIXES, open_table
from movers.io.texts import read_texts
from movers.measures.registry import METHODS

Scores = Annotated[bool, Parameter(help="Print the scores as JSON.")]


def evaluate(
    file: Path,
    /,
    *,
    methods: given.Methods = "movers,wmd,wsmd-wmd,wrd,wsmd-wrd",
    source: given.First = None,
    target: given.Second = None,
    gold: given.Gold = None,
    statistics: Path | None = None,
    limit: int | None = None,
    json: Scores = False,
    quiet: given.Quiet = False,
    options: given.ModelOptions = MODEL_DEFAULTS,
) -> None:
    """Hold measures against labelled pairs: scores with intervals, gains with tests.

    The distances are those that `movers score` gives, and gains are over the first measure.

    Example: `movers evaluate examples/data/labelled.tsv --methods movers,wmd`

    Parameters
    ----------
    file
        A table of pairs with a label or score column.
    methods
        Measures, separated by commas, or "every".
    statistics
        File of fitted statistics, made by `movers fit`. Default: those shipped with the model.
    limit
        Take only so many of the shortest pairs.
    """
    from movers.evaluate.evaluation import evaluate as measured
    from movers.evaluate.labelled import read_labelled

    pairs = read_labelled(file, limit=limit, source=source, target=target, gold=gold)
    scorer = options.load("wsmd")
    if statistics is not None:
        scorer = scorer.using(statistics=statistics)
    chosen = tuple(METHODS) if methods == "every" else tuple(method_names(methods))
    results = measured(scorer, pairs, chosen, progress=not quiet)
    facts = {"command": command_line(), "labels": f"column {pairs.column}", **results.facts}
    results = replace(results, facts=facts)
    show(results, print_scores, json=json)


def threshold(
    file: Path,
    /,
    *,
    cut: float | None = None,
    precision: float = 0.9,
    sample: int = 400,
    column: str | None = None,
    source: given.First = None,
    target: given.Second = None,
    gold: given.Gold = None,
    method: given.Measure = "movers",
    json: given.Json = False,
    quiet: given.Quiet = False,
    options: given.Options = DEFAULTS,
) -> None:
    """Help to choose the threshold of `movers dedupe`, `mine` and `search --within`.

    Shows what lies within several distances, and the pairs next to a cut. For labelled pairs it
    tells how many of them are right, and recommends the largest threshold that is precise enough;
    for sentences, how many of a sample have another so near.

    Example: `movers threshold examples/data/labelled.tsv --precision 0.9`

    Parameters
    ----------
    file
        A table of pairs, with a column of labels if there are any; or sentences, one per line or
        in --column of a table.
    cut
        A threshold to look at closely. Default: the recommended one.
    precision
        Share of right pairs that the recommended threshold should have.
    sample
        How many of the sentences to compare with one another.
    column
        Column of a table that holds sentences, not pairs.
    """
    from movers.evaluate.labelled import read_table
    from movers.evaluate.thresholds import thresholds_of_corpus, thresholds_of_pairs

    common: dict[str, Any] = {"cut": cut, "progress": not quiet}
    if sentences := _sentences(file, column, pairs=bool(source or target or gold)):
        thresholds = thresholds_of_corpus(options.load(method), sentences, sample=sample, **common)
    else:
        rows = read_table(file, source, target, gold, labelled=False).rows
        pairs, labels = [(first, second) for first, second, _ in rows], [row[2] for row in rows]
        known, scorer = None if any(map(isnan, labels)) else labels, options.load(method)
        thresholds = thresholds_of_pairs(scorer, pairs, known, precision=precision, **common)
    show(thresholds, partial(print_thresholds, precision=precision), json=json)


def _sentences(file: Path, column: str | None, *, pairs: bool) -> list[str]:
    """Return the sentences of a file, or none if it is a table of pairs."""
    table = file.suffix.lower() in SUFFIXES and file.suffix.lower() != ".txt"
    if pairs or (table and column is None):
        with open_table(file) as opened:
            if pairs or known_columns(opened.columns):
                return []
    return list(read_texts(file, column=column))
