"""Random and degenerate problems shared by the solver tests."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from versus_pot import Problem

Array = NDArray[np.float64]


def random_problem(
    rng: np.random.Generator, n: int, m: int, *, uniform: bool = True, mix: float = 0.5
) -> Problem:
    """Points in the plane and attention-like rows, with the usual scale."""
    cost = np.linalg.norm(rng.normal(size=(n, 1, 2)) - rng.normal(size=(1, m, 2)), axis=2)
    source = rng.dirichlet(np.full(n, 0.3), n)
    target = rng.dirichlet(np.full(m, 0.3), m)
    squares = (source**2).mean() + (target**2).mean() - 2 * source.mean() * target.mean()
    u = np.ones(n) if uniform else rng.uniform(1, 9, n)
    v = np.ones(m) if uniform else rng.uniform(1, 9, m)
    scale = float(cost.mean() / squares) if squares > 1e-9 else 1.0
    return Problem(cost, source, target, u / u.sum(), v / v.sum(), mix, scale)


def identical_sentences(rng: np.random.Generator, n: int, *, uniform: bool) -> Problem:
    """A sentence against itself, every third token a repetition."""
    points = rng.normal(size=(n, 8))
    points[2::3] = points[0]
    cost = np.linalg.norm(points[:, None] - points[None], axis=2)
    structure = rng.dirichlet(np.full(n, 0.3), n)
    u = np.ones(n) if uniform else rng.uniform(1, 9, n)
    return Problem(cost, structure, structure, u / u.sum(), u / u.sum(), 0.5, 10.0)


def mixed_problems(seed: int, count: int, most: int = 14) -> list[Problem]:
    """Square and oblong, uniform and weighted problems in turn."""
    rng = np.random.default_rng(seed)
    found = []
    for k in range(count):
        n, m = (int(x) for x in rng.integers(1, most, 2))
        found.append(random_problem(rng, n, n if k % 3 == 0 else m, uniform=k % 2 == 0))
    return found


def taken(problems, pairs, heads):
    """Some of the pairs under some heads, which lie one after another."""
    kept = problems.shapes[pairs]
    return replace(
        problems,
        shapes=kept,
        cost=np.concatenate([problems.costs[pair] for pair in pairs]),
        u_start=problems.u_start[pairs],
        v_start=problems.v_start[pairs],
        a_start=problems.a_start[pairs] + heads[0] * kept[:, 0] ** 2,
        b_start=problems.b_start[pairs] + heads[0] * kept[:, 1] ** 2,
        scale=problems.scale[np.ix_(pairs, heads)],
    )
