"""A lesson: labelled pairs become knowledge, tested on pairs that it has not seen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np

from movers.arrays import Floats, Ints
from movers.errors import InputError
from movers.judge.fitting import Labelled, fit, read_labels
from movers.judge.knowledge import Knowledge, digest_of
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


def suggest(known: Knowledge, evidence: Floats, count: int) -> Ints:
    """Pick the pairs whose labels would help most, the most helpful first.

    Those that the judge is unsure of, each as unlike as can be those picked before: a label tells
    p (1 - p) times what of its evidence, scaled, is new.

    Parameters
    ----------
    known
        What the judge knows so far.
    evidence
        That of the pairs to choose from.
    count
        How many to pick; fewer come back if there are fewer pairs.
    """
    if count < 1:
        raise InputError(f"the number of suggestions must be at least 1, got {count}")
    chances = known.probabilities(evidence)
    columns = known.standardised(evidence)
    unsure = np.sqrt(chances * (1.0 - chances))
    rest = columns * unsure[:, None]
    picked: list[int] = []
    free = np.ones(len(rest), bool)
    for _ in range(min(count, len(rest))):
        news = np.where(free, np.einsum("ij,ij->i", rest, rest), -1.0)
        best = int(news.argmax())
        picked.append(best)
        free[best] = False
        norm = float(rest[best] @ rest[best])
        # what the label tells is taken off the others, as far as the ridge lets it be told
        rest = rest - np.outer(rest @ rest[best], rest[best]) / (norm + PRIOR)
    return np.array(picked, np.int64)


PRIOR = 20.0
"""Evidence, squared and summed, that one label must have to tell half of it."""
