"""The report is about pairs that the judge has not seen, and says so in three forms."""

import json

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, roc_auc_score

from movers.errors import InputError
from movers.judge.learning import BINARY, calibration, cross_validate, expected_error, split
from movers.judge.logistic_fit import Labelled, blank

NAMES = ("told", "noise")


def made(count, seed=0):
    rng = np.random.default_rng(seed)
    evidence = rng.normal(size=(count, 2))
    labels = (evidence[:, 0] * 2 + rng.normal(size=count) > 0).astype(float)
    pairs = [(f"a{row // 2}", f"b{row}") for row in range(count)]
    return Labelled(pairs, labels, evidence, np.ones(count))


@pytest.fixture(scope="module")
def report():
    labelled = made(300)
    noise = np.random.default_rng(1).normal(size=300)
    others = {"cosine": noise, "movers": -labelled.evidence[:, 0]}
    return cross_validate(labelled, blank("a", NAMES, labelled.evidence), others)


def test_groups_are_never_on_both_sides():
    labelled = made(100)
    folds = split(labelled, graded=False)
    assert len(folds) == 5
    assert sorted(row for _, test in folds for row in test.tolist()) == list(range(100))
    for train, test in folds:
        assert not {*labelled.groups[train]} & {*labelled.groups[test]}


def test_scores_stand_beside_those_of_others(report):
    by = {(one["method"], one["metric"]): one for one in report.scores}
    judge, cosine = by["judge", "AUC"], by["cosine", "AUC"]
    assert judge["value"] > 0.85
    assert judge["low"] < judge["value"] < judge["high"]
    assert judge["behind"] is None
    ahead, low, high = cosine["behind"]
    assert ahead == pytest.approx(judge["value"] - cosine["value"])
    assert 0 < low < ahead < high
    assert abs(by["movers", "AUC"]["behind"][0]) < 0.05
    assert ("cosine", "accuracy") not in by


def test_labels_that_cannot_be_learned_give_chance():
    labelled = made(300)
    random = np.random.default_rng(5).permutation(labelled.labels)
    labelled = Labelled(labelled.pairs, random, labelled.evidence, labelled.weights)
    found = cross_validate(labelled, blank("a", NAMES, labelled.evidence), {})
    assert 0.35 < found.scores[0]["value"] < 0.62


def test_metrics_are_those_of_scikit_learn():
    rng = np.random.default_rng(0)
    labels, found = rng.integers(0, 2, 60).astype(float), rng.integers(0, 9, 60) / 9
    weights = rng.integers(0, 4, 60).astype(float)
    for name, theirs in (("AUC", roc_auc_score), ("average precision", average_precision_score)):
        wanted = theirs(labels, found, sample_weight=weights)
        assert BINARY[name](labels, found, weights[None])[0] == pytest.approx(wanted)


def test_calibration_is_held_against_shares():
    chances, labels = np.repeat([0.05, 0.95], 50), np.repeat([0.0, 1.0], 50)
    bins = calibration(chances, labels)
    assert [(one["pairs"], one["share"]) for one in bins] == [(50, 0.0), (50, 1.0)]
    assert expected_error(bins) == pytest.approx(0.05)
    assert expected_error(calibration(1 - chances, labels)) == pytest.approx(0.95)


def test_cuts_keep_their_word(report):
    assert [cut["precision"] for cut in report.cuts] == [0.8, 0.9, 0.95, 0.99]
    recalls = [cut["recall"] for cut in report.cuts if cut["recall"] is not None]
    assert recalls == sorted(recalls, reverse=True)


def test_surprises_contradict_their_labels(report):
    assert 0 < len(report.surprises) <= 10
    assert all(abs(one["label"] - one["probability"]) > 0.5 for one in report.surprises)


def test_the_curve_rises_to_all_labels(report):
    sizes = [labels for labels, _ in report.curve]
    assert sizes == sorted(sizes) and sizes[-1] == 240
    assert report.curve[-1][1] >= report.curve[0][1] - 0.02
    assert "labels" in report.advice


def test_too_few_to_cross_validate():
    labelled = made(4)
    one = Labelled(labelled.pairs, np.array([1.0, 0, 0, 0]), labelled.evidence, labelled.weights)
    found = cross_validate(one, blank("a", NAMES, labelled.evidence), {})
    assert (found.folds, found.scores) == (0, ())
    assert "Too few labels" in str(found)


@pytest.mark.parametrize("kind", ["html", "json", "txt"])
def test_every_form_has_the_figures(report, tmp_path, kind):
    path = tmp_path / f"report.{kind}"
    report.save(path)
    text = path.read_text("utf-8")
    if kind == "json":
        assert json.loads(text)["scores"][0]["value"] == report.scores[0]["value"]
    else:
        assert f"{100 * report.scores[0]['value']:.1f}" in text
    assert text.count("<svg") == (2 if kind == "html" else 0)


def test_other_forms_are_refused(report, tmp_path):
    with pytest.raises(InputError, match=r"ends in \.html, \.json, \.txt, got 'report.pdf'"):
        report.save(tmp_path / "report.pdf")
