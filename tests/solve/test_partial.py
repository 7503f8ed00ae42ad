"""Partial transport against a linear programme, POT, the reference and its own definition."""

import math
import warnings
from dataclasses import replace

import numpy as np
import ot
import pytest
import reference_solvers as reference
from hypothesis import given, settings
from hypothesis import strategies as st
from problems import identical_sentences, mixed_problems, random_problem
from scipy import sparse
from scipy.optimize import linprog

from movers.errors import InputError
from movers.solve import Problems, emd, emd_batch, fgw, fgw_batch, gw
from movers.solve.kernels.unmatched_mass import power_above

seeds = st.integers(0, 2**32 - 1)
sizes = st.integers(1, 9)
prices = st.floats(0, 3)


def solve(problem, null, **changes):
    p = problem._replace(**changes)
    return fgw(p.cost, p.source, p.target, p.u, p.v, mix=p.mix, scale=p.scale, null=null)


def objective(problem, plan, null):
    energy = reference.energy(problem.source, problem.target, plan)
    home = (problem.u.sum() + problem.v.sum()) / 2 - plan.sum()
    linear = (problem.cost * plan).sum()
    return (1 - problem.mix) * linear + problem.mix * problem.scale * energy + null * home


def check(problem, found, null):
    """Everything that must hold for any partial plan."""
    mass = problem.u.sum() + problem.v.sum()
    assert found.converged
    assert found.plan.min() >= 0
    assert (found.plan.sum(1) <= problem.u + 1e-15 * mass).all()
    assert (found.plan.sum(0) <= problem.v + 1e-15 * mass).all()
    assert found.home == pytest.approx(mass / 2 - found.plan.sum(), abs=1e-13 * mass)
    size = (problem.cost.mean() + problem.scale * mass + null) * mass
    assert found.value == pytest.approx(objective(problem, found.plan, null), abs=1e-12 * size)


def words_alone(problem):
    nothing = np.zeros_like(problem.source), np.zeros_like(problem.target)
    return problem._replace(source=nothing[0], target=nothing[1], mix=0.0)


def masses(rng, problem):
    """The same problem with sides that weigh differently: one per word, or anything."""
    n, m = problem.cost.shape
    u, v = (np.ones(n), np.ones(m)) if rng.random() < 0.5 else (rng.random(n), 9 * rng.random(m))
    return problem._replace(u=u, v=v, scale=problem.scale / max(u.sum(), v.sum()))


def some_problems(seed, count, most=12):
    rng = np.random.default_rng(seed)
    problems = mixed_problems(seed, count, most)
    problems[::4] = [masses(rng, problem) for problem in problems[::4]]
    return problems, [float(rng.uniform(0, 2) * p.cost.mean()) for p in problems]


def blocks_of_marginals(problems):
    """Sums of rows and of columns of all problems, as one sparse matrix."""
    blocks = []
    for problem in problems:
        n, m = problem.cost.shape
        blocks.append(sparse.kron(sparse.eye(n), np.ones(m)))
        blocks[-1] = sparse.vstack([blocks[-1], sparse.kron(np.ones(n), sparse.eye(m))])
    return sparse.block_diag(blocks, "csc")


def test_words_equal_a_linear_programme_and_pot():
    """A thousand problems; those of a hundred make one programme."""
    problems, nulls = some_problems(seed=1, count=1000, most=9)
    found = [emd(p.cost, p.u, p.v, null=null) for p, null in zip(problems, nulls, strict=True)]
    for start in range(0, len(problems), 100):
        part = slice(start, start + 100)
        chosen = list(zip(problems[part], nulls[part], found[part], strict=True))
        best = linprog(
            np.concatenate([(p.cost - null).ravel() for p, null, _ in chosen]),
            A_ub=blocks_of_marginals(problems[part]),
            b_ub=np.concatenate([np.append(p.u, p.v) for p, _, _ in chosen]),
            method="highs-ds",
        )
        ends = np.cumsum([p.cost.size for p in problems[part]])[:-1]
        for (p, null, one), x in zip(chosen, np.split(best.x, ends), strict=True):
            check(words_alone(p), one, null)
            expected = objective(words_alone(p), x.reshape(p.cost.shape), null)
            assert one.value == pytest.approx(expected, rel=1e-12, abs=1e-12)
    for p, one in zip(problems, found, strict=True):
        moved = one.plan.sum()
        if moved > 1e-9:
            m = min(moved, p.u.sum(), p.v.sum())
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                other = ot.partial.partial_wasserstein2(p.u, p.v, p.cost, m=m)
            assert one.linear == pytest.approx(float(other), rel=1e-9, abs=1e-12)


@settings(deadline=None, max_examples=60)
@given(seed=seeds, n=sizes, m=sizes, uniform=st.booleans(), mix=st.floats(0, 1), null=prices)
def test_properties(seed, n, m, uniform, mix, null):
    rng = np.random.default_rng(seed)
    problem = random_problem(rng, n, m, uniform=uniform, mix=mix)
    for one in (problem, masses(rng, problem)):
        found = solve(one, null)
        check(one, found, null)
        words = emd((1 - mix) * one.cost, one.u, one.v, null=null)
        assert found.value <= objective(one, words.plan, null) * (1 + 1e-9) + 1e-12
        assert found.value >= words.value * (1 - 1e-9)
        stay = null * (one.u.sum() + one.v.sum()) / 2
        assert found.value <= stay * (1 + 1e-9) + 1e-300  # smaller prices have few digits


def pot_value(problem, mass, null):
    """Objective of the plan that POT finds among those that move so much."""
    root = np.sqrt(problem.scale)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plan = ot.gromov.partial_fused_gromov_wasserstein(
            problem.cost,
            root * problem.source,
            root * problem.target,
            problem.u,
            problem.v,
            m=min(mass, problem.u.sum(), problem.v.sum()),
            alpha=problem.mix,
            symmetric=False,
            tol=1e-9,
            numItermax=300,
        )
    return objective(problem, plan, null)


def test_rarely_worse_and_often_better_than_pot():
    worse, better = 0, 0
    for problem, null in zip(*some_problems(seed=2, count=120, most=10), strict=True):
        found = solve(problem, null)
        check(problem, found, null)
        if found.plan.sum() > 1e-9:
            other = pot_value(problem, found.plan.sum(), null)
            worse += found.value > other * (1 + 1e-6) + 1e-9
            better += found.value < other * (1 - 1e-6) - 1e-9
    assert worse <= 1
    assert better > 10


def test_never_worse_than_the_reference():
    for problem, null in zip(*some_problems(seed=3, count=8, most=5), strict=True):
        slow = reference.partial_fgw(*problem[:5], mix=0.5, scale=problem.scale, null=null)
        assert slow.value == pytest.approx(objective(problem, slow.plan, null))
        assert solve(problem, null).value <= slow.value * (1 + 1e-6) + 1e-12
        words = reference.partial_emd(problem.cost, problem.u, problem.v, null=null)
        found = emd(problem.cost, problem.u, problem.v, null=null)
        assert found.value == pytest.approx(words.value, rel=1e-9, abs=1e-12)


def test_a_higher_price_never_lowers_the_value():
    steps = np.linspace(0, 3, 16)
    falls = 0
    for problem in mixed_problems(seed=4, count=20, most=8):
        words = [emd(problem.cost, problem.u, problem.v, null=null) for null in steps]
        assert (np.diff([one.value for one in words]) >= -1e-13).all()
        assert (np.diff([one.home for one in words]) <= 1e-13).all()
        both = np.array([solve(problem, null).value for null in steps])
        falls += (np.diff(both) < -1e-9).sum()
    assert falls <= 3  # of 300: local minima, of a price each


def test_for_nothing_only_free_moves_are_made():
    problem = random_problem(np.random.default_rng(5), 5, 6)
    assert not emd(problem.cost, null=0).plan.any()
    found = solve(problem, 0.0)
    assert found.value == 0.0
    assert found.home == pytest.approx(1.0)
    assert not found.plan.any()
    assert emd(np.zeros((2, 3)), null=0.0).value == 0.0


@pytest.mark.parametrize("uniform", [True, False])
def test_a_high_price_moves_everything(uniform):
    for n, m in ((6, 6), (5, 8)):
        problem = random_problem(np.random.default_rng(6), n, m, uniform=uniform)
        for null in (1e3, 1e12, 1e60):
            for partial, whole in (
                (
                    emd(problem.cost, problem.u, problem.v, null=null),
                    emd(*problem[:1], *problem[3:5]),
                ),
                (solve(problem, null), solve(problem, None)),
            ):
                np.testing.assert_allclose(partial.plan, whole.plan, rtol=0, atol=1e-12)
                assert partial.linear == pytest.approx(whole.linear, rel=1e-12)
                assert partial.structural == pytest.approx(whole.structural, rel=1e-12)
        endless, whole = solve(problem, math.inf), solve(problem, None)
        assert np.array_equal(endless.plan, whole.plan)
        assert endless.value == whole.value


def test_the_heavier_side_keeps_the_rest():
    problem = random_problem(np.random.default_rng(7), 4, 7)
    for found in (
        emd(problem.cost, np.ones(4), np.ones(7), null=1e9),
        solve(problem, 1e9, u=np.ones(4), v=np.ones(7)),
    ):
        assert found.plan.sum() == pytest.approx(4, rel=1e-14)
        assert found.home == pytest.approx(1.5, rel=1e-14)


def test_the_order_of_words_does_not_matter():
    rng = np.random.default_rng(8)
    for problem, null in zip(*some_problems(seed=9, count=20, most=9), strict=True):
        rows, columns = (rng.permutation(size) for size in problem.cost.shape)
        other = problem._replace(
            cost=problem.cost[np.ix_(rows, columns)],
            source=problem.source[np.ix_(rows, rows)],
            target=problem.target[np.ix_(columns, columns)],
            u=problem.u[rows],
            v=problem.v[columns],
        )
        assert solve(other, null).value == pytest.approx(solve(problem, null).value, rel=1e-6)
        moved = emd(problem.cost, problem.u, problem.v, null=null)
        again = emd(other.cost, other.u, other.v, null=null)
        assert again.value == pytest.approx(moved.value, rel=1e-12, abs=1e-14)


@pytest.mark.parametrize("uniform", [True, False])
def test_a_sentence_stays_with_itself(uniform):
    problem = identical_sentences(np.random.default_rng(10), 7, uniform=uniform)
    for null in (1e-6, 0.5, 100.0):
        found = solve(problem, null)
        assert found.value == pytest.approx(0, abs=1e-12)
        np.testing.assert_allclose(found.plan, np.diag(problem.u), rtol=0, atol=1e-13)


def test_a_word_without_a_match_stays_at_home():
    cost = np.array([[0.1, 2, 2], [2, 0.1, 2], [2, 2, 2], [2, 2, 0.1]])
    order = np.eye(4, k=1), np.eye(3, k=1)
    for found in (
        emd(cost, np.ones(4), np.ones(3), null=0.5),
        fgw(cost, *order, np.ones(4), np.ones(3), scale=0.1, null=0.5),
    ):
        assert np.array_equal(found.plan > 0, cost < 1)
        assert found.home == 0.5


def test_nothing_to_move():
    cost = np.ones((2, 3))
    for found in (
        emd(cost, np.zeros(2), np.ones(3), null=0.5),
        fgw(cost, np.eye(2), np.eye(3), np.ones(2), np.zeros(3), null=0.5),
    ):
        assert found.value == found.home * 0.5 > 0
        assert not found.plan.any()
    assert emd(cost, np.zeros(2), np.zeros(3), null=1.0).value == 0.0


def test_degenerate_problems():
    for null in (0.0, 0.3, 1.0, 5.0):
        for n, m in ((1, 1), (1, 6), (5, 5), (4, 6)):
            same = random_problem(np.random.default_rng(11), n, m)._replace(
                cost=np.ones((n, m)), source=np.ones((n, n)), target=np.ones((m, m))
            )
            found = solve(same, null)
            check(same, found, null)
            assert found.value == pytest.approx(min(null, 0.5), abs=1e-12)


@pytest.mark.parametrize("shape", [(200, 190), (1, 200)])
def test_many_words(shape):
    problem = random_problem(np.random.default_rng(12), *shape, uniform=False)
    null = 0.3 * problem.cost.mean()
    words = emd(problem.cost, problem.u, problem.v, null=null)
    for found in (words, solve(problem, null)):
        assert found.converged
        assert (found.plan.sum(1) <= problem.u + 1e-15).all()
        assert (found.plan.sum(0) <= problem.v + 1e-15).all()
        assert found.home == pytest.approx(1 - found.plan.sum(), abs=1e-12)
        assert 0 < found.value < null


def test_numbers_of_all_sizes_are_solved_within_bounds():
    rng = np.random.default_rng(13)
    for _ in range(150):
        n, m = (int(x) for x in rng.integers(1, 6, 2))
        cost, A, B = (10.0 ** rng.uniform(-6, 6, shape) for shape in ((n, m), (n, n), (m, m)))
        u, v = 10.0 ** rng.uniform(-12, 0, n), 10.0 ** rng.uniform(-12, 0, m)
        null = 10.0 ** rng.uniform(-6, 6)
        for found in (emd(cost, u, v, null=null), fgw(cost, A, B, u, v, null=null)):
            assert found.plan.min() >= 0
            assert (found.plan.sum(1) <= u * (1 + 1e-7) + 1e-15).all()
            assert (found.plan.sum(0) <= v * (1 + 1e-7) + 1e-15).all()
            # what structures differ by is known to twelve digits of their squares
            mass, most = u.sum() + v.sum(), (A.max() + B.max()) ** 2
            slack = 1e-12 * (cost.max() + most * mass) * mass
            assert found.value <= null * mass / 2 * (1 + 1e-9) + slack
            assert found.iterations <= 1000


def test_structure_alone_may_stay_at_home():
    problem = random_problem(np.random.default_rng(14), 5, 6, mix=1.0)
    found = gw(problem.source, problem.target, scale=problem.scale, null=0.1)
    assert found.linear == 0.0
    assert 0 < found.home < 1
    assert found.value == pytest.approx(objective(problem, found.plan, 0.1))


def test_batches_take_a_price_for_every_head():
    problems = [random_problem(np.random.default_rng(seed), 4, 5) for seed in range(3)]
    shapes, start = np.full((3, 2), (4, 5)), np.arange(3)
    cost, source, target, u, v = (
        np.concatenate([p[k].ravel() for p in problems]) for k in range(5)
    )
    posed = Problems(
        shapes=shapes,
        cost=cost,
        u=u,
        v=v,
        u_start=4 * start,
        v_start=5 * start,
        structure=np.concatenate([source, target]),
        a_start=16 * start,
        b_start=source.size + 25 * start,
        scale=np.array([[p.scale] for p in problems]),
    )
    nulls = np.array([[0.2], [0.7], [9.0]])
    words = emd_batch(posed, null=nulls, plans=True)
    both = fgw_batch(posed, mix=0.5, null=nulls, plans=True)
    for k, (problem, null) in enumerate(zip(problems, nulls[:, 0], strict=True)):
        for batch, alone in (
            (words, emd(problem.cost, problem.u, problem.v, null=null)),
            (both, solve(problem, null)),
        ):
            assert batch.value[k, 0] == alone.value
            assert batch.home[k, 0] == alone.home
            assert np.array_equal(batch.plan.reshape(3, 4, 5)[k], alone.plan)
    rough = replace(posed, structure=posed.structure.astype(np.float32))
    single, double = (fgw_batch(one, mix=0.5, null=0.5) for one in (rough, posed))
    np.testing.assert_allclose(single.value, double.value, rtol=1e-6)


@pytest.mark.parametrize("null", [-0.1, math.nan, 1e80])
def test_wrong_prices_are_explained(null):
    with pytest.raises(InputError, match="null == "):
        emd(np.ones((2, 2)), null=null)
    with pytest.raises(InputError, match="null == "):
        gw(np.ones((2, 2)), np.ones((2, 2)), null=null)


def test_units_are_powers_of_two_above_any_mass():
    """The plain function against C's: over all magnitudes, at powers of two and at the ends."""
    rng = np.random.default_rng(0)
    numbers = [*np.exp2(rng.uniform(-1073, 1023, 200)), *np.exp2(np.arange(-1074.0, 1023.0, 7))]
    for number in (*numbers, 5e-324, np.nextafter(1.0, 0.0), 1.0, 1.7e308, 0.0):
        _, exponent = math.frexp(number)
        assert power_above.function(number) == (np.inf if exponent > 1023 else 2.0**exponent)
    assert power_above.function(np.inf) == power_above.function(np.nan) == 1.0


@pytest.mark.parametrize("heavy", [[1.5e308, 1e308], [1e36, 0.0]])
def test_masses_that_would_overflow_are_refused(heavy):
    one = np.eye(2)
    for solve_heavy in (
        lambda: emd(one, heavy, [1, 2], null=1.0),
        lambda: fgw(one, one, one, [1, 2], heavy, null=1.0),
        lambda: gw(one, one, heavy, heavy, null=1.0),
    ):
        with pytest.raises(InputError, match=r"[uv] weighs .* in all; divide it"):
            solve_heavy()


def test_the_heaviest_masses_have_finite_answers():
    most, one = [4e35, 1e35], 1e75 * np.array([[0.0, -1.0], [1.0, 0.0]])
    for found in (
        emd(one, most, most, null=1e75),
        fgw(one, one, one.T, most, most, null=1e75, scale=1e75),
        gw(one, one.T, most, most, null=1e75, scale=1e75),
    ):
        assert np.isfinite([found.value, found.linear, found.structural, found.home]).all()
        assert (found.plan.sum(0) <= np.multiply(most, 1 + 1e-12)).all()
