"""Exact linear transport against scipy, POT and the reference."""

import numpy as np
import ot
import pytest
import reference_solvers as reference
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from problems import mixed_problems, random_problem
from scipy.optimize import linear_sum_assignment

from movers.errors import InputError
from movers.solve import Problems, emd, emd_batch

seeds = st.integers(0, 2**32 - 1)
sizes = st.integers(1, 12)


def check_marginals(plan, u, v):
    assert plan.min() >= 0
    np.testing.assert_allclose(plan.sum(1), u, rtol=0, atol=1e-12)
    np.testing.assert_allclose(plan.sum(0), v, rtol=0, atol=1e-12)


@pytest.mark.parametrize("n", [1, 2, 3, 5, 8, 13, 40, 200])
def test_uniform_square_is_the_assignment_problem(n):
    cost = np.random.default_rng(n).random((n, n))
    rows, columns = linear_sum_assignment(cost)
    found = emd(cost)
    assert found.value == pytest.approx(cost[rows, columns].mean(), rel=1e-12)
    check_marginals(found.plan, np.full(n, 1 / n), np.full(n, 1 / n))


@pytest.mark.parametrize(
    ("n", "m"), [(1, 1), (1, 7), (7, 1), (2, 3), (30, 17), (60, 200), (250, 90)]
)
@pytest.mark.parametrize("uniform", [True, False])
def test_agrees_with_pot(n, m, uniform):
    problem = random_problem(np.random.default_rng(n * m), n, m, uniform=uniform)
    found = emd(problem.cost, problem.u, problem.v)
    assert found.value == pytest.approx(ot.emd2(problem.u, problem.v, problem.cost), rel=1e-10)
    assert (found.structural, found.iterations, found.gap) == (0.0, 1, 0.0)
    check_marginals(found.plan, problem.u, problem.v)


def test_agrees_with_the_reference():
    for problem in mixed_problems(seed=1, count=60):
        plan = reference.emd(problem.cost, problem.u, problem.v)
        found = emd(problem.cost, problem.u, problem.v)
        assert found.value == pytest.approx((plan * problem.cost).sum(), rel=1e-9)


@settings(deadline=None, max_examples=80)
@given(seed=seeds, n=sizes, m=sizes, levels=st.integers(1, 4))
def test_ties_and_equal_masses_end_at_the_optimum(seed, n, m, levels):
    rng = np.random.default_rng(seed)
    cost = rng.integers(0, levels, (n, m))
    u, v = rng.integers(1, 4, n), rng.integers(1, 4, m)
    found = emd(cost, u, v)
    assert found.value == pytest.approx(ot.emd2(u / u.sum(), v / v.sum(), cost.astype(float)))
    check_marginals(found.plan, u / u.sum(), v / v.sum())


@settings(deadline=None, max_examples=50)
@given(seed=seeds, n=sizes, m=sizes)
def test_value_does_not_depend_on_the_order_of_tokens(seed, n, m):
    rng = np.random.default_rng(seed)
    cost, u, v = rng.normal(size=(n, m)), rng.random(n) + 0.1, rng.random(m) + 0.1
    rows, columns = rng.permutation(n), rng.permutation(m)
    moved = emd(cost[rows][:, columns], u[rows], v[columns])
    assert moved.value == pytest.approx(emd(cost, u, v).value, rel=1e-10, abs=1e-12)


def test_tokens_without_weight_are_left_alone():
    rng = np.random.default_rng(3)
    cost, u, v = rng.random((5, 4)), np.array([0, 2, 0, 1, 1.0]), np.array([3, 0, 1, 0.0])
    found = emd(cost, u, v)
    assert found.plan[[0, 2]].sum() == 0
    assert found.plan[:, [1, 3]].sum() == 0
    kept = emd(cost[np.ix_([1, 3, 4], [0, 2])], u[[1, 3, 4]], v[[0, 2]])
    assert found.value == kept.value


def test_weights_of_every_magnitude():
    rng = np.random.default_rng(5)
    u, v = 10.0 ** rng.uniform(-20, 0, 9), 10.0 ** rng.uniform(-20, 0, 7)
    cost = rng.random((9, 7))
    found = emd(cost, u, v)
    check_marginals(found.plan, u / u.sum(), v / v.sum())
    assert found.value == pytest.approx(ot.emd2(u / u.sum(), v / v.sum(), cost), rel=1e-9)


def test_extreme_costs():
    rng = np.random.default_rng(6)
    cost = rng.random((6, 9))
    for factor in (1e-12, 1e12):
        assert emd(factor * cost).value == pytest.approx(factor * emd(cost).value, rel=1e-12)
    assert emd(np.zeros((4, 3))).value == 0.0
    assert emd(cost - 5).value == pytest.approx(emd(cost).value - 5)


def test_integers_and_nested_lists_are_converted():
    assert emd([[0, 3], [3, 1]]).value == 0.5
    assert emd(np.array([[0, 3], [3, 1]]), [1, 1], [1, 1]).value == 0.5


def test_batch_shares_weights_between_pairs():
    rng = np.random.default_rng(4)
    weights = np.array([0.5, 0.5, 0.2, 0.3, 0.5])
    shapes = np.array([[2, 3], [3, 2]])
    cost = rng.random(12)
    start = np.array([0, 2])
    found = emd_batch(Problems(shapes, cost, weights, weights, start, start[::-1].copy()))
    assert found.plan.size == 0
    assert found.value[0, 0] == emd(cost[:6].reshape(2, 3), weights[:2], weights[2:]).value
    assert found.value[1, 0] == emd(cost[6:].reshape(3, 2), weights[2:], weights[:2]).value


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([[1.0, np.nan]],), "cost has 1 entries that are NaN or infinite"),
        (([1.0, 2.0],), r"cost.shape == \(2,\)"),
        ((np.zeros((0, 3)),), r"cost.shape == \(0, 3\)"),
        ((np.ones((2, 2)), [1.0, -1.0]), r"u has a negative weight \(-1\)"),
        ((np.ones((2, 2)), None, [0.0, 0.0]), "v sums to 0"),
        ((np.ones((2, 3)), None, [1.0, 1.0]), r"v.shape == \(2,\) while cost has 3 tokens"),
        ((np.ones((2, 3)), ["a", "b"]), "u is not an array of numbers"),
        (
            ([np.ones((2, 3))],),
            r"cost.shape == \(1, 2, 3\); pass a non-empty two-dim",
        ),
    ],
)
def test_wrong_input_is_explained(arguments, message):
    with pytest.raises(InputError, match=message):
        emd(*arguments)


@pytest.mark.parametrize(
    ("named", "message"),
    [
        ({"null": "x"}, "null == 'x' is not a number"),
        ({"null": [1.0]}, r"null == \[1.0\] is not a number"),
        ({"null": np.nan}, "null == nan"),
        ({"null": 10**400}, "null is larger than any number of double precision"),
        ({"null": np.complex128(1j)}, "null == .*1j.* is not a number"),
        ({"null": float}, "null == <class 'float'> is not a number"),
        ({"null": np.datetime64("2020")}, "null == .*2020.* is not a number"),
    ],
)
def test_wrong_options_are_explained(named, message):
    with pytest.raises(InputError, match=message):
        emd(np.ones((2, 2)), **named)


@pytest.mark.parametrize(
    ("cost", "message"),
    [
        (np.ma.masked_equal([[1.0, -1.0]], -1.0), "cost has masked entries"),
        ([np.ma.masked_equal([1.0, -1.0], -1.0)], "cost has masked entries"),
        (np.array([[1.0, 2.0 + 1j]]), "cost is not an array of numbers: its entries are complex"),
        ([["1", "2"]], "its entries are <U1"),
        (np.ones((1, 2), "m8[s]"), "its entries are timedelta64"),
        ([[[1.0, 2.0], [3.0]]], "cost is not an array of numbers"),
        ([[10**400]], "cost is not an array of numbers"),
        (np.full((1, 2), np.longdouble("1e400")), "cost has 2 entries that are NaN or infinite"),
        (torch.ones((2, 2), requires_grad=True), r"cost is not an array of numbers: .*detach"),
    ],
)
def test_nothing_is_cut_off_in_silence(cost, message):
    with pytest.raises(InputError, match=message):
        emd(cost)


def test_a_masked_array_without_masked_entries_is_an_array():
    assert emd(np.ma.masked_equal([[0.0, 3.0], [3.0, 1.0]], -1.0)).value == 0.5
    assert emd(torch.tensor([[0.0, 3.0], [3.0, 1.0]])).value == 0.5


def test_weights_whose_sum_overflows_have_shares_all_the_same():
    cost = [[0, 5, 9], [1, 0, 7], [3, 2, 0]]
    found = emd(cost, [1.5e308, 1e308, 1e307], [1, 2, 3])
    assert found.value == pytest.approx(emd(cost, [15, 10, 1], [1, 2, 3]).value, rel=1e-12)
    check_marginals(found.plan, np.array([15, 10, 1]) / 26, np.array([1, 2, 3]) / 6)
