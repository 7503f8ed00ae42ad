"""The price of a plan against the sum written out."""

from dataclasses import replace

import numpy as np
import pytest
from problems import taken

from movers.arrays import Ragged
from movers.errors import InputError
from movers.solve.batch import Problems, broken_batch, price_batch


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
    alone = price_batch(taken(problems, [7], [0, 1, 2]), plans[7].ravel())
    np.testing.assert_array_equal(alone[0], together[7])


def test_same_structure_costs_nothing_under_the_identity():
    block = np.random.default_rng(2).random((1, 6, 6)).ravel()
    row, weights = np.zeros((1, 2), np.int64), Ragged.from_rows([np.ones(6)])
    structure, scale = Ragged.from_rows([block]), np.ones((1, 1))
    problems = Problems.between(weights, row, Ragged.zeros([36]), structure, scale)
    assert price_batch(problems, np.eye(6).ravel() / 6).item() == 0.0


def broken(plan, a, b):
    """The definition, term by term: what the plan breaks over what a product plan would."""
    plan = plan / plan.sum()
    p, q = plan.sum(axis=1), plan.sum(axis=0)
    a, b = (
        np.where(moved > 0, structure, 0) / (structure * (moved > 0)).sum(1, keepdims=True)
        for structure, moved in ((a, p), (b, q))
    )
    return energy(plan, a, b) / energy(np.outer(p, q), a, b)


def test_broken_share_is_held_against_the_product_plan():
    problems, plans, blocks, flat = batch(np.random.default_rng(3), 80, 4)
    shares = broken_batch(problems, flat)
    for plan, first, second, row in zip(plans, blocks[::2], blocks[1::2], shares, strict=True):
        if (plan > 0).sum() < 2:
            assert not row.any()
            continue
        two = zip(first.astype(float), second.astype(float), strict=True)
        expected = [broken(plan, a, b) for a, b in two]
        np.testing.assert_allclose(row, expected, rtol=1e-6, atol=1e-9)


def test_words_that_stay_at_home_break_nothing():
    rng = np.random.default_rng(4)
    small = rng.random((1, 4, 4)).astype(np.float32)
    large = rng.random((1, 5, 5)).astype(np.float32)
    large[:, :4, :4] = small  # the fifth word is new, and nothing is moved to it
    structure = Ragged.from_rows([small.ravel(), large.ravel()])
    weights, rows = Ragged.from_rows([np.ones(4), np.ones(5)]), np.array([[0, 1]])
    problems = Problems.between(weights, rows, Ragged.zeros([20]), structure, np.ones((1, 1)))
    assert broken_batch(problems, np.eye(4, 5).ravel()).item() == pytest.approx(0.0, abs=1e-12)


def test_broken_shares_do_not_depend_on_the_unit_of_mass_or_on_threads():
    problems, _, _, flat = batch(np.random.default_rng(5), 40, 3)
    one = broken_batch(problems, flat, threads=1)
    np.testing.assert_array_equal(one, broken_batch(problems, flat, threads=2))
    np.testing.assert_allclose(one, broken_batch(problems, 1e6 * flat), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("evaluate", [price_batch, broken_batch])
@pytest.mark.parametrize("value", [np.nan, np.inf, -1.0])
def test_plans_that_are_no_masses_are_refused(evaluate, value):
    problems, _, _, flat = batch(np.random.default_rng(6), 5, 2)
    flat[0] = value
    with pytest.raises(InputError, match="plans have entries that are NaN, infinite or below 0"):
        evaluate(problems, flat)


@pytest.mark.parametrize("evaluate", [price_batch, broken_batch])
@pytest.mark.parametrize("value", [np.nan, np.inf, 1e75])
def test_structures_that_cannot_be_squared_are_refused(evaluate, value):
    problems, _, _, flat = batch(np.random.default_rng(7), 5, 2)
    structure = problems.structure.astype(float)
    structure[problems.a_start[3] :][:2] = value
    with pytest.raises(InputError, match=r"pair 3: its structures or plan have entries that are"):
        evaluate(replace(problems, structure=structure), np.ones_like(flat))
