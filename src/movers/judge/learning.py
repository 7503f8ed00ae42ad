"""Labels become knowledge, cross-validated beside other distances.

Pairs that share a sentence, also by way of others, are never on both sides. Intervals are paired
and draw groups of pairs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np

from movers.agreement import METRICS, TITLES, Agreement, Weights
from movers.arrays import Floats, Ints
from movers.judge.knowledge import Knowledge, digest_of, logistic
from movers.judge.logistic_fit import Labelled, fit, read_labels
from movers.judge.report import JudgeReport, Row

FOLDS = 5
DRAWS = 200
"""Resamples behind an interval."""
PRECISIONS = (0.8, 0.9, 0.95, 0.99)
SURPRISES = 10
SHARES = (0.125, 0.25, 0.5)
"""Shares of the labels that the learning curve is drawn from, beside all of them."""
BINS = 10
ENOUGH = 80
"""Labels below which nothing is said of what more would bring."""
ACCURACY = "accuracy"


def accuracy(labels: Floats, chances: Floats, weights: Weights) -> Floats:
    """Return the share of pairs on whose side of one half the probability is, by resample."""
    right = (chances >= 0.5) == (labels >= 0.5)
    return np.asarray(weights @ right / weights.sum(axis=1))


BINARY: dict[str, Agreement] = {
    **{TITLES[name]: METRICS[name] for name in ("auc", "ap")},
    ACCURACY: accuracy,
}
GRADED: dict[str, Agreement] = {TITLES["spearman"]: METRICS["spearman"]}
"""Metrics of labels and of grades."""


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


def cross_validate(
    labelled: Labelled,
    before: Knowledge,
    others: Mapping[str, Floats],
    grades: tuple[float, float] | None = None,
) -> JudgeReport:
    """Test what `fit` makes of labels on folds that it has not seen, beside other distances.

    ``grades`` are the ends of the scale, if labels are grades.
    """
    folds = split(labelled, graded=grades is not None)
    counts = len(labelled.pairs), len(set(labelled.groups.tolist()))
    if len(folds) < 2:
        return JudgeReport(*counts, 0, grades)
    chances, labels = logistic(_unseen(labelled, before, folds)), labelled.labels
    metrics = GRADED if grades else BINARY
    similarities = {"judge": chances, **{name: -values for name, values in others.items()}}
    curve = _curve(labelled, before, folds, metrics)
    report = JudgeReport(
        *counts,
        len(folds),
        grades,
        scores=tuple(_scores(similarities, labels, labelled.groups, metrics)),
        curve=curve,
        gain=_gain(curve),
        surprises=_surprises(labelled, chances, grades),
    )
    if grades:
        return report
    bins = calibration(chances, labels)
    return replace(
        report,
        brier=float(((chances - labels) ** 2).mean()),
        error=expected_error(bins),
        bins=bins,
        cuts=tuple(_cut(chances, labels, wanted) for wanted in PRECISIONS),
    )


def split(labelled: Labelled, *, graded: bool) -> list[tuple[Ints, Ints]]:
    """Return rows to learn from and rows to test on, fold by fold; groups stay together."""
    from sklearn.model_selection import GroupKFold, StratifiedGroupKFold

    answers = labelled.labels if graded else labelled.labels.astype(int)
    groups = labelled.groups
    fewest = len(set(groups.tolist()))
    if not graded:
        sides = (set(groups[answers == answer].tolist()) for answer in (0, 1))
        fewest = min(len(side) for side in sides)
    count = min(FOLDS, fewest)
    if count < 2:
        return []
    kind = GroupKFold if graded else StratifiedGroupKFold
    folds = kind(count, shuffle=True, random_state=0).split(groups, answers, groups)
    return [
        (train, test) for train, test in folds if len(test) and np.ptp(labelled.labels[train]) > 0
    ]


def _unseen(labelled: Labelled, before: Knowledge, folds: Sequence[tuple[Ints, Ints]]) -> Floats:
    """Return log-odds of every pair by a judge that has not seen it."""
    odds = np.zeros(len(labelled.labels))
    for train, test in folds:
        odds[test] = fit(labelled.take(train), before).odds(labelled.evidence[test])
    return odds


def _curve(
    labelled: Labelled,
    before: Knowledge,
    folds: Sequence[tuple[Ints, Ints]],
    metrics: Mapping[str, Agreement],
) -> tuple[tuple[int, float], ...]:
    """Return what is reached with shares of the labels: how many, and the first metric."""
    metric, rng = next(iter(metrics.values())), np.random.default_rng(0)
    points = []
    for share in (*SHARES, 1.0):
        values, sizes = [], []
        for train, test in folds:
            rows = np.sort(rng.permutation(train)[: max(2, round(share * len(train)))])
            if np.ptp(labelled.labels[rows]) == 0 or np.ptp(labelled.labels[test]) == 0:
                continue
            odds = fit(labelled.take(rows), before).odds(labelled.evidence[test])
            values.append(metric(labelled.labels[test], odds, np.ones((1, len(test))))[0])
            sizes.append(len(rows))
        if values:
            points.append((round(float(np.mean(sizes))), float(np.mean(values))))
    return tuple(points)


def _gain(curve: Sequence[tuple[int, float]]) -> float | None:
    """Return what twice as many labels would add: as the last doubling did, a little less."""
    if len(curve) < 3 or curve[-1][0] < ENOUGH:
        return None
    steps = np.diff([value for _, value in curve[-3:]])
    if steps[0] <= 0 or steps[1] <= 0:
        return 0.0
    return float(steps[1] * min(1.0, steps[1] / steps[0]))


def _scores(
    similarities: Mapping[str, Floats],
    labels: Floats,
    groups: Ints,
    metrics: Mapping[str, Agreement],
) -> Iterator[Row]:
    """Yield the metrics of every method, with intervals, and how far the judge is ahead."""
    drawn = _draws(groups)
    for title, metric in metrics.items():
        every = {
            name: metric(labels, values, drawn)
            for name, values in similarities.items()
            if not (title == ACCURACY and name != "judge")
        }
        for name, values in every.items():
            lowest, highest = np.nanpercentile(values[1:], [2.5, 97.5]).tolist()
            behind = None
            if name != "judge":
                ahead = every["judge"] - values
                low, high = np.nanpercentile(ahead[1:], [2.5, 97.5]).tolist()
                behind = (float(ahead[0]), low, high)
            interval = {"low": lowest, "high": highest, "behind": behind}
            yield {"method": name, "metric": title, "value": float(values[0]), **interval}


def _draws(groups: Ints) -> Floats:
    """Return weights of the pairs: all alike first, then groups drawn with replacement."""
    rng, count = np.random.default_rng(0), int(groups.max()) + 1
    drawn = rng.multinomial(count, np.full(count, 1 / count), size=DRAWS)[:, groups]
    return np.vstack([np.ones(len(groups)), drawn])


def calibration(chances: Floats, labels: Floats) -> tuple[Row, ...]:
    """Return pairs by probability, in ten equal bins; those without any are left out."""
    place = np.minimum((chances * BINS).astype(int), BINS - 1)
    bins = (place == number for number in range(BINS))
    return tuple(
        {
            "probability": float(chances[own].mean()),
            "share": float(labels[own].mean()),
            "pairs": int(own.sum()),
        }
        for own in bins
        if own.any()
    )


def expected_error(bins: Sequence[Row]) -> float:
    """Return how far probabilities are from shares on average, bin by bin."""
    total = sum(one["pairs"] for one in bins)
    off = sum(abs(one["probability"] - one["share"]) * one["pairs"] for one in bins)
    return float(off / total)


def _cut(chances: Floats, labels: Floats, wanted: float) -> Row:
    """Return the probability from which a precision is reached, and the recall there."""
    from sklearn.metrics import precision_recall_curve

    precision, recall, thresholds = precision_recall_curve(labels, chances)
    reached = np.flatnonzero(precision[:-1] >= wanted)
    if not len(reached):
        return {"precision": wanted, "probability": None, "recall": None}
    first = reached[0]
    where = {"probability": float(thresholds[first]), "recall": float(recall[first])}
    return {"precision": wanted, **where}


def _surprises(
    labelled: Labelled, chances: Floats, grades: tuple[float, float] | None
) -> tuple[Row, ...]:
    """Return the pairs on whose labels the judge is farthest off, if on the other side."""
    low, high = grades or (0.0, 1.0)
    given = low + (high - low) * labelled.labels
    off = np.abs(labelled.labels - chances)
    order = [row for row in np.argsort(-off, kind="stable")[:SURPRISES].tolist() if off[row] > 0.5]
    return tuple(
        {
            **dict(zip(("source", "target"), labelled.pairs[row], strict=True)),
            "label": float(given[row]),
            "probability": float(chances[row]),
        }
        for row in order
    )
