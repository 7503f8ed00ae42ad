"""Flat batches: any number of threads, callers and heads gives the same bits."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from problems import mixed_problems, random_problem

from movers.runtime import threads as parallel
from movers.solve import Problems, emd_batch, fgw, fgw_batch


def flat_batch(seed=0, pairs=40, heads=3, dtype=np.float64):
    """A batch where every sentence has its own place in the stores, and `heads` structures."""
    rng = np.random.default_rng(seed)
    problems = mixed_problems(seed, pairs)
    shapes = np.array([p.cost.shape for p in problems])
    structures, starts, at = [], [], 0
    for n in shapes.T.ravel():
        structures.append(rng.dirichlet(np.full(n, 0.3), (heads, n)).astype(dtype))
        starts.append(at)
        at += structures[-1].size
    weights = [p.u for p in problems] + [p.v for p in problems]
    sizes = np.array([w.size for w in weights])
    weight_start = np.cumsum(sizes) - sizes
    flat = np.concatenate(weights)
    return Problems(
        shapes=shapes,
        cost=np.concatenate([p.cost.ravel() for p in problems]),
        u=flat,
        v=flat,
        u_start=weight_start[:pairs],
        v_start=weight_start[pairs:],
        structure=np.concatenate([s.ravel() for s in structures]),
        a_start=np.array(starts[:pairs]),
        b_start=np.array(starts[pairs:]),
        scale=rng.uniform(0.1, 5, (pairs, heads)),
    )


def same(left, right):
    for name in ("value", "linear", "structural", "iterations", "gap", "plan"):
        assert np.array_equal(getattr(left, name), getattr(right, name)), name


@pytest.fixture
def threads_for_all(monkeypatch):
    monkeypatch.setattr(parallel, "WORTH_A_THREAD", 1.0)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_heads_are_independent_problems(dtype):
    given = flat_batch(dtype=dtype)
    found = fgw_batch(given, mix=0.4, plans=True)
    at = 0
    for p, (n, m) in enumerate(given.shapes):
        for h in range(3):
            a = given.structure[given.a_start[p] + h * n * n :][: n * n]
            b = given.structure[given.b_start[p] + h * m * m :][: m * m]
            alone = fgw(
                given.costs[p].reshape(n, m),
                a.reshape(n, n),
                b.reshape(m, m),
                given.u[given.u_start[p] :][:n],
                given.v[given.v_start[p] :][:m],
                mix=0.4,
                scale=given.scale[p, h],
            )
            assert found.value[p, h] == pytest.approx(alone.value, rel=1e-12)
            plan = found.plan[at : at + n * m].reshape(n, m)
            np.testing.assert_allclose(plan, alone.plan, rtol=0, atol=1e-12)
            at += n * m


def test_threads_do_not_change_a_bit(threads_for_all):
    given = flat_batch(seed=1, pairs=60)
    for threads in (2, 4, None):
        same(
            fgw_batch(given, mix=0.5, plans=True, threads=1),
            fgw_batch(given, mix=0.5, plans=True, threads=threads),
        )
        same(
            emd_batch(given, plans=True, threads=1),
            emd_batch(given, plans=True, threads=threads),
        )


def test_order_and_company_do_not_change_a_bit():
    given = flat_batch(seed=2, pairs=30)
    found = fgw_batch(given, mix=0.5)
    for p in (0, 7, 29):
        alone = given.take(np.array([p]), np.arange(3))
        assert np.array_equal(fgw_batch(alone, mix=0.5).value[0], found.value[p])
    some = given.take(np.array([7, 3]), np.array([1, 2]))
    assert np.array_equal(fgw_batch(some, mix=0.5).value, found.value[[7, 3], 1:])


def test_callers_in_several_threads(threads_for_all):
    batches = [flat_batch(seed=seed, pairs=20) for seed in range(6)]
    expected = [fgw_batch(given, mix=0.5, plans=True, threads=1) for given in batches]
    with ThreadPoolExecutor(6) as pool:
        found = list(pool.map(lambda g: fgw_batch(g, mix=0.5, plans=True, threads=2), batches))
    for left, right in zip(expected, found, strict=True):
        same(left, right)


def test_empty_batch():
    none = np.zeros(0, np.int64)
    shapes, empty = np.zeros((0, 2), np.int64), np.zeros(0)
    found = emd_batch(Problems(shapes, empty, empty, empty, none, none))
    assert found.value.shape == (0, 1)


def test_every_problem_within_a_hundred_calls():
    rng = np.random.default_rng(3)
    for n, m in ((20, 20), (30, 22), (40, 40)):
        problem = random_problem(rng, n, m)
        for scale in (1.0, 30.0, 1000.0):
            found = fgw(*problem[:5], scale=scale)
            assert found.iterations <= 100
