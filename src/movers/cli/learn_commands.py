"""The command that learns a judge from labelled pairs, or says which pairs to label."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from movers.cli import options as given
from movers.cli.messages import print_json, say
from movers.cli.options import DEFAULTS
from movers.cli.parameters import Parameter
from movers.errors import InputError
from movers.io.tables import STANDARD, format_of, table_writer
from movers.judge.report import check_kind

if TYPE_CHECKING:
    from movers.scorer import Scorer

COLUMNS = ("source", "target", "probability")
Pairs = list[tuple[str, str]]


def learn(
    file: given.Input | None = None,
    /,
    *,
    output: given.Target | None = None,
    report: given.Written | None = None,
    suggest: Path | None = None,
    count: Annotated[int, Parameter(name=["--count", "-n"])] = 50,
    source: given.First = None,
    target: given.Second = None,
    gold: given.Gold = None,
    json: given.Json = False,
    quiet: given.Quiet = False,
    options: given.Options = DEFAULTS,
) -> None:
    """Learn a judge from labelled pairs, with a report on how good it is.

    Example: `movers learn examples/data/labelled.tsv -o mine.judge`

    Parameters
    ----------
    file
        A table of pairs with a label (0 and 1, yes and no) or grade column. To use what is learned:
        `movers score --judge mine.judge`.
    output
        Where the judge goes; with --suggest, the table of pairs to label.
    report
        Also write the report, as its name ends: .html with plots, .json or .txt.
    suggest
        Table of pairs: name those whose labels would help most, for a judge learned from the
        labelled ones or, without these, for the one of --judge.
    count
        How many of them.
    """
    from movers.evaluate.labelled import read_table

    if report is not None:
        check_kind(report)
    if file is None and suggest is None:
        raise InputError("name a table of labelled pairs, or pairs to choose from with --suggest")
    if suggest is None and output is None:
        raise InputError("where should the judge go? name a file with -o")
    scorer = options.load("movers")
    pairs: Pairs = []
    if file is not None:
        rows, column = read_table(file, source, target, gold)
        pairs = [(first, second) for first, second, _ in rows]
        labels = [label for _, _, label in rows]
        if not quiet:
            say(f"the labels are those of the column {column!r}")
        tested = suggest is None or report is not None
        scorer = scorer.learn(pairs, labels, report=tested, progress=not quiet)
    if scorer.report is not None and report is not None:
        scorer.report.save(report)
    if suggest is not None:
        candidates = read_table(suggest, source, target, labelled=False).rows
        unlabelled = [(first, second) for first, second, _ in candidates]
        return _suggest(scorer, unlabelled, pairs, output or STANDARD, count)
    assert output is not None and scorer.report is not None
    scorer.save(output)
    if json:
        return print_json(scorer.report.to_dict())
    if not quiet:
        print(scorer.report)
        say(f"wrote {output}, {output.stat().st_size / 1000:.0f} kB")


def _suggest(scorer: Scorer, pairs: Pairs, labelled: Pairs, output: Path, count: int) -> None:
    """Write the pairs to label, with what the judge thinks of them now."""
    kind = "tsv" if output == STANDARD else format_of(output)
    judge = scorer.using(judge=scorer.settings.judge or "same")
    chosen = [pairs[row] for row in judge.suggest(pairs, count, labelled=labelled)]
    texts = [list(side) for side in zip(*chosen, strict=True)]
    chances = judge.probabilities(chosen).round(3).tolist()
    with table_writer(output, kind, [*COLUMNS, "label"]) as write:
        columns = dict(zip(COLUMNS, [*texts, chances], strict=True))
        write({**columns, "label": [None] * len(chosen)})
