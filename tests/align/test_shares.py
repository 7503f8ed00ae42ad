from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from movers.align import shares
from movers.align.reading import Words, centred_cosines, cosines

TYPICAL = np.zeros(8)


def words(seed, count, layers=2):
    random = np.random.default_rng(seed)
    attention = random.random((layers, count, count)) * (1 - np.eye(count))
    attention /= 1.5 * np.maximum(attention.sum(axis=-1, keepdims=True), 1e-12)
    return Words(np.arange(count), random.normal(size=(count, 8)), attention)


def slow(source, target, typical):
    """The same links, written down word by word."""
    n, m = len(source), len(target)
    similarity = centred_cosines(source, target, typical)

    def near(i, k):
        if k == i:
            return shares.ITSELF
        return np.exp(-(k - i - 1) / shares.REACH) if k > i else 0.0

    def mutual(attraction, warmth):
        out = np.zeros((n, m))
        for i in range(n):
            for j in range(m):
                weight = np.exp(attraction[i, j] / warmth)
                home = np.exp(shares.HOME / warmth)
                row = weight / (home + np.exp(attraction[i] / warmth).sum())
                column = weight / (home + np.exp(attraction[:, j] / warmth).sum())
                out[i, j] = np.sqrt(row * column)
        return out

    plan = mutual(similarity, shares.FIRST_WARMTH)
    for _ in range(shares.ROUNDS):
        attraction = similarity.copy()
        for i in range(n):
            for j in range(m):
                for k in range(n):
                    for l in range(m):  # noqa: E741
                        order = near(i, k) * near(j, l) + near(k, i) * near(l, j)
                        related = np.mean(
                            [
                                a[i, k] * b[j, l] + a[k, i] * b[l, j]
                                for a, b in zip(source.attention, target.attention, strict=True)
                            ]
                        )
                        attraction[i, j] += (
                            shares.ORDER * order + shares.ATTENTION * related
                        ) * plan[k, l]
        plan = mutual(attraction, shares.WARMTH)
    return plan


@pytest.mark.parametrize(("n", "m"), [(1, 1), (2, 5), (4, 4)])
def test_shares_are_what_the_formula_says(n, m):
    source, target = words(n, n), words(10 + m, m)
    _, found, _ = shares.link_by_shares(source, target, TYPICAL)
    assert np.allclose(found, slow(source, target, TYPICAL), atol=1e-12)


@given(seed=st.integers(0, 1000), n=st.integers(1, 9), m=st.integers(1, 9))
def test_links_do_not_depend_on_the_side(seed, n, m):
    source, target = words(seed, n), words(seed + 1, m)
    one, share, _ = shares.link_by_shares(source, target, TYPICAL)
    other, _, _ = shares.link_by_shares(target, source, TYPICAL)
    assert np.allclose(one, other.T, atol=1e-10)
    assert (one >= share - 1e-12).all() and (one <= 1).all()


@given(seed=st.integers(0, 1000), n=st.integers(1, 9), m=st.integers(1, 9))
def test_the_better_home_is_the_less_goes_out(seed, n, m):
    attraction = np.random.default_rng(seed).normal(size=(n, m))
    found = [shares.mutual_shares(attraction, home=home) for home in (-np.inf, -1.0, 0.0, 1.0, 1e3)]
    for without, with_home in pairwise(found):
        assert (with_home <= without + 1e-12).all()
    assert (found[-1] == 0).all()


def test_the_structural_support_is_the_gradient_of_its_term():
    source, target = words(1, 4), words(2, 3)
    random = np.random.default_rng(0)
    plan, step = random.random((4, 3)), random.normal(size=(4, 3))

    def value(plan):
        before, after = shares.precedence(4), shares.precedence(3)
        order = shares.ORDER * (before @ plan @ after.T * plan).sum()
        related = (source.attention @ plan @ target.attention.mT * plan).sum(axis=(1, 2)).mean()
        return order + shares.ATTENTION * related

    slope = (value(plan + 1e-6 * step) - value(plan - 1e-6 * step)) / 2e-6
    assert slope == pytest.approx(
        (shares.support(plan, source.attention, target.attention) * step).sum(), rel=1e-6
    )


def test_without_attention_order_is_all_the_structure():
    source, target = words(1, 5, layers=0), words(2, 4, layers=0)
    strength, share, _ = shares.link_by_shares(source, target, TYPICAL)
    assert np.isfinite(strength).all()
    assert np.array_equal(strength, share)


def test_the_mean_of_a_pair_counts_by_its_words():
    source, target = words(1, 1), words(2, 1)
    typical = np.ones(8)
    own = (source.vectors[0] + target.vectors[0]) / 2
    centre = (2 * own + 60 * typical) / 62
    expected = cosines(source.vectors - centre, target.vectors - centre)
    assert np.allclose(centred_cosines(source, target, typical), expected)


def test_long_sentences_are_no_trouble():
    source = words(3, 200)
    strength, _, _ = shares.link_by_shares(source, source, TYPICAL)
    assert (np.diag(strength) > 0.5).all()
    assert (strength.argmax(axis=1) == np.arange(200)).all()


def test_equal_vectors_are_told_apart_by_order():
    vectors = np.repeat(np.random.default_rng(0).normal(size=(1, 8)), 3, axis=0)
    same = Words(np.arange(3), vectors, np.zeros((1, 3, 3)))
    strength, _, _ = shares.link_by_shares(same, same, TYPICAL)
    assert (strength.argmax(axis=1) == np.arange(3)).all()
    assert np.isfinite(strength).all()
