"""DynaMax, against its definition in a loop."""

import numpy as np
import pytest

import movers
from tiny_models import PAIRS, SENTENCES

TEXTS = [*SENTENCES, *SENTENCES[:3]]


@pytest.fixture(scope="module", params=["paper", "reference"])
def scorer(request, tiny):
    return movers.load("dynamax", tiny("bert"), recipe=request.param).fit(TEXTS)


def test_fuzzy_sets_of_words(scorer):
    measured = scorer.weigh(SENTENCES)
    rows = measured.encodings.rows
    for pair, distance in zip(PAIRS, scorer.distances(PAIRS), strict=True):
        x, y = (measured.vectors[rows[text]].astype(float) for text in pair)
        universe = np.concatenate([x, y])
        member, other = (np.maximum(0, universe @ z.T).max(axis=1) for z in (x, y))
        expected = np.minimum(member, other).sum() / np.maximum(member, other).sum()
        assert 1 - distance == pytest.approx(expected, rel=1e-9)


def test_every_way_to_ask_gives_the_same(scorer):
    forth = scorer.distances(PAIRS)
    np.testing.assert_allclose(scorer.distances([(b, a) for a, b in PAIRS]), forth, rtol=1e-10)
    assert [scorer.distances([PAIRS[number]])[0] for number in (0, 11)] == forth[[0, 11]].tolist()
    same = scorer.distances([(text, text) for text in [*SENTENCES, "dog"]])
    np.testing.assert_allclose(same, 0, atol=1e-9)
    assert (forth >= 0).all()


@pytest.mark.filterwarnings("ignore::movers.runtime.notices.UndefinedWarning")
def test_empty_sides_have_no_distance(scorer):
    found = scorer.distances([("", "lazy dog"), ("lazy dog", ""), SENTENCES[:2]])
    assert np.isnan(found).tolist() == [True, True, False]
