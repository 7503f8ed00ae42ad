"""Denials in bulk, without a model."""

import csv

import pytest

import movers
from movers.difference.polarity import polarity_differences

DENIED = [
    ("The bridge is open to trucks.", "The bridge is not open to trucks."),
    ("We ship to Canada.", "We never ship to Canada."),
    ("There is a man on the roof.", "There is no man on the roof."),
]
OPPOSITE = [
    ("Prices rose in May.", "Prices fell in May."),
    ("The test was positive.", "The test was negative."),
]
NEITHER = [
    ("The window is not closed.", "The window is open."),
    ("A dog barks.", "A loud dog barks."),
    ("Ann sold Bob a car.", "Bob bought a car from Ann."),
    ("She sings well.", "Nobody has seen the moon today."),
]


def test_flags_say_what_is_denied_and_what_is_the_opposite():
    flags = polarity_differences([*DENIED, *OPPOSITE, *NEITHER])
    expected = [(True, False)] * 3 + [(False, True)] * 2 + [(False, False)] * 4
    assert flags.tolist() == [list(row) for row in expected]
    assert polarity_differences([]).shape == (0, 2)


def test_lists_of_words_are_taken_as_texts_are():
    words = [(source.split(), target.split()) for source, target in DENIED]
    assert (polarity_differences(words) == polarity_differences(DENIED)).all()


def sick(data, label):
    lines = (data / "SICK" / "SICK_train.txt").read_text("utf-8").splitlines()[1:]
    rows = [line.split("\t") for line in lines]
    return [(row[1], row[2]) for row in rows if row[4].strip() == label]


@pytest.mark.parametrize(
    ("label", "least", "most"), [("CONTRADICTION", 0.8, 1), ("ENTAILMENT", 0, 0.05)]
)
def test_contradictions_are_told_and_entailments_are_not(data, label, least, most):
    pairs = sick(data, label)
    found = [{one.kind for one in movers.differences(*pair)} for pair in pairs]
    share = sum(bool(kinds & {"negation", "opposite"}) for kinds in found) / len(pairs)
    assert least <= share <= most
    assert least <= polarity_differences(pairs).any(axis=1).mean() <= most


def test_pairs_of_equal_meaning_are_hardly_ever_flagged(data):
    with (data / "PAWSWiki" / "dev.tsv").open(encoding="utf-8") as stream:
        rows = [*csv.reader(stream, delimiter="\t", quoting=csv.QUOTE_NONE)][1:]
    same = [(row[1], row[2]) for row in rows if row[3].strip() == "1"]
    assert polarity_differences(same).any(axis=1).mean() < 0.005
    lines = (data / "STSB" / "sts-dev.csv").read_text("utf-8").splitlines()
    graded = [line.split("\t") for line in lines]
    near = [(row[5], row[6]) for row in graded if float(row[4]) >= 4.5]
    assert polarity_differences(near).any(axis=1).mean() < 0.03


def test_what_differs_in_word_order_is_told(data):
    with (data / "PAWSWiki" / "dev.tsv").open(encoding="utf-8") as stream:
        rows = [*csv.reader(stream, delimiter="\t", quoting=csv.QUOTE_NONE)][1:]
    pairs = [(row[1], row[2]) for row in rows if row[3].strip() == "0"][:1500]
    told = {"roles", "name", "number", "reordered"}
    found = [{one.kind for one in movers.differences(*pair)} for pair in pairs]
    assert sum(bool(kinds & told) for kinds in found) / len(pairs) >= 0.85
