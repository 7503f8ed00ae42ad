"""Weights from 1e-12 to 1 and costs from 1e-9 to 1e9: solved within bounds, and honestly."""

import warnings
from functools import cache

import numpy as np
import ot
import pytest
import reference_solvers as reference
from scipy import sparse
from scipy.optimize import linear_sum_assignment, linprog
from versus_pot import Problem, pot_value

from movers.errors import InputError
from movers.runtime.notices import ConvergenceWarning
from movers.solve import batch, emd, fgw, gw

COUNT = 2_000
LEAST = 2.0**-53
"""Shares below it are taken for nothing."""


def wide_problems(seed, count=COUNT, most=6):
    """Problems of one to five tokens, a third of them uniform, a tenth square."""
    rng = np.random.default_rng(seed)

    def entries(*shape):
        return 10.0 ** rng.uniform(-9, 9, shape)

    def weights(size, uniform):
        found = np.ones(size) if uniform else 10.0 ** rng.uniform(-12, 0, size)
        return found / found.sum()

    found = []
    for k in range(count):
        n, m = (int(x) for x in rng.integers(1, most, 2))
        m = n if k % 10 == 0 else m
        u, v = weights(n, k % 3 == 0), weights(m, k % 3 == 0)
        found.append(Problem(entries(n, m), entries(n, n), entries(m, m), u, v, 0.5, 1.0))
    return found


def solved(solver, problems, *names, **options):
    return [solver(*(getattr(one, name) for name in names), **options) for one in problems]


def check_plans(problems, found):
    """Whatever the range, plans are plans, and light tokens keep the digits of their weight."""
    for problem, one in zip(problems, found, strict=True):
        assert one.converged
        assert one.iterations <= 100
        assert one.plan.min() >= 0
        np.testing.assert_allclose(one.plan.sum(1), problem.u, rtol=1e-7, atol=1e-15)
        np.testing.assert_allclose(one.plan.sum(0), problem.v, rtol=1e-7, atol=1e-15)


@pytest.fixture(scope="module")
def problems():
    return wide_problems(seed=1)


@pytest.fixture(scope="module")
def moved(problems):
    return solved(emd, problems, "cost", "u", "v")


def test_a_large_cost_beside_small_ones():
    cost = np.array(
        [[23.315295387974942, 24.357735816394264], [0.0047871965, 0.0014446146884641966]]
    )
    u, v = np.array([2.2142402687324195e-06, 0.0139]), np.array([0.00011285692255314205, 0.0015374])
    found = emd(cost, u, v)
    assert found.converged
    assert found.value == pytest.approx(two_rows(cost, u / u.sum(), v / v.sum()), rel=1e-12)


def two_rows(cost, u, v):
    """Optimum for two rows, by sorting: the first row takes what it has the greatest gain from."""
    cost, v = cost.astype(np.longdouble), v.astype(np.longdouble)
    gain = cost[0] - cost[1]
    left, value = np.longdouble(u[0]), (cost[1] * v).sum()
    for j in np.argsort(gain):
        taken = min(left, v[j])
        left -= taken
        value += taken * gain[j]
    return float(value)


def test_two_rows_are_solved_to_all_digits():
    rng = np.random.default_rng(2)
    problems = []
    for uniform in (True, False):
        for problem in wide_problems(seed=3 + uniform, count=COUNT // 2):
            m = len(problem.v)
            u = np.full(2, 0.5) if uniform else rng.dirichlet([0.05, 1.0]) + 1e-12
            cost = 10.0 ** rng.uniform(-9, 9, (2, m))
            problems.append(problem._replace(cost=cost, u=u / u.sum()))
    found = solved(emd, problems, "cost", "u", "v")
    expected = [two_rows(p.cost, p.u, p.v) for p in problems]
    # a weight has about 16 digits, beside a cost that may be 1e18 times as large as another
    slack = [4 * LEAST * p.cost.max() for p in problems]
    over = np.abs([one.value for one in found] - np.array(expected))
    assert (over <= 1e-9 * np.abs(expected) + slack).all()
    assert np.mean(over <= 1e-12 * np.abs(expected)) > 0.9


def test_emd_is_never_worse_than_pot(problems, moved):
    check_plans(problems, moved)
    for problem, one in zip(problems, moved, strict=True):
        other = ot.emd(problem.u, problem.v, problem.cost, numItermax=100_000)
        off = np.abs(other.sum(1) - problem.u).sum() + np.abs(other.sum(0) - problem.v).sum()
        bound = (other * problem.cost).sum() + off * problem.cost.max()
        assert one.value <= bound * (1 + 1e-9)


def test_emd_agrees_with_linprog(problems, moved):
    """In blocks of a hundred problems, each scaled to a largest cost of 1."""
    for start in range(0, COUNT, 100):
        part = problems[start : start + 100]
        largest = np.array([p.cost.max() for p in part])
        found = linprog(
            np.concatenate([p.cost.ravel() / p.cost.max() for p in part]),
            A_eq=sparse.block_diag([marginals(*p.cost.shape) for p in part], "csc"),
            b_eq=np.concatenate([np.append(p.u, p.v[:-1]) for p in part]),
            method="highs-ds",
            options={"presolve": False},  # which takes rounding of the sums for a contradiction
        )
        ends = np.cumsum([p.cost.size for p in part])[:-1]
        parts = zip(np.split(found.x, ends), part, strict=True)
        values = np.array([x @ p.cost.ravel() for x, p in parts]) / largest
        ours = np.array([one.value for one in moved[start : start + 100]]) / largest
        np.testing.assert_allclose(ours, values, rtol=0, atol=1e-6)  # HiGHS promises 1e-7


@cache
def marginals(n, m):
    """All but the last of the sums that a flat plan has to have."""
    rows = sparse.kron(sparse.eye_array(n), np.ones((1, m)))
    return sparse.vstack([rows, sparse.kron(np.ones((1, n)), sparse.eye_array(m))]).tocsr()[:-1]


@pytest.mark.parametrize("mix", [1.0, 0.5], ids=["gw", "fgw"])
def test_structure_is_rarely_worse_than_pot(problems, mix):
    posed = [p._replace(mix=mix, cost=p.cost if mix < 1 else 0 * p.cost) for p in problems]
    if mix < 1:
        found = solved(fgw, problems, "cost", "source", "target", "u", "v", mix=mix)
    else:
        found = solved(gw, problems, "source", "target", "u", "v")
    check_plans(problems, found)
    ours = np.array([one.value for one in found])
    pots = np.array([pot_value(problem, max_iter=100) for problem in posed[::2]])
    over = (ours[::2] - pots) / pots
    assert (over > 1e-6).mean() < 0.002
    assert (over < -1e-6).mean() > 0.02
    for problem, one in zip(posed[:200], found, strict=False):
        energy = reference.energy(problem.source, problem.target, one.plan)
        value = (1 - mix) * (problem.cost * one.plan).sum() + mix * energy
        assert one.value == pytest.approx(value, rel=1e-7)


@pytest.mark.parametrize("kind", ["signed", "equal", "few"])
def test_every_kind_of_range_ends(kind):
    rng = np.random.default_rng(5)
    kinds = {
        "signed": lambda shape: rng.choice([-1, 1], shape) * 10.0 ** rng.uniform(-9, 9, shape),
        "equal": lambda shape: 10.0 ** rng.choice([-9, -8, 0, 8, 9], shape),
        "few": lambda shape: rng.random(shape) * np.where(rng.random(shape) < 0.05, 1e9, 1e-6),
    }
    problems = [
        p._replace(**{name: kinds[kind](getattr(p, name).shape) for name in p._fields[:3]})
        for p in wide_problems(seed=6, count=500, most=20)
    ]
    check_plans(problems, solved(emd, problems, "cost", "u", "v"))
    check_plans(problems, solved(fgw, problems, "cost", "source", "target", "u", "v"))
    check_plans(problems, solved(gw, problems, "source", "target", "u", "v"))


def test_a_square_problem_of_far_apart_costs():
    """The diagonal is dear, and rounding of what it costs must not hide the rest."""
    rng = np.random.default_rng(7)
    cost = rng.uniform(1e-9, 1e-8, (6, 6)) + 1e9 * np.eye(6)
    order = cost[:, np.roll(np.arange(6), 1)]
    assert emd(cost).value == pytest.approx(emd(order).value, rel=1e-12)
    assert emd(cost).value < 1e-8


@pytest.mark.parametrize("uniform", [True, False])
def test_a_large_problem_over_24_decades(uniform):
    """Every pivot of the last digits once took a look at every cost, half a minute in all."""
    rng = np.random.default_rng(10)
    n, m = (600, 600) if uniform else (300, 420)
    cost = 10.0 ** rng.uniform(-12, 12, (n, m))
    u, v = np.ones(n), np.ones(m) if uniform else rng.integers(1, 4, m)
    found = emd(cost, u, v)
    assert found.converged
    if uniform:
        expected = cost[linear_sum_assignment(cost)].mean()
    else:
        expected = ot.emd2(u / u.sum(), v / v.sum(), cost, numItermax=10**7)
    assert found.value <= expected * (1 + 1e-9)


def test_a_search_that_is_cut_short_says_so(monkeypatch):
    share_out = batch.share_out

    def stopped(solve, work, threads, stop):
        stop[0] = 1
        share_out(solve, work, threads, stop)

    monkeypatch.setattr(batch, "share_out", stopped)
    problems = wide_problems(seed=8, count=60, most=12)
    solvers = (
        (emd, ("cost", "u", "v")),
        (gw, ("source", "target", "u", "v")),
        (fgw, ("cost", "source", "target", "u", "v")),
    )
    for solver, names in solvers:
        with pytest.warns(ConvergenceWarning, match=r"1 of 1 transport problems reached the bound"):
            found = solved(solver, problems, *names)
        assert not all(one.converged for one in found)
        for problem, one in zip(problems, found, strict=True):
            np.testing.assert_allclose(one.plan.sum(1), problem.u, rtol=0, atol=1e-14)
            np.testing.assert_allclose(one.plan.sum(0), problem.v, rtol=0, atol=1e-14)


def test_ordinary_problems_give_no_warning():
    rng = np.random.default_rng(9)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert emd(rng.random((20, 30))).converged
        assert gw(rng.random((20, 20)), rng.random((30, 30))).converged


@pytest.mark.parametrize("name", ["cost", "A"])
def test_entries_whose_squares_overflow_are_refused(name):
    huge = np.array([[1.0, -2e80], [0.0, 1.0]])
    with pytest.raises(InputError, match=rf"{name} has an entry of size 2e\+80"):
        emd(huge) if name == "cost" else gw(huge, huge)


def test_shares_that_round_to_nothing_are_dropped():
    cost = np.array([[0.0, 1.0], [1e9, 1e9]])
    found = emd(cost, [1.0, LEAST / 4], [0.5, 0.5])
    assert found.plan[1].sum() == 0.0
    assert found.value == 0.5
    kept = emd(cost, [1.0, 1e-15], [0.5, 0.5])
    assert kept.plan[1].sum() == pytest.approx(1e-15, rel=1e-9)
