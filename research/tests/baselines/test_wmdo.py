"""WMDo: the penalty for broken order, intended and as published."""

import numpy as np
import ot
import pytest

import movers
from movers_research.baselines.wmdo import _coded_fragmentation, fragmentation, nearest
from tiny_models import PAIRS, SENTENCES


@pytest.mark.parametrize(
    ("goes", "targets", "expected"),
    [
        ([0, 1, 2, 3], "abcd", 1 / 4),
        ([3, 2, 1, 0], "abcd", 1),  # five chunks of four words
        ([1, 2, 3], "abcd", 2 / 3),  # the first chunk does not begin at the start
        ([2, 3, 0, 1], "abcd", 3 / 4),
        ([0, 1, 2, 3], "abab", 1 / 2),  # the second a goes back: both are as near
        ([0, 1, 0], "abac", 2 / 3),
        ([0, 1, 0], "abca", 2 / 3),
        ([0], "a", 1),
    ],
)
def test_chunks(goes, targets, expected):
    plan = np.eye(len(targets))[goes]
    assert fragmentation(plan, list(targets)) == pytest.approx(expected)


def test_the_nearest_place():
    found = [nearest([1, 4, 6], k) for k in (-1, 1, 2, 3, 5, 9)]
    assert found == [1, 1, 1, 4, 4, 6]
    with pytest.raises(IndexError):
        nearest([], 0)


@pytest.fixture(scope="module", params=["paper", "reference"])
def scorer(request, tiny):
    return movers.load("wmdo", tiny("bert"), recipe=request.param).fit(SENTENCES)


def test_distances_are_emd_and_penalty(scorer):
    plain = scorer.using("opwd-cos", recipe="reference")  # plain transport of the same cost
    penalty = (scorer.distances(PAIRS) - plain.distances(PAIRS)) / 0.2 + 0.5
    assert (penalty > -1e-9).all() and (penalty < 1 + 1e-9).all()


def test_order_counts_in_the_paper(tiny):
    scorer = movers.load("wmdo", tiny("bert")).fit(SENTENCES)
    one, other = "fox dog brother house", "house fox dog brother"
    same, shuffled = scorer.compare(one, one), scorer.compare(one, other)
    assert same.distance == pytest.approx(-0.2 * (1 / 2 - 1 / 4), abs=1e-6)
    assert shuffled.distance > same.distance


def test_the_published_penalty_by_hand():
    left, right = ["[CLS]", "b", "a", "[SEP]"], ["[CLS]", "a", "b", "[SEP]"]
    # vocabulary: [cls] [sep] a b; so "b" reads row 3 and "a" row 2
    plan = np.zeros((4, 4))
    plan[2, 2] = 0.5  # "a" goes to place 2, which the vocabulary calls "a", at place 1
    assert _coded_fragmentation(left, right, plan) == 2 / 1
    plan[3, 3] = 0.5  # "b" goes to place 3, which the vocabulary calls "b", at place 2
    assert _coded_fragmentation(left, right, plan) == 3 / 2
    plan[3] = [0, 0.5, 0, 0]  # the vocabulary calls place 1 "[sep]", and nothing matches
    with pytest.raises(IndexError):
        _coded_fragmentation(left, right, plan)
    with pytest.raises(ZeroDivisionError):
        _coded_fragmentation(left, right, np.zeros((4, 4)))


def test_published_distances_by_pot(tiny):
    scorer = movers.load("wmdo", tiny("bert"), recipe="reference").fit(SENTENCES)
    for source, target in PAIRS[:8]:
        pieces, ranges = scorer.measure.context.locate([source, target])
        measured = scorer.weigh([source, target])
        rows = [measured.encodings.rows[text] for text in (source, target)]
        x, y = (measured.vectors[row].astype(float) for row in rows)
        x, y = (side / np.linalg.norm(side, axis=1, keepdims=True) for side in (x, y))
        cost = np.maximum(0, 1 - x @ y.T)
        plan = ot.emd(ot.unif(len(x)), ot.unif(len(y)), cost)
        full = np.zeros([len(side) for side in pieces])
        full[np.ix_(*(part[:, 0] for part in ranges))] = np.round(plan, 12)
        try:
            penalty = min(1, _coded_fragmentation(*pieces, full))
        except (IndexError, ZeroDivisionError):
            penalty = 0
        expected = (plan * cost).sum() - 0.2 * (0.5 - penalty)
        assert scorer.compare(source, target).distance == pytest.approx(expected, abs=1e-6)


def test_the_published_penalty_is_not_symmetric_either(embedded):
    scorer = embedded.using("wmdo", recipe="reference")
    pair = ("A man holding a cat.", "A man holding a dog.")
    there, back = scorer.distances([pair, pair[::-1]])
    assert there != pytest.approx(back) and not scorer.measure.symmetric


def test_a_distance_below_zero_can_be_told(bert):
    found = bert.using("wmdo").compare(*["the quick brown fox jumps over the lazy dog"] * 2)
    assert found.distance < 0
    assert found.story == () and found.to_dict()["distance"] == found.distance
