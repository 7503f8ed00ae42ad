"""Checks that a text says what another does, for tests and pipelines."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import isnan
from xml.etree import ElementTree

from movers.difference.guards import DEFAULT
from movers.io.pairs import check_share
from movers.runtime.notices import UndefinedWarning
from movers.scorer import Scorer
from movers.search.keep_apart import objections
from movers.shortcuts import kept_scorer

LEAST = 0.8
"""Similarity from which texts say the same, unless told otherwise."""
QUOTED = 80


@dataclass(frozen=True)
class Checked:
    """One text held against what was expected; ``objection`` is None if it says the same."""

    expected: str
    actual: str
    similarity: float
    objection: str | None
    story: tuple[str, ...] = ()

    def __str__(self) -> str:
        lines = [f"expected: {self.expected}", f"actual:   {self.actual}"]
        if self.objection is not None:
            lines.insert(0, f"the texts do not say the same: {self.objection}")
        return "\n".join([*lines, *(f"  {line}" for line in self.story)])


def check(
    pairs: Iterable[tuple[str, str]],
    *,
    least: float = LEAST,
    guard: str | Sequence[str] = DEFAULT,
    scorer: Scorer | None = None,
) -> list[Checked]:
    """Hold actual texts against expected ones.

    Parameters
    ----------
    pairs
        An expected and an actual text each.
    least
        Similarity, from 0 to 1, below which they do not say the same.
    guard
        Differences that no similarity outweighs: name or names of
        `movers.difference.guards.GUARDS`.
    scorer
        The measure, or a judge; None is the default one.
    """
    check_share("least", least)
    scorer = scorer or kept_scorer()
    object_to, given = objections(scorer, guard), [*pairs]
    with warnings.catch_warnings(action="ignore", category=UndefinedWarning):  # every row tells
        alike = scorer.using(empty="nan").similarities(given)
    checked = []
    for (expected, actual), similarity in zip(given, alike.tolist(), strict=True):
        reason = None
        story: tuple[str, ...] = ()
        if expected.split() != actual.split():
            reason = _blank(expected, actual) or object_to([(expected, actual)])[0]
            if reason is None and isnan(similarity):
                reason = "one of them has no words left to compare"
            elif reason is None and similarity < least:
                reason = f"similarity {similarity:.2f}, below {least:g}"
        if reason is not None and not isnan(similarity):
            story = scorer.compare(expected, actual).story
        checked.append(Checked(expected, actual, similarity, reason, story))
    return checked


def _blank(expected: str, actual: str) -> str | None:
    """Say which of two texts is blank; None if neither is."""
    if not expected.strip():
        return "nothing is expected, and there is a text"
    return None if actual.strip() else "there is no text"


def assert_same(
    actual: str,
    expected: str,
    *,
    least: float = LEAST,
    guard: str | Sequence[str] = DEFAULT,
    scorer: Scorer | None = None,
) -> None:
    """Raise AssertionError, with the differences, unless two texts say the same.

    `check` explains the options.

    Examples
    --------
    >>> import movers
    >>> movers.assert_same("Paris is France's capital.", "The capital of France is Paris.")
    >>> movers.assert_same("Take 20 tablets.", "Take 2 tablets.")
    Traceback (most recent call last):
    ...
    AssertionError: the texts do not say the same: another number: 2 / 20
    expected: Take 2 tablets.
    actual:   Take 20 tablets.
      “2” in A, “20” in B.
    """
    __tracebackhide__ = True
    (checked,) = check([(expected, actual)], least=least, guard=guard, scorer=scorer)
    if checked.objection is not None:
        raise AssertionError(str(checked))


def to_junit(checked: Sequence[Checked], name: str) -> str:
    """Write checks as a report that systems of continuous integration read."""
    failed = sum(result.objection is not None for result in checked)
    counts = {"name": name, "tests": str(len(checked)), "failures": str(failed), "errors": "0"}
    suite = ElementTree.Element("testsuite", counts)
    for row, result in enumerate(checked, 1):
        case = ElementTree.SubElement(
            suite, "testcase", classname=name, name=f"row {row}: {_plain(result.expected)[:QUOTED]}"
        )
        if result.objection is not None:
            failure = ElementTree.SubElement(case, "failure", message=_plain(result.objection))
            failure.text = _plain(str(result))
    return ElementTree.tostring(suite, "unicode", xml_declaration=True)


def _plain(text: str) -> str:
    """Return a text without characters that XML cannot hold."""
    return "".join(
        character if character.isprintable() or character == "\n" else "�" for character in text
    )


def to_markdown(checked: Sequence[Checked], name: str) -> str:
    """Write checks as a summary with a table of what failed."""
    rows = enumerate(checked, 1)
    failed = [(row, result) for row, result in rows if result.objection is not None]
    lines = [f"## {name}", "", f"{len(checked) - len(failed)} of {len(checked)} say the same."]
    if failed:
        lines += ["", "| row | expected | actual | similarity | why |", "|---|---|---|---|---|"]
    for row, result in failed:
        cells = (result.expected, result.actual, f"{result.similarity:.2f}", result.objection or "")
        escaped = (" ".join(cell.split()).replace("|", "\\|") for cell in cells)
        lines.append(f"| {row} | {' | '.join(escaped)} |")
    return "\n".join([*lines, ""])
