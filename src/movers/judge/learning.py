"""Labelled pairs become knowledge, tested on pairs it has not seen, and ask for more labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

import numpy as np

from movers.arrays import Floats, Ints
from movers.errors import InputError
from movers.judge.knowledge import Knowledge, digest_of
from movers.judge.logistic_fit import RIDGE, Labelled, fit, read_labels
from movers.judge.report import JudgeReport
from movers.judge.validation import cross_validate


def learn(
    pairs: Sequence[tuple[str, str]],
    labels: Floats,
    evidence: Floats,
    before: Knowledge,
    *,
    others: Mapping[str, Floats] | None = None,
) -> tuple[Knowledge, JudgeReport | None]:
    """Learn what labels say, as users give them, starting from what is known before.

    The report has the judge beside ``others``, distances by other measures; None makes none.
    """
    shares, grades = read_labels(pairs, labels)
    labelled = Labelled(pairs, shares, evidence, np.ones(len(shares)))
    facts = {
        "pairs": str(len(shares)),
        "same": f"{shares.sum():g}",
        "digest": digest_of(pairs, labels),
        "date": datetime.now(UTC).date().isoformat(),
        "before": before.digest,
    }
    if grades is not None:
        facts["grades"] = f"{grades[0]:g} {grades[1]:g}"
    known = fit(labelled, before, facts=facts)
    tested = None if others is None else cross_validate(labelled, before, others, grades)
    return known, tested


def suggest(
    known: Knowledge,
    evidence: Floats,
    count: int,
    *,
    labelled: Floats | None = None,
    ridge: float = RIDGE,
) -> Ints:
    """Pick the pairs whose labels would help most, the most helpful first.

    Each lowers the mean variance of the log-odds of all pairs most, beside those that have labels
    and those picked before (V-optimal design): it is unlike them, like many others, and unsure.
    Fewer come back if there are fewer pairs; the ridge is that of `fit`.
    """
    if count < 1:
        raise InputError(f"the number of suggestions must be at least 1, got {count}")
    rows = _informative(known, evidence)
    seen = _informative(known, evidence[:0] if labelled is None else labelled)
    reach = rows @ np.linalg.inv(np.eye(rows.shape[1]) / ridge + seen.T @ seen)
    mean = rows.T @ rows / max(1, len(rows))
    variance = np.einsum("ij,ij->i", reach, rows)
    gain = np.einsum("ij,ij->i", reach @ mean, reach)
    picked: list[int] = []
    for _ in range(min(count, len(rows))):  # a label is a change of rank one
        worth = gain / (1.0 + variance)
        worth[picked] = -np.inf
        best = int(worth.argmax())
        picked.append(best)
        direction, share = reach[best].copy(), 1.0 / (1.0 + variance[best])
        shared, pulled = rows @ direction, mean @ direction
        gain += share * shared * (share * shared * (direction @ pulled) - 2.0 * (reach @ pulled))
        variance -= share * shared**2
        reach -= np.outer(share * shared, direction)
    return np.array(picked, np.int64)


def _informative(known: Knowledge, evidence: Floats) -> Floats:
    """Return standardised evidence, scaled to what a label of each pair would tell."""
    chances = known.probabilities(evidence)
    return np.asarray(known.standardised(evidence) * np.sqrt(chances * (1.0 - chances))[:, None])
