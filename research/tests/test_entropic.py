"""Sinkhorn in the log domain, against POT and a plain transcription."""

import numpy as np
import ot
import pytest

from movers.arrays import boundaries
from movers.solve.batch import Problems
from movers_research.entropic import sinkhorn_batch


def batch(shapes, seed=0, scale=1.0):
    rng = np.random.default_rng(seed)
    costs = [scale * rng.random(shape) for shape in shapes]
    sides = [[rng.dirichlet(np.ones(size)) for size in side] for side in zip(*shapes, strict=True)]
    return costs, *sides


def solve(costs, us, vs, reg, **options):
    shapes = np.array([cost.shape for cost in costs])
    kernel = np.concatenate([-cost.ravel() / reg for cost in costs])
    u_start, v_start = (boundaries(len(side) for side in sides)[:-1] for sides in (us, vs))
    u, v, cost = (np.concatenate([x.ravel() for x in many]) for many in (us, vs, costs))
    found = sinkhorn_batch(Problems(shapes, cost, u, v, u_start, v_start), kernel, **options)
    starts = boundaries(shapes.prod(axis=1))
    plans = [
        found.plan[low:high].reshape(cost.shape)
        for low, high, cost in zip(starts, starts[1:], costs, strict=False)
    ]
    paid = [(cost * plan).sum() for cost, plan in zip(costs, plans, strict=True)]
    assert found.value[:, 0] == pytest.approx(paid, rel=1e-12)
    return plans, found.iterations[:, 0]


SHAPES = [(1, 1), (1, 4), (3, 2), (5, 5), (8, 13)]


@pytest.mark.parametrize(("reg", "scale"), [(1.0, 1.0), (0.05, 1.0), (0.5, 40.0)])
def test_plans_are_those_of_pot(reg, scale):
    costs, us, vs = batch(SHAPES, scale=scale)
    plans, iterations = solve(costs, us, vs, reg, iterations=20000, tolerance=1e-12)
    for cost, u, v, plan in zip(costs, us, vs, plans, strict=True):
        expected = ot.sinkhorn(
            u, v, cost, reg, method="sinkhorn_log", numItermax=20000, stopThr=1e-12, warn=False
        )
        assert plan == pytest.approx(expected, abs=1e-9)
        assert plan.sum(axis=1) == pytest.approx(u, abs=1e-9)
    assert (iterations < 20000).all()


def plain(kernel, u, v, rounds):
    b = np.ones(len(v))
    for _ in range(rounds):
        a = u / (kernel @ b)
        b = v / (kernel.T @ a)
    return a[:, None] * kernel * b


@pytest.mark.parametrize("rounds", [1, 3, 20])
def test_rounds_are_those_of_the_plain_algorithm(rounds):
    costs, us, vs = batch(SHAPES)
    plans, iterations = solve(costs, us, vs, 0.1, iterations=rounds, tolerance=0.0)
    for cost, u, v, plan in zip(costs, us, vs, plans, strict=True):
        assert plan == pytest.approx(plain(np.exp(-cost / 0.1), u, v, rounds), abs=1e-12)
        assert plan.sum(axis=0) == pytest.approx(v, abs=1e-12)
    assert (iterations == rounds).all()


def test_kernels_far_below_the_smallest_number():
    costs, us, vs = batch([(6, 7)], scale=40.0)
    assert np.exp(-(costs[0] + 40) / 0.03).max() == 0
    (plan,), _ = solve([costs[0] + 40], us, vs, 0.03, iterations=20)
    assert np.isfinite(plan).all()
    assert plan.sum(axis=0) == pytest.approx(vs[0])


def test_words_without_mass_get_none():
    costs, us, vs = batch([(3, 4)])
    us[0][1] = vs[0][2] = 0
    us[0] /= us[0].sum()
    vs[0] /= vs[0].sum()
    (plan,), _ = solve(costs, us, vs, 0.5)
    kept = np.ix_([0, 2], [0, 1, 3])
    (small,), _ = solve([costs[0][kept]], [us[0][[0, 2]]], [vs[0][[0, 1, 3]]], 0.5)
    assert plan[kept] == pytest.approx(small)
    assert plan.sum() == pytest.approx(1)
    assert plan[1].max() == plan[:, 2].max() == 0


def test_threads_do_not_change_plans():
    costs, us, vs = batch([(9, 11)] * 600)
    one, _ = solve(costs, us, vs, 0.1, threads=1)
    two, _ = solve(costs, us, vs, 0.1, threads=2)
    assert np.array_equal(np.concatenate(one), np.concatenate(two))


def test_a_side_without_weight_moves_nothing():
    costs, _, vs = batch([(3, 4)])
    (plan,), _ = solve(costs, [np.zeros(3)], vs, 0.5)
    assert plan.max() == 0
