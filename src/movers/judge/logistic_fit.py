"""From labels to knowledge: logistic regression on evidence, started from what is known already.

The log-odds are those of a judge known before, times a factor that is learned, plus a weight for
every number of a pair, all but the first held near 0 by a ridge: few labels hardly move what is
known, many outweigh it. Grades count as shares of both answers, so that 3 of 0 to 5 is 0.6 yes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from movers.arrays import Floats, Ints
from movers.errors import InputError, missing
from movers.judge.knowledge import Knowledge
from movers.runtime.notices import Notice, notify

LEAST = 4
"""Labels below which nothing is learned."""
FEW = 20
"""Labels below which a warning says that little can be learned."""
RIDGE = 0.02
"""Variance that a weight is expected to have: the parameter C of scikit-learn."""
MANY = 200
"""Labels from which it is that; of fewer, a share, so that they hardly spoil what is known."""
FREE = 30.0
"""Factor of the column of what is known, which makes its own ridge next to nothing."""
ITERATIONS = 2000


class LabelWarning(Notice):
    """Labels that are few, contradict each other, or are nearly all alike."""


@dataclass(frozen=True, eq=False)
class Labelled:
    """Pairs with labels: evidence ``(pairs, columns)``, labels from 0 to 1, and groups.

    Pairs that share a sentence, also by way of others, are one group. ``weights`` are what pairs
    count.
    """

    pairs: Sequence[tuple[str, str]]
    labels: Floats
    evidence: Floats
    weights: Floats

    @cached_property
    def groups(self) -> Ints:
        """The group of every pair."""
        return group(self.pairs)

    def take(self, rows: Ints) -> Labelled:
        """Return some of them."""
        pairs = [self.pairs[row] for row in rows.tolist()]
        return Labelled(pairs, self.labels[rows], self.evidence[rows], self.weights[rows])


def group(pairs: Sequence[tuple[str, str]]) -> Ints:
    """Number the groups of pairs that share sentences.

    Examples
    --------
    >>> group([("a", "b"), ("c", "d"), ("e", "a"), ("d", "d")]).tolist()
    [0, 1, 0, 1]
    """
    parent: dict[str, str] = {}

    def root(text: str) -> str:
        parent.setdefault(text, text)
        while parent[text] != text:
            parent[text] = parent[parent[text]]
            text = parent[text]
        return text

    for source, target in pairs:
        parent[root(source)] = root(target)
    numbers: dict[str, int] = {}
    return np.array([numbers.setdefault(root(one), len(numbers)) for one, _ in pairs], np.int64)


def read_labels(
    pairs: Sequence[tuple[str, str]], labels: Floats
) -> tuple[Floats, tuple[float, float] | None]:
    """Check labels; return them from 0 to 1, and the ends of their scale if they are grades."""
    if labels.shape != (len(pairs),):
        raise InputError(f"there are {len(labels)} labels while there are {len(pairs)} pairs")
    if not np.isfinite(labels).all():
        row = int(np.flatnonzero(~np.isfinite(labels))[0])
        raise InputError(f"label {row + 1} is {labels[row]}; leave pairs without a label out")
    if len(labels) < LEAST:
        raise InputError(
            f"{len(labels)} labelled pairs are too few to learn from; label at least {LEAST}, "
            "better a hundred"
        )
    low, high = float(labels.min()), float(labels.max())
    if low == high:
        raise InputError(
            f"all {len(labels)} labels are {low:g}; label pairs that say the same and pairs that "
            "do not"
        )
    graded = not np.isin(labels, (0.0, 1.0)).all()
    _warn(pairs, labels, graded=graded)
    if graded:
        low = 0.0 if low >= 0.0 and low < 1.0 else low
        return (labels - low) / (high - low), (low, high)
    return labels, None


def _warn(pairs: Sequence[tuple[str, str]], labels: Floats, *, graded: bool) -> None:
    """Warn of what makes labels tell less than their number promises."""
    given: dict[tuple[str, ...], set[float]] = {}
    for pair, label in zip(pairs, labels.tolist(), strict=True):
        given.setdefault(tuple(sorted(pair)), set()).add(label)
    torn = [pair for pair, answers in given.items() if len(answers) > 1]
    if torn:
        notify(
            f"{len(torn)} of {len(given)} pairs have labels that contradict each other, the first "
            f"is {torn[0]}: both count",
            LabelWarning,
        )
    fewer = int(min(labels.sum(), len(labels) - labels.sum())) if not graded else len(labels)
    if len(labels) < FEW or fewer < 3:
        counted = "" if graded else f", {fewer} of them of one kind"
        notify(
            f"{len(labels)} labels{counted}: the judge stays near what it knew before; label more",
            LabelWarning,
        )


def fit(
    labelled: Labelled,
    before: Knowledge,
    *,
    ridge: float | None = None,
    facts: Mapping[str, str] | None = None,
) -> Knowledge:
    """Learn from labels, starting from what is known before, whose center and spread are kept.

    The ridge is the variance that a weight is expected to have; None takes `RIDGE`, less for few
    labels. ``facts`` say where the labels come from.
    """
    ridge = RIDGE * min(1.0, len(labelled.labels) / MANY) if ridge is None else ridge
    columns = before.standardised(labelled.evidence)
    odds = before.odds(labelled.evidence)
    known = FREE * odds / (odds.std() or 1.0)
    answers, rows, counts = _answers(labelled)
    model = _logistic(np.column_stack([columns, known])[rows], answers, counts, ridge)
    *weights, factor = model.coef_[0].tolist()
    share = factor * FREE / (odds.std() or 1.0)
    if share < 0 and len(labelled.labels) < MANY:  # so few do not turn what is known round
        return replace(before, facts=dict(facts or {}))
    if share < 0:  # labels that contradict what is known: begin without it
        share, model = 0.0, _logistic(columns[rows], answers, counts, ridge)
        weights = model.coef_[0].tolist()
    return replace(
        before,
        weights=np.array(weights) + share * before.weights,
        intercept=np.array([float(model.intercept_[0]) + share * float(before.intercept[0])]),
        facts=dict(facts or {}),
    )


def _answers(labelled: Labelled) -> tuple[Floats, Ints, Floats]:
    """Return answers of yes and no, the pair of each, and what each counts."""
    yes, no = labelled.labels * labelled.weights, (1.0 - labelled.labels) * labelled.weights
    rows = np.concatenate([np.flatnonzero(yes > 0), np.flatnonzero(no > 0)])
    answers = np.repeat([1.0, 0.0], [(yes > 0).sum(), (no > 0).sum()])
    return answers, rows, np.concatenate([yes[yes > 0], no[no > 0]])


def _logistic(columns: Floats, answers: Floats, counts: Floats, ridge: float) -> Any:
    try:
        from sklearn.linear_model import LogisticRegression
    except ModuleNotFoundError as error:
        raise missing("sklearn", "learning a judge") from error
    model = LogisticRegression(C=ridge, max_iter=ITERATIONS)
    return model.fit(columns, answers, sample_weight=counts)


def blank(fingerprint: str, names: Sequence[str], evidence: Floats) -> Knowledge:
    """Return knowledge that says nothing yet, with the center and spread of some evidence."""
    spread = evidence.std(axis=0)
    return Knowledge(
        fingerprint,
        tuple(names),
        evidence.mean(axis=0),
        np.where(spread > 1e-9, spread, 1.0),
        np.zeros(len(names)),
        np.zeros(1),
    )


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
