"""Every bound lies below every value the solver reports, and below every other plan's."""

from itertools import pairwise

import numpy as np
import pytest

from movers.solve import Problems, emd, emd_batch, fgw_batch
from movers.solve.bounds import (
    Profiles,
    centroid_bounds,
    profile_bounds,
    structure_profiles,
    word_bounds,
)

HEADS = 3
TOLERANCE = 1e-5


def make_batch(seed, targets=60, *, kind="attention", most=12):
    """One source, many targets, weights and structures of several kinds."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, most))
    lengths = rng.integers(1, most, targets)
    starts = np.concatenate([[0], np.cumsum(lengths)])
    points, others = rng.normal(size=(n, 4)), rng.normal(size=(starts[-1], 4))
    cost = np.linalg.norm(points[:, None] - others[None], axis=2)

    def weigh(count):
        return rng.dirichlet(np.full(count, 2.0)) if seed % 2 else np.full(count, 1.0 / count)

    def structure(count):
        if kind == "attention":
            return rng.dirichlet(np.full(count, 0.3), (HEADS, count))
        if kind == "symmetric":
            blocks = rng.normal(size=(HEADS, count, count))
            return blocks + blocks.swapaxes(1, 2)
        return rng.normal(size=(HEADS, count, count)) * rng.choice([1e-3, 1, 30])

    u, v = weigh(n), np.concatenate([weigh(m) for m in lengths])
    blocks = [structure(n), *(structure(m) for m in lengths)]
    scale = rng.uniform(0.1, 20, (targets, HEADS))
    return n, lengths, starts, cost, u, v, blocks, scale


def flat_problems(n, lengths, starts, cost, u, v, blocks, scale):
    """The same problems as the solver takes them."""
    count = len(lengths)
    sizes = np.array([block.size for block in blocks])
    at = np.cumsum(sizes) - sizes
    return Problems(
        shapes=np.stack([np.full(count, n), lengths], axis=1),
        cost=np.concatenate([cost[:, a:b].ravel() for a, b in pairwise(starts)]),
        u=u,
        v=v,
        u_start=np.zeros(count, np.int64),
        v_start=starts[:-1],
        structure=np.concatenate([block.ravel() for block in blocks]),
        a_start=np.zeros(count, np.int64),
        b_start=at[1:],
        scale=scale,
    )


def bound_profiles(n, lengths, starts, cost, u, v, blocks, scale, mix):
    single = [np.asarray(x, np.float32) for x in (cost, u, v)]
    structures = np.concatenate([block.ravel() for block in blocks])
    numbers, steps = structure_profiles(
        structures, np.concatenate([u, v]), np.concatenate([[0], n + starts]), HEADS
    )
    size = HEADS * (3 * n + 1 + n // 2)
    sides = Profiles(numbers[:size], steps[:1]), Profiles(numbers[size:], steps[1:])
    factors = (mix * scale).astype(np.float32)
    return profile_bounds(single[0], starts, single[1], single[2], *sides, factors, 1 - mix)


@pytest.mark.parametrize("seed", range(12))
def test_words_bound_the_exact_cost(seed):
    _, _, starts, cost, u, v, *_ = made = make_batch(seed, 200)
    exact = emd_batch(flat_problems(*made)).value[:, 0]
    cost32, u32, v32 = (side.astype(np.float32) for side in (cost, u, v))
    found = word_bounds(cost32, starts, u32, v32)
    assert np.all(found <= exact + TOLERANCE)
    for p, (a, b) in enumerate(pairwise(starts)):
        block = cost[:, a:b]
        relaxed = max(u @ block.min(axis=1), v[a:b] @ block.min(axis=0))
        assert found[p] >= relaxed - TOLERANCE, "at least the relaxed word mover's distance"


@pytest.mark.parametrize("kind", ["attention", "symmetric", "any"])
@pytest.mark.parametrize("mix", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("seed", range(5))
def test_profiles_bound_what_the_solver_finds(seed, mix, kind):
    made = make_batch(seed, 80, kind=kind)
    blocks, scale = made[6], made[7]
    exact = fgw_batch(flat_problems(*made), mix=mix).value
    found = bound_profiles(*made, mix)
    squares = np.array([(block**2).mean(axis=(1, 2)) for block in blocks])
    terms = 1.0 + mix * scale * (squares[0] + squares[1:])
    assert np.all(found <= exact + TOLERANCE * terms)
    assert np.mean(found > 0.1 * exact) > 0.4, "a bound of nothing would hold as well"


@pytest.mark.parametrize("seed", range(4))
def test_profiles_bound_every_plan(seed):
    rng = np.random.default_rng(seed)
    n, lengths, starts, cost, u, v, blocks, scale = made = make_batch(seed, 40, kind="any")
    found = bound_profiles(*made, 0.5)
    for p, m in enumerate(lengths):
        plan = rng.uniform(size=(n, m)) ** 8 + 1e-12
        weights = v[starts[p] : starts[p + 1]]
        for _ in range(200):
            plan *= (u / plan.sum(axis=1))[:, None]
            plan *= weights / plan.sum(axis=0)
        for head in range(HEADS):
            a, b = blocks[0][head], blocks[p + 1][head]
            energy = (
                (a**2 * np.outer(u, u)).sum()
                + (b**2 * np.outer(weights, weights)).sum()
                - 2 * np.sum(a * (plan @ b @ plan.T))
            )
            words = np.sum(plan * cost[:, starts[p] : starts[p + 1]])
            value = 0.5 * words + 0.5 * scale[p, head] * energy
            assert found[p, head] <= value * (1 + 1e-4) + 1e-4


def test_the_profile_of_a_sentence_with_itself_costs_nothing():
    n, _, _, _, u, _, blocks, scale = make_batch(1, 1)
    blocks, lengths, starts = [blocks[0], blocks[0]], np.array([n]), np.array([0, n])
    cost = np.ones((n, n)) - np.eye(n)
    found = bound_profiles(n, lengths, starts, cost, u, u, blocks, scale, 0.5)
    np.testing.assert_allclose(found, 0, atol=1e-5)


@pytest.mark.parametrize("moved", [0.0, 0.1])
@pytest.mark.parametrize("squared", [False, True])
def test_centroids_bound_the_exact_cost(squared, moved):
    rng = np.random.default_rng(0)
    for _ in range(400):
        n, m = rng.integers(1, 8, 2)
        x, y = rng.normal(size=(n, 16)), rng.normal(size=(m, 16)) + rng.uniform(0, 2)
        if squared:
            x, y = (side / np.linalg.norm(side, axis=1, keepdims=True) for side in (x, y))
            cost = 1 - x @ y.T
        else:
            cost = np.linalg.norm(x[:, None] - y[None], axis=2)
        u, v = rng.dirichlet(np.ones(n)), rng.dirichlet(np.ones(m))
        exact = emd(cost, u, v).value
        far = rng.normal(size=16)
        far *= moved / np.linalg.norm(far)
        source, targets = (u @ x).astype(np.float32), (v @ y + far)[None].astype(np.float32)
        errors = np.array([moved], np.float32)
        found = centroid_bounds(source, targets, errors, squared=squared)[0]
        assert 0 <= found <= exact
