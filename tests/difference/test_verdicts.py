"""Verdicts: never nearly the same over what changes the meaning."""

import pytest

import movers
from movers.difference.kinds import ALONE, BOTH, KINDS
from movers.difference.polarity import share_words
from movers.difference.verdicts import GRAVE, HEADLINES, judge

MILD = {"same", "spelling", "order", "words", "more"}


@pytest.fixture(scope="module")
def scorer():
    return movers.load()


def verdicts(scorer, rows):
    alike = scorer.similarities([row[2:] for row in rows])
    for (_, verdict, source, target), similarity in zip(rows, alike, strict=True):
        found = movers.differences(source, target)
        yield judge(found, float(similarity), shared=share_words(source, target)), verdict


@pytest.mark.parametrize(("half", "least"), [("report", 0.9), ("fit", 0.95)])
def test_verdicts_are_those_a_reader_would_give(scorer, labelled, half, least):
    given = [*verdicts(scorer, labelled[half])]
    assert sum(own == wanted for own, wanted in given) / len(given) >= least


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("The drug is safe for children.", "The drug is not safe for children."),
        ("Take 2 tablets a day.", "Take 20 tablets a day."),
        ("Turn the heating up.", "Turn the heating down."),
        ("The test was positive.", "The test was negative."),
        ("the press greets the president", "the president greets the press"),
    ],
)
def test_no_similarity_makes_grave_differences_nearly_the_same(scorer, source, target):
    found = movers.differences(source, target)
    for similarity in (None, 0.3, 0.85, 0.99):
        assert judge(found, similarity, shared=1.0) not in MILD
    headline = scorer.compare(source, target).verdict.partition(":")[0]
    assert headline in HEADLINES.values() and headline not in {HEADLINES[one] for one in MILD}


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("I met my wife in Rome.", "In Rome, I met my wife."),
        ("France borders Spain.", "Spain borders France."),
    ],
)
def test_an_order_without_effect_is_the_same(scorer, source, target):
    assert scorer.compare(source, target).verdict.startswith("The same in another order:")


def test_every_kind_has_words_and_every_verdict_a_headline():
    assert {*BOTH} | {*ALONE} == {*KINDS}
    assert {*GRAVE.values()} <= HEADLINES.keys()
    assert len({*HEADLINES.values()}) == len(HEADLINES)


def test_text_in_another_language_is_named(scorer):
    found = scorer.compare("我买了3本书。", "我买了5本书。")
    assert found.story[0].startswith("A and B do not look English")
    assert found.verdict.startswith("Alike, but for a number")
    mixed = scorer.compare("The book is red.", "会議は10時に始まります。")
    assert mixed.story[0].startswith("B does not look English")


def test_a_scorer_finds_what_its_comparison_holds(scorer):
    pair = "the press greets the president", "the president greets the press"
    found = scorer.compare(*pair)
    assert scorer.differences(*pair) == found.differences
    assert [one.kind for one in found.differences] == ["roles"]
    assert found.story == tuple(one.text for one in found.differences)
    assert found.to_dict()["differences"][0]["text"] == found.story[0]
    assert not any("%" in line for line in found.story)
