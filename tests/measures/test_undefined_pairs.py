"""Pairs with an empty side among others, and how they are told apart."""

import numpy as np
import pytest

from movers.measures.base import SOURCE_EMPTY, TARGET_EMPTY
from movers_research.benchmark import solve_parts
from tiny_models import SENTENCES

TEXTS = [SENTENCES[0], "", SENTENCES[1], "dog", "fox"]
PAIRS = [[0, 2], [1, 0], [2, 1], [1, 1], [3, 4], [2, 0]]


def texts(*numbers):
    return [(TEXTS[a], TEXTS[b]) for a, b in (PAIRS[number] for number in numbers)]


@pytest.mark.parametrize("name", ["wmd", "wrd-idf", "smd", "wsmd", "lambda-wmd", "average"])
def test_empty_pairs_do_not_disturb_the_others(bert, name):
    scorer = bert.using(name)
    mixed, plain = (solve_parts(scorer, texts(*chosen)) for chosen in (range(6), (0, 4, 5)))
    for part in ("value", "linear", "structural", "gap", "iterations", "home"):
        np.testing.assert_array_equal(getattr(mixed, part)[[0, 4, 5]], getattr(plain, part))
    assert (mixed.value[[1, 2]] == np.inf).all() and (mixed.value[3] == 0).all()
    assert (mixed.structural[[1, 2, 3]] == 0).all()
    kept = bert.using(name, empty="keep").distances(texts(*range(6)))
    np.testing.assert_array_equal(kept[[0, 4, 5]], scorer.distances(texts(0, 4, 5)))
    assert kept[[1, 2, 3]].tolist() == [np.inf, np.inf, 0]


def test_a_measure_says_which_side_is_empty(bert):
    sentences = bert.weigh(TEXTS)
    rows = np.array([sentences.numbers([TEXTS[a], TEXTS[b]]) for a, b in PAIRS])
    why = bert.measure.undefined(sentences, rows)
    assert why.tolist() == [0, SOURCE_EMPTY, TARGET_EMPTY, SOURCE_EMPTY, 0, 0]
    assert (bert.using("movers").measure.undefined(sentences, rows) == why).all()


def test_punctuation_has_a_distance_under_the_default_measure_alone(bert):
    for name, empty in (("wmd", TARGET_EMPTY), ("movers", 0)):
        scorer = bert.using(name)
        sentences = scorer.weigh(["dog", "!!"])
        why = scorer.measure.undefined(sentences, sentences.numbers(["dog", "!!"])[None])
        assert why.tolist() == [empty]


@pytest.mark.parametrize("name", ["wmd", "smd", "wsmd"])
def test_words_may_stay_at_home_for_a_price(bert, name):
    pairs = texts(0, 5)
    whole, cheap, dear = (
        solve_parts(bert.using(name, null=null), pairs) for null in (None, 0.4, 1e6)
    )
    assert (cheap.value <= whole.value * (1 + 1e-9)).all()
    assert (cheap.home > 0.05).any()
    # More starts than the whole problem has: it may find a better plan, never a worse one.
    assert (dear.value <= whole.value * (1 + 1e-6)).all()
    np.testing.assert_allclose(dear.home, 0, atol=1e-9)
    endless = solve_parts(bert.using(name, null=np.inf), pairs)
    np.testing.assert_array_equal(endless.value, whole.value)
    priced = bert.using(name, null=0.4)
    assert "null:0.4" in str(priced.signature)
    assert priced.distances(pairs[:1])[0] == pytest.approx(cheap.value[0].mean())
