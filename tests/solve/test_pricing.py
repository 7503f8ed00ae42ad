"""The price of a plan against the sum written out."""

import numpy as np
import pytest

from movers.solve.pricing import price_batch


def energy(plan, a, b):
    """The definition, term by term."""
    apart = a[:, None, :, None] - b[None, :, None, :]
    return float(np.einsum("ijkl,ij,kl->", apart**2, plan, plan))


def batch(rng, count, heads):
    shapes = rng.integers(1, 9, (count, 2))
    plans = [rng.random(tuple(shape)) * (rng.random(tuple(shape)) < 0.4) for shape in shapes]
    blocks = [rng.random((heads, size, size)).astype(np.float32) for size in shapes.ravel()]
    sizes = np.array([block.size for block in blocks])
    starts = (np.cumsum(sizes) - sizes).reshape(-1, 2)
    flat = [np.concatenate([x.ravel() for x in many]) for many in (plans, blocks)]
    return shapes, plans, blocks, flat, starts


@pytest.mark.parametrize("heads", [1, 5])
def test_price_is_the_sum_over_all_pairs_of_cells(heads):
    shapes, plans, blocks, (flat, structure), starts = batch(np.random.default_rng(0), 60, heads)
    found = price_batch(
        shapes, flat, structure, a_start=starts[:, 0], b_start=starts[:, 1], heads=heads
    )
    expected = [
        [energy(plan, a.astype(float), b.astype(float)) for a, b in zip(*two, strict=True)]
        for plan, two in zip(plans, zip(blocks[::2], blocks[1::2], strict=True), strict=True)
    ]
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-12)


def test_threads_and_company_change_nothing():
    shapes, _, _, (flat, structure), starts = batch(np.random.default_rng(1), 40, 3)
    ends = {"a_start": starts[:, 0], "b_start": starts[:, 1], "heads": 3}
    together = price_batch(shapes, flat, structure, **ends, threads=1)
    np.testing.assert_array_equal(together, price_batch(shapes, flat, structure, **ends, threads=2))
    size = int(shapes[:7].prod(axis=1).sum())
    alone = price_batch(
        shapes[7:8],
        flat[size:],
        structure,
        a_start=starts[7:8, 0],
        b_start=starts[7:8, 1],
        heads=3,
    )
    np.testing.assert_array_equal(alone[0], together[7])


def test_same_structure_costs_nothing_under_the_identity():
    a = np.random.default_rng(2).random((1, 6, 6)).astype(np.float32).ravel()
    at = np.zeros(1, np.int64)
    found = price_batch(
        np.array([[6, 6]]), np.eye(6).ravel() / 6, a, a_start=at, b_start=at, heads=1
    )
    assert found.item() == 0.0
