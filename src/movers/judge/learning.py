"""A lesson: labelled pairs become knowledge, tested on pairs that it has not seen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np

from movers.arrays import Floats, Ints
from movers.errors import InputError
from movers.judge.knowledge import Knowledge, digest_of
from movers.judge.logistic_fit import RIDGE, Labelled, fit, read_labels
from movers.judge.report import JudgeReport
from movers.judge.validation import cross_validate


@dataclass(frozen=True, eq=False)
class Lesson:
    """Pairs with labels as users give them, their evidence, and distances to be compared with."""

    pairs: Sequence[tuple[str, str]]
    labels: Floats
    evidence: Floats
    others: Mapping[str, Floats]


def learn(
    lesson: Lesson, before: Knowledge, *, report: bool = True
) -> tuple[Knowledge, JudgeReport | None]:
    """Learn from a lesson what labels say, starting from what is known before."""
    shares, grades = read_labels(lesson.pairs, lesson.labels)
    labelled = Labelled(lesson.pairs, shares, lesson.evidence, np.ones(len(shares)))
    facts = {
        "pairs": str(len(shares)),
        "same": f"{shares.sum():g}",
        "digest": digest_of(lesson.pairs, lesson.labels),
        "date": datetime.now(UTC).date().isoformat(),
        "before": before.digest,
    }
    if grades is not None:
        facts["grades"] = f"{grades[0]:g} {grades[1]:g}"
    known = fit(labelled, before, facts=facts)
    tested = cross_validate(labelled, before, lesson.others, grades) if report else None
    return known, tested


def suggest(known: Knowledge, evidence: Floats, count: int, *, ridge: float = RIDGE) -> Ints:
    """Pick the pairs whose labels would help most, the most helpful first.

    A label tells most where the judge is unsure, and where its evidence is new beside that of the
    pairs picked before: each one has the largest variance that these leave of its log-odds, times
    p (1 - p).

    Parameters
    ----------
    known
        What the judge knows so far.
    evidence
        That of the pairs to choose from.
    count
        How many to pick; fewer come back if there are fewer pairs.
    ridge
        As in `fit`.
    """
    if count < 1:
        raise InputError(f"the number of suggestions must be at least 1, got {count}")
    chances = known.probabilities(evidence)
    rows = known.standardised(evidence) * np.sqrt(chances * (1.0 - chances))[:, None]
    left = np.einsum("ij,ij->i", rows, rows)
    told = np.zeros((len(rows), min(count, len(rows))))
    picked: list[int] = []
    for step in range(told.shape[1]):  # a Cholesky decomposition, the largest pivot first
        left[picked] = -1.0
        best = int(left.argmax())
        picked.append(best)
        shared = rows @ rows[best] - told[:, :step] @ told[best, :step]
        told[:, step] = shared / np.sqrt(1.0 / ridge + shared[best])
        left -= told[:, step] ** 2
    return np.array(picked, np.int64)
