"""Fused and plain Gromov-Wasserstein against POT, the reference and their own definition."""

import numpy as np
import pytest
import reference_solvers as reference
from hypothesis import given, settings
from hypothesis import strategies as st
from problems import identical_sentences, mixed_problems, random_problem
from versus_pot import tally

from movers.errors import InputError
from movers.solve import emd, fgw, gw

seeds = st.integers(0, 2**32 - 1)
sizes = st.integers(1, 10)


def solve(problem, **changes):
    p = problem._replace(**changes)
    return fgw(p.cost, p.source, p.target, p.u, p.v, mix=p.mix, scale=p.scale)


def check(problem, found):
    """Everything that must hold for any plan we return."""
    assert found.plan.min() >= 0
    np.testing.assert_allclose(found.plan.sum(1), problem.u, rtol=0, atol=1e-12)
    np.testing.assert_allclose(found.plan.sum(0), problem.v, rtol=0, atol=1e-12)
    size = problem.cost.mean() + problem.scale
    energy = reference.energy(problem.source, problem.target, found.plan)
    assert found.linear == pytest.approx((problem.cost * found.plan).sum(), abs=1e-12 * size)
    assert found.structural == pytest.approx(problem.scale * energy, abs=1e-12 * size)
    assert found.value == (1 - problem.mix) * found.linear + problem.mix * found.structural
    assert 0 <= found.gap <= 1e-8 * size
    assert 1 <= found.iterations <= 100


@settings(deadline=None, max_examples=120)
@given(seed=seeds, n=sizes, m=sizes, uniform=st.booleans(), mix=st.floats(0, 1))
def test_properties(seed, n, m, uniform, mix):
    problem = random_problem(np.random.default_rng(seed), n, m, uniform=uniform, mix=mix)
    found = solve(problem)
    check(problem, found)
    start = np.outer(problem.u, problem.v)
    at_start = (1 - mix) * (problem.cost * start).sum() + mix * problem.scale * reference.energy(
        problem.source, problem.target, start
    )
    assert found.value <= at_start * (1 + 1e-12) + 1e-12


@settings(deadline=None, max_examples=60)
@given(seed=seeds, n=sizes, m=sizes, uniform=st.booleans())
def test_without_mix_it_is_emd(seed, n, m, uniform):
    problem = random_problem(np.random.default_rng(seed), n, m, uniform=uniform, mix=0.0)
    found, linear = solve(problem), emd(problem.cost, problem.u, problem.v)
    assert found.value == linear.value
    assert np.array_equal(found.plan, linear.plan)
    assert (found.iterations, found.gap) == (1, 0.0)
    check(problem, found)


@settings(deadline=None, max_examples=60)
@given(seed=seeds, n=sizes, m=sizes, uniform=st.booleans())
def test_all_mix_is_gw_whatever_the_cost(seed, n, m, uniform):
    problem = random_problem(np.random.default_rng(seed), n, m, uniform=uniform, mix=1.0)
    found = solve(problem)
    plain = gw(problem.source, problem.target, problem.u, problem.v, scale=problem.scale)
    assert found.value == plain.value == plain.structural
    assert np.array_equal(found.plan, plain.plan)
    assert plain.linear == 0.0
    assert found.linear == pytest.approx((problem.cost * found.plan).sum())


@pytest.mark.parametrize("mix", [0.5, 1.0])
def test_scale_multiplies_the_energy(mix):
    problem = random_problem(np.random.default_rng(8), 6, 8, mix=mix)
    root = np.sqrt(problem.scale)
    inside = solve(problem, source=root * problem.source, target=root * problem.target, scale=1.0)
    assert solve(problem).value == pytest.approx(inside.value, rel=1e-9)


@pytest.mark.parametrize("count", [10, pytest.param(25, marks=pytest.mark.published)])
def test_agrees_with_the_reference(count):
    better = 0
    for problem in mixed_problems(seed=11, count=count, most=7):
        slow = reference.fgw(*problem[:5], mix=problem.mix, scale=problem.scale)
        found = solve(problem)
        assert found.value <= slow.value * (1 + 1e-6)
        better += found.value < slow.value * (1 - 1e-6)
    assert better < 0.4 * count


def test_reference_makes_sense():
    problem = random_problem(np.random.default_rng(2), 5, 4)
    slow = reference.fgw(*problem[:5], mix=problem.mix, scale=problem.scale)
    np.testing.assert_allclose(slow.plan.sum(1), problem.u, atol=1e-12)
    assert slow.value == pytest.approx((slow.linear + slow.structural) / 2)
    assert slow.iterations > 1


def test_rarely_worse_and_often_better_than_pot():
    problems = mixed_problems(seed=12, count=200)
    found = [solve(p) for p in problems]
    for problem, one in zip(problems, found, strict=True):
        check(problem, one)
    counts = tally(problems, [one.value for one in found], max_iter=1000)
    assert counts.worse <= 2
    assert counts.better > counts.worse


@pytest.mark.parametrize("uniform", [True, False])
@pytest.mark.parametrize("n", [1, 2, 3, 7, 20])
def test_identical_sentences_are_at_distance_zero(n, uniform):
    problem = identical_sentences(np.random.default_rng(n), n, uniform=uniform)
    for mix in (0.0, 0.3, 1.0):
        found = solve(problem, mix=mix)
        assert found.value == 0.0
        np.testing.assert_allclose(found.plan, np.diag(problem.u), rtol=0, atol=1e-13)


def test_nearly_identical_sentences_end_at_the_diagonal():
    rng = np.random.default_rng(9)
    for n in (3, 6, 12):
        problem = random_problem(rng, n, n)
        points = rng.normal(size=(n, 50))
        cost = np.linalg.norm(points[:, None] - points[None] + 1e-7 * rng.normal(size=50), axis=2)
        found = solve(problem, cost=cost, target=problem.source + 1e-9 * rng.random((n, n)))
        assert found.value < 1e-5
        np.testing.assert_allclose(np.diag(found.plan), 1 / n, rtol=1e-12)


@pytest.mark.parametrize(
    "structure", [np.zeros, np.ones, np.eye, lambda shape: np.arange(16.0).reshape(4, 4) % 2]
)
def test_degenerate_structures(structure):
    rng = np.random.default_rng(10)
    A = structure(4) if structure is np.eye else structure((4, 4))
    for uniform in (True, False):
        problem = random_problem(rng, 4, 4, uniform=uniform)._replace(source=A, target=A, scale=3.0)
        check(problem, solve(problem))
        flat = problem._replace(cost=np.ones((4, 4)))
        check(flat, solve(flat))
        assert gw(A, A, problem.u, problem.u).value == 0.0
    constant = gw(np.full((3, 3), 2.0), np.full((5, 5), 0.5))
    assert constant.value == pytest.approx(2.25)


def test_no_structure_is_emd():
    problem = random_problem(np.random.default_rng(13), 6, 9)
    found = solve(problem, source=np.zeros((6, 6)), target=np.zeros((9, 9)))
    assert found.linear == pytest.approx(emd(problem.cost).value, rel=1e-12)
    assert found.structural == 0.0


@pytest.mark.parametrize("shape", [(1, 1), (1, 9), (9, 1), (1, 200), (60, 200), (64, 64)])
def test_all_shapes(shape):
    for uniform in (True, False):
        problem = random_problem(np.random.default_rng(14), *shape, uniform=uniform)
        found = solve(problem)
        np.testing.assert_allclose(found.plan.sum(1), problem.u, rtol=0, atol=1e-12)
        assert found.iterations <= 100
        if 1 in shape:
            np.testing.assert_allclose(found.plan, np.outer(problem.u, problem.v), rtol=1e-12)


def test_tokens_without_weight_are_left_alone():
    rng = np.random.default_rng(15)
    problem = random_problem(rng, 7, 6, uniform=False)
    u, v = problem.u.copy(), problem.v.copy()
    u[[0, 4]], v[[5]] = 0, 0
    found = fgw(problem.cost, problem.source, problem.target, u, v, scale=problem.scale)
    i, j = np.flatnonzero(u), np.flatnonzero(v)
    kept = fgw(
        problem.cost[np.ix_(i, j)],
        problem.source[np.ix_(i, i)],
        problem.target[np.ix_(j, j)],
        u[i],
        v[j],
        scale=problem.scale,
    )
    assert found.value == kept.value
    assert np.array_equal(found.plan[np.ix_(i, j)], kept.plan)
    assert found.plan.sum() == pytest.approx(1, abs=1e-12)


def test_negative_costs_and_structures():
    rng = np.random.default_rng(16)
    for _ in range(20):
        problem = random_problem(rng, 5, 6)
        shifted = problem._replace(cost=problem.cost - 4, source=problem.source - 1)
        found = solve(shifted)
        np.testing.assert_allclose(found.plan.sum(1), problem.u, rtol=0, atol=1e-12)
        assert found.gap <= 1e-8


def ones(n, m):
    return np.ones((n, m))


@pytest.mark.parametrize(
    ("solver", "arrays", "options", "message"),
    [
        (fgw, (ones(3, 4), ones(5, 5), ones(4, 4)), {}, r"\(3, 4\) while A.shape == \(5, 5\)"),
        (fgw, (ones(3, 4), ones(3, 3), ones(3, 3)), {}, r"\(3, 4\) while B.shape == \(3, 3\)"),
        (gw, (ones(3, 4), ones(3, 3)), {}, r"A.shape == \(3, 4\); a structure must be square"),
        (gw, (ones(2, 2), np.full((2, 2), np.inf)), {}, "B has 4 entries"),
        (gw, (ones(2, 2), ones(2, 2)), {"scale": -1}, "scale == -1"),
        (fgw, (ones(1, 1),) * 3, {"mix": 1.5}, "mix == 1.5"),
        (fgw, (ones(1, 1),) * 3, {"mix": np.nan}, "mix == nan"),
        (fgw, (ones(1, 1),) * 3, {"mix": None}, "mix == None"),
        (fgw, (ones(1, 1),) * 3, {"mix": "0.5"}, "mix == '0.5'"),
        (gw, (ones(1, 1),) * 2, {"scale": "x"}, "scale == 'x' is not a number"),
        (gw, (ones(1, 1),) * 2, {"scale": None}, "scale == None is not a number"),
        (gw, (ones(1, 1), ones(1, 1) + 1j), {}, "B is not an array of numbers"),
    ],
)
def test_wrong_input_is_explained(solver, arrays, options, message):
    with pytest.raises(InputError, match=message):
        solver(*arrays, **options)


def test_weights_whose_sum_overflows_have_shares_all_the_same():
    A = np.random.default_rng(0).random((3, 3))
    for solver, arrays in ((fgw, (A, A, A.T)), (gw, (A, A.T))):
        heavy = solver(*arrays, [1e308] * 3, [1, 2, 3])
        light = solver(*arrays, [1.0] * 3, [1, 2, 3])
        assert heavy.value == light.value
        assert np.array_equal(heavy.plan, light.plan)
