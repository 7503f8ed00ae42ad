"""Sentences matched: equal ones, the optimum by another solver, order."""

from itertools import pairwise, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from movers.documents import matching
from movers.documents.matching import equal_pairs, kept_order, match

FAR = 0.9


def test_equal_sentences_stay_beside_their_neighbours():
    source = ["a", "* * *", "b", "* * *", "c"]
    target = ["new", "* * *", "a", "* * *", "b", "* * *", "c"]
    assert equal_pairs(source, target) == [(0, 2), (1, 3), (2, 4), (3, 5), (4, 6)]
    assert equal_pairs(["x", "x"], ["x"]) == [(0, 0)]
    assert equal_pairs([], ["x"]) == []


@given(st.lists(st.sampled_from("abcd"), max_size=8), st.lists(st.sampled_from("abcd"), max_size=8))
def test_equal_pairs_are_equal_and_as_many_as_can_be(source, target):
    pairs = equal_pairs(source, target)
    assert all(source[i] == target[j] for i, j in pairs)
    assert len({i for i, _ in pairs}) == len({j for _, j in pairs}) == len(pairs)
    assert len(pairs) == sum(min(source.count(x), target.count(x)) for x in "abcd")


def problem(seed, n, m):
    """Vectors, words, and prices that lie above one minus the cosine."""
    rng = np.random.default_rng(seed)
    sides = [rng.normal(size=(k, 5)) + 0.7 for k in (n, m)]
    units = [side / np.linalg.norm(side, axis=1, keepdims=True) for side in sides]
    words = [rng.integers(1, 30, size=k).astype(float) for k in (n, m)]
    true = 1 - units[0] @ units[1].T
    true = true + rng.random((n, m)) * 0.3 * np.maximum(0, 1 - true / FAR)
    return units, words, true


def objective(pairs, words, true):
    moved = sum((words[0][i] + words[1][j]) / 2 * true[i, j] for i, j in pairs)
    home = words[0].sum() + words[1].sum() - sum(words[0][i] + words[1][j] for i, j in pairs)
    return moved + FAR * home / 2


@pytest.mark.parametrize(("seed", "n", "m"), [(0, 6, 9), (1, 12, 12), (2, 1, 4), (3, 30, 17)])
def test_lazy_prices_give_the_optimum_of_the_whole_matrix(seed, n, m, monkeypatch):
    monkeypatch.setattr(matching, "ELSEWHERE", 0.0)
    units, words, true = problem(seed, n, m)
    asked = []

    def price(pairs):
        asked.extend(map(tuple, pairs.tolist()))
        return true[tuple(pairs.T)]

    pairs, costs = match(tuple(units), tuple(words), price, FAR)
    assert np.allclose(costs, true[tuple(pairs.T)]) and (costs < FAR).all()
    gain = (words[0][:, None] + words[1]) / 2 * np.minimum(0, true - FAR)
    best = zip(*linear_sum_assignment(gain), strict=True)
    expected = objective([(i, j) for i, j in best if true[i, j] < FAR], words, true)
    assert objective(pairs.tolist(), words, true) == pytest.approx(expected)
    assert len(asked) == len(set(asked)) < n * m or n * m < 10


def test_windows_find_what_stands_beside_and_what_moved_far(monkeypatch):
    monkeypatch.setattr(matching, "CELLS", 400)
    rng = np.random.default_rng(0)
    sides = rng.normal(size=(60, 20))
    units = sides / np.linalg.norm(sides, axis=1, keepdims=True)
    order = np.r_[np.arange(1, 60), 0]  # the first sentence has moved to the end
    words = np.ones(60)

    def price(pairs):
        return 1 - (units[pairs[:, 0]] * units[order][pairs[:, 1]]).sum(axis=1)

    pairs, costs = match((units, units[order]), (words, words), price, FAR)
    right = sum(int(order[j]) == i for i, j in pairs.tolist())
    assert right >= 57 and costs.min() < 1e-6


@settings(max_examples=60)
@given(st.permutations(range(6)))
def test_kept_order_is_a_longest_ascending_run(places):
    kept = sorted(kept_order(places))
    assert all(places[a] < places[b] for a, b in pairwise(kept))
    longest = max(
        size
        for size in range(1, 7)
        for some in permutations(range(6), size)
        if list(some) == sorted(some) and all(places[a] < places[b] for a, b in pairwise(some))
    )
    assert len(kept) == longest
