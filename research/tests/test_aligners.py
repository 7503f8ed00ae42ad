import numpy as np
import ot
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

import movers
from movers.align.align_texts import align_with
from movers_research import aligners

NAMES = ("argmax", "itermax", "match", "balanced", "partial", "unbalanced")
SIZES = [(1, 1), (3, 7), (6, 6), (8, 2)]


def problem(n, m, seed=0):
    random = np.random.default_rng(seed)
    return 1 + random.random(n), 1 + random.random(m), random.random((n, m))


@pytest.mark.parametrize(("n", "m"), SIZES)
def test_balanced_transport_is_sinkhorn(n, m):
    u, v, cost = problem(n, m)
    expected = ot.sinkhorn(u / u.sum(), v / v.sum(), cost, reg=aligners.WARMTH, stopThr=1e-12)
    assert np.allclose(aligners.balanced(u, v, cost), expected, atol=1e-6)


@pytest.mark.parametrize(("n", "m"), SIZES)
def test_partial_transport_is_that_of_pot(n, m):
    u, v, cost = problem(n, m)
    mass = 0.6 * min(u.sum(), v.sum())
    found = aligners.partial_transport(u, v, cost, 0.6)
    expected = ot.partial.entropic_partial_wasserstein(u, v, cost, reg=aligners.WARMTH, m=mass)
    assert np.allclose(found, expected, atol=1e-4)
    assert found.sum() == pytest.approx(mass)
    assert (found.sum(axis=1) <= u + 1e-4).all() and (found.sum(axis=0) <= v + 1e-4).all()


@pytest.mark.filterwarnings("ignore:If reg_type = entropy")
@pytest.mark.parametrize(("n", "m"), SIZES)
def test_unbalanced_transport_is_that_of_pot(n, m):
    u, v, cost = problem(n, m)
    expected = ot.unbalanced.sinkhorn_unbalanced(
        u, v, cost, reg=aligners.WARMTH, reg_m=0.9, reg_type="entropy", stopThr=1e-12
    )
    assert np.allclose(aligners.unbalanced(u, v, cost, 0.9), expected, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize(("n", "m"), SIZES)
def test_match_is_the_best_matching(n, m):
    *_, similarity = problem(n, m)
    chosen = aligners.choose_match(similarity)
    rows, columns = linear_sum_assignment(-similarity)
    assert chosen.sum() == min(n, m)
    assert similarity[chosen].sum() == pytest.approx(similarity[rows, columns].sum())


def test_argmax_wants_both_sides():
    similarity = np.array([[0.9, 0.8], [0.7, 0.6]])
    assert aligners.choose_argmax(similarity).tolist() == [[True, False], [False, False]]


def published_itermax(similarity, rounds=2, alpha=0.9):
    """SimAlign's iteration as its authors wrote it down."""
    n, m = similarity.shape

    def both(values):
        return np.eye(m)[values.argmax(1)] * np.eye(n)[values.argmax(0)].T

    found = both(similarity)
    for _ in range(rounds - 1):
        free_rows = 1.0 - np.tile(found.sum(1)[:, None], (1, m)).clip(0, 1)
        free_columns = 1.0 - np.tile(found.sum(0)[None], (n, 1)).clip(0, 1)
        mask = (alpha * free_rows + alpha * free_columns).clip(0, 1)
        zeros = 1.0 - (1.0 - free_rows) * (1.0 - free_columns)
        if free_rows.sum() < 1 or free_columns.sum() < 1:
            break
        found = found + both(similarity * mask) * zeros
    return found > 0


@given(seed=st.integers(0, 500), n=st.integers(3, 8), m=st.integers(3, 8))
def test_itermax_is_the_published_iteration(seed, n, m):
    *_, similarity = problem(n, m, seed)
    assert np.array_equal(aligners.choose_itermax(similarity), published_itermax(similarity))


def test_words_at_other_ends_are_less_alike():
    found = aligners.nearer_the_diagonal(np.ones((3, 3)), 0.2)
    assert found[0, 0] == 1 and found[0, 2] == pytest.approx(0.8)
    assert (aligners.nearer_the_diagonal(np.ones((1, 3))) == 1).all()


@pytest.mark.parametrize("name", NAMES)
def test_they_are_found_and_text_and_its_words_give_the_same_links(name):
    scorer = movers.load()
    text = "Police , at this moment , sealed off the spot .", "the police has sealed it off now ."
    found = scorer.align(*text, aligner=name)
    assert found.links and f"aligner:{name}" in found.signature
    assert scorer.align(*(side.split() for side in text), aligner=name) == found


def test_several_aligners_read_once():
    scorer, pair = movers.load(), ("the dog barks at night", "at night the dogs bark")
    rows = list(align_with(scorer.encoder, [pair], ["shares", "argmax"]))
    assert [found.pharaoh for found in rows[0]] == [
        scorer.align(*pair, aligner=name).pharaoh for name in ("shares", "argmax")
    ]
