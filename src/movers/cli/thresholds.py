"""The command that helps to choose a threshold."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from movers.cli.messages import show
from movers.cli.options import DEFAULTS, Json, Measure, Options, Quiet

if TYPE_CHECKING:
    from movers.evaluate.thresholds import Thresholds


def threshold(
    file: Path,
    /,
    *,
    cut: float | None = None,
    precision: float = 0.9,
    sample: int = 400,
    column: str | None = None,
    source: str | None = None,
    target: str | None = None,
    gold: str | None = None,
    method: Measure = "movers",
    json: Json = False,
    quiet: Quiet = False,
    options: Options = DEFAULTS,
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
    source
        Column of the first sentence of a pair. Default: source, sentence1 and the like.
    target
        Column of the second sentence of a pair.
    gold
        Column of the labels: 0 and 1, yes and no. Default: label and the like.
    """
    from movers.cli.terminal import print_thresholds
    from movers.evaluate.thresholds import thresholds_of_corpus, thresholds_of_pairs

    common: dict[str, Any] = {"cut": cut, "progress": not quiet}
    found: Thresholds
    if sentences := _sentences(file, column, pairs=bool(source or target or gold)):
        found = thresholds_of_corpus(options.load(method), sentences, sample=sample, **common)
    else:
        pairs, labels = _pairs(file, source, target, gold)
        scorer = options.load(method)
        found = thresholds_of_pairs(scorer, pairs, labels, precision=precision, **common)
    show(found, partial(print_thresholds, precision=precision), json=json)


def _sentences(file: Path, column: str | None, *, pairs: bool) -> list[str]:
    """The sentences of a file, or none if it is a table of pairs."""
    from movers.io.pairs import known_columns
    from movers.io.tables import SUFFIXES, open_table
    from movers.io.texts import read_texts

    table = file.suffix.lower() in SUFFIXES and file.suffix.lower() != ".txt"
    if pairs or (table and column is None):
        with open_table(file) as opened:
            if pairs or known_columns(opened.columns):
                return []
    return list(read_texts(file, column=column))


def _pairs(
    file: Path, source: str | None, target: str | None, gold: str | None
) -> tuple[list[tuple[str, str]], list[float] | None]:
    """The pairs of a table, and their labels if it has any."""
    from movers.evaluate.layouts import find_gold, read_table
    from movers.io.tables import check_texts, open_table, pick_columns

    with open_table(file) as table:
        sides = pick_columns(table.columns, source, target)
        if find_gold(table.columns, sides, gold) is None:
            pairs: list[tuple[str, str]] = []
            for chunk in table.chunks:
                texts = [check_texts(chunk[side], side, len(pairs)) for side in sides]
                pairs += zip(*texts, strict=True)
            return pairs, None
    rows = list(read_table(file, source, target, gold))
    return [(first, second) for first, second, _ in rows], [label for *_, label in rows]
