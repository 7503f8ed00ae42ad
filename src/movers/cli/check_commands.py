"""The command that holds texts against what was expected of them."""

from __future__ import annotations

from math import isnan
from pathlib import Path

from movers.cli import options as given
from movers.cli.messages import print_json
from movers.cli.options import DEFAULTS
from movers.errors import InputError, MoversError
from movers.runtime.atomic import write_text


def check(
    expected: Path,
    actual: Path,
    /,
    *,
    fail_under: float = 1.0,
    least: float = 0.8,
    guard: given.Guards = "numbers,negation,unread",
    column: str | None = None,
    junit: given.Written | None = None,
    markdown: given.Written | None = None,
    method: given.Measure = "movers",
    json: bool = False,
    options: given.Options = DEFAULTS,
) -> None:
    """Check that texts say what was expected, row by row; fails if too few do.

    Example: `movers check expected.tsv actual.tsv --fail-under 0.9 --guard numbers,negation`

    Parameters
    ----------
    expected
        What the texts should say: lines, or a table with a column of texts. A blank line or cell is
        a text of its own, which only another blank one is the same as.
    actual
        The texts, in the same order.
    fail_under
        Share of rows that have to say the same, from 0 to 1; with fewer the exit status is 1.
    least
        Similarity from which two texts say the same, from 0 to 1.
    guard
        Differences that no similarity outweighs, separated by commas: numbers, names, negation,
        opposites, roles, unread.
    column
        Column of the texts in tables.
    junit
        File to write a JUnit report to.
    markdown
        File to write a summary with a table of failures to.
    json
        Print every row as JSON.
    """
    from dataclasses import asdict

    from movers import checks
    from movers.io.texts import Texts

    if not 0.0 <= fail_under <= 1.0:
        raise InputError(f"--fail-under is a share from 0 to 1, got {fail_under:g}")
    sides = [[*Texts(file, column)] for file in (expected, actual)]
    if len(sides[0]) != len(sides[1]):
        raise InputError(
            f"{expected} has {_count(sides[0])} and {actual} has {_count(sides[1])}; every text "
            "needs what is expected of it in the row of the same number"
        )
    if not sides[0]:
        raise InputError(f"{expected} has no text")
    names = given.guard_names(guard)
    pairs = zip(*sides, strict=True)
    checked = checks.check(pairs, least=least, guard=names, scorer=options.load(method))
    for file, report in ((junit, checks.to_junit), (markdown, checks.to_markdown)):
        if file is not None:
            write_text(file, report(checked, actual.name))
    passed = sum(result.objection is None for result in checked)
    if json:
        blank = {"similarity": None}
        rows = ((asdict(result), isnan(result.similarity)) for result in checked)
        print_json([row | blank if undefined else row for row, undefined in rows])
    else:
        for row, result in enumerate(checked, 1):
            if result.objection is not None:
                print(f"row {row}: {result}\n")
        print(f"{passed} of {len(checked)} say the same")
    if passed < fail_under * len(checked):
        raise MoversError(
            f"{passed / len(checked):.1%} of the rows say the same, less than {fail_under:.1%}"
        )


def _count(texts: list[str]) -> str:
    """Say how many texts there are, and how many are blank."""
    blank = sum(not text.strip() for text in texts)
    return f"{len(texts)} texts" + f" ({blank} of them blank)" * bool(blank)
