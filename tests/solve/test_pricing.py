"""The price of a plan against the sum written out."""

import numpy as np
import pytest

from movers.arrays import Ragged
from movers.solve.batch import price_batch
from movers.solve.problems import Problems


def energy(plan, a, b):
    """The definition, term by term."""
    apart = a[:, None, :, None] - b[None, :, None, :]
    return float(np.einsum("ijkl,ij,kl->", apart**2, plan, plan))


def batch(rng, count, heads):
    shapes = rng.integers(1, 9, (count, 2))
    plans = [rng.random(tuple(shape)) * (rng.random(tuple(shape)) < 0.4) for shape in shapes]
    blocks = [rng.random((heads, size, size)).astype(np.float32) for size in shapes.ravel()]
    flat, structure = (Ragged.from_rows([x.ravel() for x in many]) for many in (plans, blocks))
    weights = Ragged.from_rows([np.full(size, 1 / size) for size in shapes.ravel()])
    rows = np.arange(2 * count).reshape(-1, 2)
    costs, scale = Ragged(np.zeros(len(flat.data)), flat.starts), np.ones((count, heads))
    posed = Problems.between(weights, rows, costs, structure, scale)
    return posed, plans, blocks, flat.data


@pytest.mark.parametrize("heads", [1, 5])
def test_price_is_the_sum_over_all_pairs_of_cells(heads):
    problems, plans, blocks, flat = batch(np.random.default_rng(0), 60, heads)
    expected = [
        [energy(plan, a.astype(float), b.astype(float)) for a, b in zip(*two, strict=True)]
        for plan, two in zip(plans, zip(blocks[::2], blocks[1::2], strict=True), strict=True)
    ]
    np.testing.assert_allclose(price_batch(problems, flat), expected, rtol=1e-6, atol=1e-12)


def test_threads_and_company_change_nothing():
    problems, plans, _, flat = batch(np.random.default_rng(1), 40, 3)
    together = price_batch(problems, flat, threads=1)
    np.testing.assert_array_equal(together, price_batch(problems, flat, threads=2))
    alone = price_batch(problems.take(np.array([7]), np.arange(3)), plans[7].ravel())
    np.testing.assert_array_equal(alone[0], together[7])


def test_same_structure_costs_nothing_under_the_identity():
    block = np.random.default_rng(2).random((1, 6, 6)).ravel()
    row, weights = np.zeros((1, 2), np.int64), Ragged.from_rows([np.ones(6)])
    structure, scale = Ragged.from_rows([block]), np.ones((1, 1))
    problems = Problems.between(weights, row, Ragged.zeros([36]), structure, scale)
    assert price_batch(problems, np.eye(6).ravel() / 6).item() == 0.0
