"""A judge is a measure: scorers, verdicts, guards and files know it as they know others."""

import json
from dataclasses import replace

import numpy as np
import pytest

import movers
from movers.difference.verdicts import pronounce
from movers.errors import InputError
from movers.judge.logistic_fit import LabelWarning
from movers.measures import calibration
from movers.measures import judge as module
from movers.measures.default import calibrate
from movers.measures.judge import SAME, learn_contrasts, same_of
from movers.runtime.notices import TruncationWarning
from movers.search.keep_apart import objections

SENTENCE = "The dog bit the man."
SWAPPED, PASSIVE = "The man bit the dog.", "The man was bitten by the dog."
LABELLED = [
    *((SENTENCE, PASSIVE), (SENTENCE, SWAPPED)),
    *(("A cat sleeps on the mat.", "On the mat sleeps a cat."), ("A cat sleeps.", "A dog barks.")),
    *(("He is my uncle.", "I am his nephew."), ("It rains in Rome.", "It snows in Rome.")),
]
LABELS = [1, 0, 1, 0, 1, 0]


@pytest.fixture(scope="module")
def judge():
    return movers.load(judge="same")


@pytest.fixture(scope="module")
def learned(judge):
    with pytest.warns(LabelWarning, match="6 labels"):
        return judge.learn(LABELLED, LABELS)


def test_what_ships_tells_a_swap_from_a_passive(judge):
    swapped, more, passive, same = judge.probabilities(
        [SENTENCE] * 4, [SWAPPED, "The man bit the dog yesterday.", PASSIVE, SENTENCE]
    )
    assert max(swapped, more) < 0.3 < 0.7 < passive < same == 1.0


@pytest.mark.parametrize(
    "other", ["The drug is not safe.", "The drug was banned.", "It rained in March."]
)
def test_what_says_something_else_is_not_the_same(judge, other):
    assert judge.probabilities([("The drug is safe.", other)])[0] < 0.3


def test_the_distance_is_the_rest_to_one(judge):
    pairs = [(SENTENCE, SWAPPED), (SENTENCE, PASSIVE)]
    assert judge.distances(pairs) == pytest.approx(1 - judge.probabilities(pairs))
    assert judge.similarities(pairs) == pytest.approx(judge.probabilities(pairs))
    matrix = judge.matrix([SENTENCE, SWAPPED, PASSIVE])
    assert matrix == pytest.approx(matrix.T)
    assert judge.rank(SENTENCE, [SWAPPED, PASSIVE])[0].text == PASSIVE


def test_a_judge_is_a_method_by_name(judge):
    named = movers.load("same")
    assert named.distances([(SENTENCE, PASSIVE)]) == judge.distances([(SENTENCE, PASSIVE)])
    assert f"judge:{same_of(judge.encoder).digest}" in str(judge.signature)
    assert movers.load(judge="same").using("wmd").settings.measure.name == "wmd"


def test_a_frame_gets_probabilities(judge):
    pandas = pytest.importorskip("pandas")
    frame = judge.score(pandas.DataFrame({"source": [SENTENCE], "target": [PASSIVE]}))
    assert frame["similarity"][0] == pytest.approx(judge.probabilities([(SENTENCE, PASSIVE)])[0])


def test_measures_are_no_judges():
    with pytest.raises(InputError, match="movers is no judge"):
        movers.load().probabilities([(SENTENCE, PASSIVE)])


def test_a_comparison_has_the_verdict_of_the_judge(judge):
    beside = movers.load().compare(SENTENCE, SWAPPED)
    own = judge.compare(SENTENCE, SWAPPED)
    assert beside.judgement["says"] == own.judgement["says"] == "not the same"
    assert beside.judgement["probability"] == pytest.approx(1 - own.distance)
    against = [about for about, weight in own.judgement["reasons"] if weight < 0]
    assert against[0] == "the order of lists, or around a verb"
    assert "not the same" in beside.judgement["text"]
    assert movers.load("wmd").compare(SENTENCE, SWAPPED).judgement is None
    assert movers.load().explain(SENTENCE, SWAPPED).to_dict()["judged"]["says"] == "not the same"


def test_differences_that_were_found_have_a_say():
    (number,) = movers.differences("Take 2 tablets.", "Take 20 tablets.")
    assert pronounce([number], 0.95) == "unsure"
    assert pronounce([number], 0.05) == "other"
    assert pronounce([], 0.95) == "same"
    assert pronounce([], 0.05) == "unsure"
    assert pronounce([number], 0.5) == "unsure"


def test_what_was_learned_is_kept(learned, tmp_path):
    learned.save(tmp_path / "mine.judge")
    assert (tmp_path / "mine.judge").stat().st_size < 100_000
    again = movers.load(judge=tmp_path / "mine.judge")
    assert np.array_equal(again.probabilities(LABELLED), learned.probabilities(LABELLED))
    facts = again.settings.judge.known.facts
    assert (facts["pairs"], facts["same"]) == ("6", "3")
    assert facts["before"] == same_of(again.encoder).digest
    assert learned.report.pairs == 6


def test_a_judge_of_another_model_is_refused(learned, tiny):
    with pytest.raises(InputError, match="the judge belongs to model"):
        movers.load(model=tiny("bert"), judge=learned.settings.judge).distances(LABELLED)


def test_other_encoders_learn_from_contrasts(tiny, monkeypatch):
    tiny_encoder = movers.load(model=tiny("bert")).encoder
    every = calibration.contrasts()
    few = every.take(np.arange(len(every.pairs)) % 40 == 0)
    monkeypatch.setattr(module, "contrasts", lambda: few)
    with pytest.warns(TruncationWarning):
        known = learn_contrasts(tiny_encoder)
    assert known.fingerprint == tiny_encoder.fingerprint
    assert known.facts["pairs"] == str(int(few.fit.sum()))
    assert known.weights.any()


def test_what_contrasts_taught_is_learned_once(tiny, monkeypatch, tmp_path, judge):
    encoder = movers.load(model=tiny("bert")).encoder
    fresh = {calibration.Calibration.__name__: calibrate(encoder)}
    monkeypatch.setenv("MOVERS_CACHE", str(tmp_path))
    taught = replace(judge.measure.knowledge, fingerprint=encoder.fingerprint)
    lessons = []
    monkeypatch.setattr(module, "learn_contrasts", lambda _: lessons.append(1) or taught)
    for _ in range(2):
        monkeypatch.setitem(vars(encoder), "calibrations", dict(fresh))
        assert same_of(encoder).digest == taught.digest
    assert len(lessons) == 1
    (file,) = (tmp_path / "judges").iterdir()
    file.write_bytes(b"half of it")
    monkeypatch.setitem(vars(encoder), "calibrations", dict(fresh))
    assert same_of(encoder).digest == taught.digest and len(lessons) == 2
    monkeypatch.setitem(vars(encoder), "fingerprint", "unknown")
    monkeypatch.setitem(vars(encoder), "calibrations", dict(fresh))
    assert same_of(encoder) is taught and len([*(tmp_path / "judges").iterdir()]) == 1


def test_no_bound_holds_for_a_judge(judge):
    with pytest.raises(InputError, match="no bound"):
        _ = judge.measure.bound


def test_a_judge_keeps_apart_what_it_doubts():
    object_to = objections(movers.load(), ["numbers", "same>=0.6"])
    pills = "Take 2 pills", "Take 20 pills"
    swapped, passive, other = object_to([(SENTENCE, SWAPPED), (SENTENCE, PASSIVE), pills])
    assert "same finds them the same with probability 0." in swapped and passive is None
    assert other.startswith("another number") and object_to([pills]) == [other]


@pytest.mark.parametrize("guard", ["same>=2", "same>=x"])
def test_a_probability_lies_between_0_and_1(guard):
    with pytest.raises(InputError, match="lies between 0 and 1"):
        objections(movers.load(), [guard])


def test_empty_sentences_are_refused(judge):
    with pytest.raises(InputError, match="the target is empty"):
        judge.evidence([(SENTENCE, " ")])
    assert SAME.name == "same"


def test_a_comparison_of_a_judge_becomes_json(judge):
    found = judge.compare(SENTENCE, SWAPPED)
    written = json.loads(json.dumps(found.to_dict()))
    assert written["distance"] == found.distance and not written["broken"]
    assert json.dumps(judge.explain(SENTENCE, SWAPPED).to_dict())


@pytest.mark.filterwarnings("ignore::movers.judge.logistic_fit.LabelWarning")
def test_labels_may_be_written_out(judge, learned):
    words = ["yes" if label else "no" for label in LABELS]
    again = judge.learn(LABELLED, words, report=False)
    assert again.measure.knowledge.digest == learned.measure.knowledge.digest
    with pytest.raises(InputError, match="label 1: 'maybe' is not a number, and not yes"):
        judge.learn(LABELLED, ["maybe"] * len(LABELLED))
