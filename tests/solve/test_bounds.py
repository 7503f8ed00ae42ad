"""Every bound lies below every value the solver reports, and below every other plan's."""

from itertools import pairwise

import numpy as np
import pytest

from movers.errors import InputError
from movers.solve import Problems, emd_batch
from movers.solve.bounds import word_bounds

TOLERANCE = 1e-5


def make_batch(seed, targets=60, most=12):
    """One source and many targets with their weights and costs."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, most))
    lengths = rng.integers(1, most, targets)
    starts = np.concatenate([[0], np.cumsum(lengths)])
    points, others = rng.normal(size=(n, 4)), rng.normal(size=(starts[-1], 4))
    cost = np.linalg.norm(points[:, None] - others[None], axis=2)

    def weigh(count):
        return rng.dirichlet(np.full(count, 2.0)) if seed % 2 else np.full(count, 1.0 / count)

    return starts, cost, weigh(n), np.concatenate([weigh(m) for m in lengths])


def flat_problems(starts, cost, u, v):
    """The same problems as the solver takes them."""
    lengths = np.diff(starts)
    return Problems(
        shapes=np.stack([np.full(len(lengths), len(u)), lengths], axis=1),
        cost=np.concatenate([cost[:, a:b].ravel() for a, b in pairwise(starts)]),
        u=u,
        v=v,
        u_start=np.zeros(len(lengths), np.int64),
        v_start=starts[:-1],
    )


@pytest.mark.parametrize("seed", range(12))
def test_words_bound_the_exact_cost(seed):
    starts, cost, u, v = made = make_batch(seed, 200)
    exact = emd_batch(flat_problems(*made)).value[:, 0]
    cost32, u32, v32 = (side.astype(np.float32) for side in (cost, u, v))
    found = word_bounds(cost32, starts, u32, v32)
    assert np.all(found <= exact + TOLERANCE)
    for p, (a, b) in enumerate(pairwise(starts)):
        block = cost[:, a:b]
        relaxed = max(u @ block.min(axis=1), v[a:b] @ block.min(axis=0))
        assert found[p] >= relaxed - TOLERANCE, "at least the relaxed word mover's distance"


@pytest.mark.parametrize("starts", [[0, 9], [-1, 2], [0, 2, 1], [0, 2**40, 2]])
def test_targets_outside_of_the_costs_are_refused(starts):
    cost, halves = np.zeros((2, 2), np.float32), np.full(2, 0.5, np.float32)
    with pytest.raises(InputError, match="targets from"):
        word_bounds(cost, np.array(starts), halves, halves)
