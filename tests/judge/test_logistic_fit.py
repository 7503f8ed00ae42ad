"""Labels become weights: few stay near what is known, many outweigh it."""

import numpy as np
import pytest

from movers.errors import InputError
from movers.judge.learning import learn
from movers.judge.logistic_fit import (
    Labelled,
    LabelWarning,
    blank,
    fit,
    group,
    read_labels,
    suggest,
)

NAMES = ("told", "noise", "more noise")


def made(count, seed=0, slope=3.0):
    """Pairs whose first column tells the label."""
    rng = np.random.default_rng(seed)
    evidence = rng.normal(size=(count, 3))
    labels = (evidence[:, 0] * slope + rng.normal(size=count) > 0).astype(float)
    pairs = [(f"a{seed}.{row}", f"b{seed}.{row}") for row in range(count)]
    return Labelled(pairs, labels, evidence, np.ones(count))


def told(known, labelled):
    """Share of pairs that are judged as their labels say."""
    return ((known.odds(labelled.evidence) > 0) == (labelled.labels > 0.5)).mean()


def start(labelled):
    return blank("abc", NAMES, labelled.evidence)


def test_what_tells_gets_the_weight():
    labelled = made(400)
    known = fit(labelled, start(labelled), ridge=1.0)
    assert known.weights[0] > 5 * abs(known.weights[1:]).max()
    assert told(known, made(400, seed=1)) > 0.85
    assert known.fingerprint == "abc"


def test_few_labels_hardly_move_what_is_known():
    many = made(2000, seed=2)
    known = fit(many, start(many), ridge=1.0)
    wrong = made(8, seed=3)
    few = Labelled(wrong.pairs, np.array([0.0, 1.0] * 4), wrong.evidence, wrong.weights)
    odds = [one.odds(many.evidence) for one in (known, fit(few, known))]
    assert np.corrcoef(*odds)[0, 1] > 0.95  # pairs stay in their order, whatever eight labels say
    against = Labelled(wrong.pairs, 1 - wrong.labels, wrong.evidence, wrong.weights)
    assert np.array_equal(fit(against, known).weights, known.weights)
    assert told(fit(made(20, seed=4), known), made(500, seed=5)) > 0.85


def test_many_labels_outweigh_what_is_known():
    labelled = made(3000)
    other = made(3000, slope=-3.0)
    known = fit(other, start(other), ridge=1.0)
    assert told(known, labelled) < 0.2
    assert told(fit(labelled, known), labelled) > 0.8


def test_weights_count_pairs_several_times():
    labelled = made(60)
    twice = labelled.take(np.repeat(np.arange(60), 2))
    heavy = Labelled(labelled.pairs, labelled.labels, labelled.evidence, np.full(60, 2.0))
    first, second = (fit(one, start(labelled), ridge=0.1) for one in (twice, heavy))
    assert first.weights == pytest.approx(second.weights, abs=1e-3)


def test_grades_are_shares_of_both_answers():
    rng = np.random.default_rng(0)
    evidence = rng.normal(size=(300, 3))
    grades = np.clip(np.round(2.5 + 1.5 * evidence[:, 0]), 0, 5)
    pairs = [(f"a{row}", f"b{row}") for row in range(300)]
    others = {"cosine": -evidence[:, 0]}
    known, report = learn(pairs, grades, evidence, blank("a", NAMES, evidence), others=others)
    assert known.grades == (0.0, 5.0)
    assert np.corrcoef(known.probabilities(evidence), grades)[0, 1] > 0.9
    assert report.scores[0]["metric"] == "Spearman's ρ"
    assert report.scores[0]["value"] > 0.9
    assert report.brier is None


def test_pairs_that_share_sentences_are_one_group():
    pairs = [("a", "b"), ("c", "d"), ("d", "e"), ("e", "a"), ("x", "y")]
    assert group(pairs).tolist() == [0, 0, 0, 0, 1]


PAIRS = [("a", "b"), ("c", "d"), ("e", "f"), ("g", "h")]


@pytest.mark.parametrize(
    ("pairs", "labels", "why"),
    [
        (PAIRS, [1, 0, 1], "3 labels while there are 4 pairs"),
        (PAIRS[:3], [1, 0, 1], "3 labelled pairs are too few"),
        (PAIRS, [1, 1, 1, 1], "all 4 labels are 1"),
        (PAIRS, [1, 0, np.nan, 1], "label 3 is nan"),
    ],
)
def test_labels_that_teach_nothing_are_refused(pairs, labels, why):
    with pytest.raises(InputError, match=why):
        read_labels(pairs, np.array(labels, float))


def test_few_labels_and_contradictions_are_told():
    with pytest.warns(LabelWarning, match="4 labels, 1 of them of one kind"):
        read_labels(PAIRS, np.array([1.0, 0.0, 0.0, 0.0]))
    pairs = [(f"a{row}", f"b{row}") for row in range(30)]
    torn = [*pairs, ("b0", "a0")]
    with pytest.warns(LabelWarning, match="1 of 30 pairs have labels that contradict"):
        read_labels(torn, np.array([1.0, 0.0] * 15 + [0.0]))


def test_grades_keep_their_scale():
    pairs = [(f"a{row}", f"b{row}") for row in range(25)]
    shares, ends = read_labels(pairs, np.array([1.0, 2.0, 3.0, 4.0, 5.0] * 5))
    assert ends == (1.0, 5.0)
    assert shares[:5].tolist() == [0.0, 0.25, 0.5, 0.75, 1.0]


def doubt_left(rows, picked, ridge):
    """Mean variance of log-odds once some pairs have labels, the slow way."""
    taught = np.linalg.inv(np.eye(rows.shape[1]) / ridge + rows[picked].T @ rows[picked])
    return float(np.mean([row @ taught @ row for row in rows]))


def test_suggestions_leave_least_doubt():
    labelled = made(60)
    known = fit(labelled, start(labelled), ridge=1.0)
    chances = known.probabilities(labelled.evidence)
    rows = known.standardised(labelled.evidence) * np.sqrt(chances * (1 - chances))[:, None]
    picked: list[int] = []
    for row in suggest(known, labelled.evidence, 4, ridge=0.5).tolist():
        left = {k: doubt_left(rows, [*picked, k], 0.5) for k in range(60) if k not in picked}
        assert left[row] == pytest.approx(min(left.values()))
        picked.append(row)


def test_what_is_labelled_is_not_asked_again():
    labelled = made(60)
    known, twins = start(labelled), np.array([[3.0, 0.0, 0.0], [0.0, 2.0, 0.0]])
    assert suggest(known, twins, 1, ridge=1.0).tolist() == [0]
    assert suggest(known, twins, 1, labelled=twins[[0] * 20], ridge=1.0).tolist() == [1]


def test_suggestions_are_refused_or_fewer():
    labelled = made(20)
    known = start(labelled)
    assert sorted(suggest(known, labelled.evidence[:3], 20).tolist()) == [0, 1, 2]
    with pytest.raises(InputError, match="at least 1, got 0"):
        suggest(known, labelled.evidence, 0)
