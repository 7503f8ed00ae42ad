"""What "same" was learned from, and the shape of what is reported of it."""

import numpy as np
import pytest

import movers
from movers.evaluate.metrics import Estimate
from movers.measures.judge import same_of
from movers_research.datasets import read_dataset
from movers_research.same_judge import (
    SHARES,
    Few,
    JudgeFindings,
    Unseen,
    _neighbours,
    _turned,
    describe,
    measure_judge,
    sources,
)


def test_sentences_are_denied_recounted_and_turned_to_their_opposites():
    assert list(_turned("She was 12 when the gate was open.")) == [
        "She was not 12 when the gate was open.",
        "She was 25 when the gate was open.",
        "She was 12 when the gate was shut.",
    ]
    assert list(_turned("Dogs bark.")) == []


def test_a_sentence_gets_beside_it_what_shares_most_words_and_is_no_relative():
    pairs = [
        ("The cook hid a spoon.", "A spoon was hidden by the cook."),
        ("The cook hid a spoon.", "The spoon hid a cook."),
        ("The cook sold a spoon.", "A spoon was sold by the cook."),
        ("The nurse sold a lamp.", "A lamp was sold by the nurse."),
    ]
    made = dict(_neighbours(pairs))
    assert made["The cook hid a spoon."] in pairs[2]
    assert "The nurse sold a lamp." not in made
    assert all({*made.items()}.isdisjoint(((a, b), (b, a))) for a, b in pairs)


def test_what_it_was_learned_from_is_what_is_said(data):
    given = dict(sources(data))
    assert list(given) == list(SHARES)
    assert sum(SHARES.values()) == pytest.approx(1.0)
    held_out = {*read_dataset("paws-x-en-test", data).pairs}
    assert not any(pair in held_out for pairs, _ in given.values() for pair in pairs)
    assert all({*labels} <= {0.0, 1.0} for _, labels in given.values())
    known = same_of(movers.load().encoder)
    assert known.facts["pairs"] == str(sum(len(pairs) for pairs, _ in given.values()))
    assert known.facts["data"] == "; ".join(SHARES)


def test_the_report_has_every_number():
    sure = Estimate(0.915, 0.91, 0.92)
    findings = JudgeFindings(
        {"judge": "abc"},
        (Unseen("a set", 1200, "auc", sure, None, 0.03), Unseen("other", 5, "share", sure, sure)),
        {"a set": (0.9, 0.8)},
        (Few("a set", 20, 0.905, 0.88),),
    )
    text = describe(findings, "movers reproduce judge")
    for said in ("1,200", "91.50 (91.00 to 92.00)", "0.030", "90.00", "90.50", "88.00", "abc"):
        assert said in text
    assert findings.to_dict()["few"][0]["labels"] == 20


@pytest.mark.published
def test_the_judge_is_measured(data, tmp_path):
    findings = measure_judge(movers.load(), tmp_path / "run", data=data, limit=60)
    values = {one.title: one.judge.value for one in findings.unseen}
    assert len(values) >= 5
    assert all(np.isfinite(value) for value in values.values())
    assert values["triples, held out: paraphrase above swap"] >= 0.9
    assert values["swap plus one more change called the same"] <= 0.05
