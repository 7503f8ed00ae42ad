"""Pairs with an empty side among others, and how they are told apart."""

import numpy as np
import pytest

from movers.pipeline import SOURCE_EMPTY, TARGET_EMPTY, solve_pairs
from tiny_models import SENTENCES

TEXTS = [SENTENCES[0], "", SENTENCES[1], "dog", "fox"]
ROWS = np.array([[0, 2], [1, 0], [2, 1], [1, 1], [3, 4], [2, 0]])


@pytest.mark.parametrize("name", ["wmd", "wrd-idf", "smd", "wsmd", "lambda-wmd", "average"])
def test_empty_pairs_do_not_disturb_the_others(bert, name):
    scorer = bert.using(name)
    measured, method = scorer._encoded(TEXTS), scorer.method
    rows = np.array([[measured.encodings.rows[TEXTS[k]] for k in pair] for pair in ROWS])
    mixed = solve_pairs(method, measured, rows, scorer.context, share=scorer.share)
    few = rows[[0, 4, 5]]
    plain = solve_pairs(method, measured, few, scorer.context, share=scorer.share)
    for part in ("value", "linear", "structural", "gap", "iterations"):
        found = getattr(mixed.values, part)[[0, 4, 5]]
        np.testing.assert_array_equal(found, getattr(plain.values, part))
    np.testing.assert_array_equal(mixed.scales[[0, 4, 5]], plain.scales)
    assert (mixed.values.value[[1, 2]] == np.inf).all() and (mixed.values.value[3] == 0).all()
    assert mixed.undefined.tolist() == [0, SOURCE_EMPTY, TARGET_EMPTY, SOURCE_EMPTY, 0, 0]
    assert mixed.shapes.tolist() == measured.weights.lengths[rows].tolist()


@pytest.mark.parametrize("name", ["wmd", "smd", "wsmd"])
def test_words_may_stay_at_home_for_a_price(bert, name):
    scorer = bert.using(name)
    measured, method = scorer._encoded(TEXTS), scorer.method
    rows = np.array([[measured.encodings.rows[TEXTS[k]] for k in pair] for pair in ROWS[[0, 3, 5]]])

    def solve(null):
        return solve_pairs(
            method, measured, rows, scorer.context, share=scorer.share, null=null
        ).values

    whole, cheap, dear = (solve(null) for null in (None, 0.4, 1e6))
    filled = [0, 2]
    assert (cheap.value[filled] <= whole.value[filled] * (1 + 1e-9)).all()
    assert (cheap.home[filled] > 0.05).any()
    # More starts than the whole problem has: it may find a better plan, never a worse one.
    assert (dear.value[filled] <= whole.value[filled] * (1 + 1e-6)).all()
    np.testing.assert_allclose(dear.home[filled], 0, atol=1e-9)
    np.testing.assert_array_equal(solve(np.inf).value, whole.value)
    priced = bert.using(name, null=0.4)
    assert "null:0.4" in str(priced.signature)
    pair = TEXTS[0], TEXTS[2]
    assert priced.distances([pair])[0] == pytest.approx(cheap.value[0].mean())
