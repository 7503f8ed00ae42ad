"""Products: right, and the same bits for a row in any company and on any processor."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from movers.encode.kernels import product


def in_order(row, matrix):
    """One row times a matrix, term by term."""
    total = np.zeros(matrix.shape[1])
    for x, terms in zip(row.astype(float), matrix, strict=True):
        total = total + x * terms
    return total


@given(st.integers(0, 1000), st.integers(0, 70), st.integers(1, 21), st.integers(1, 40))
def test_sums_take_their_terms_in_order(seed, count, size, width):
    rng = np.random.default_rng(seed)
    rows, matrix = rng.normal(size=(count, size)), rng.normal(size=(size, width))
    found = product(rows, matrix)
    assert found.shape == (count, width)
    for row, values in zip(rows, found, strict=True):
        np.testing.assert_array_equal(values, in_order(row, matrix))


@pytest.mark.parametrize("size", [384, 385])
def test_no_bit_depends_on_company_or_layout(size):
    rng = np.random.default_rng(2)
    rows = rng.normal(size=(300, size)).astype(np.float32)
    matrix = rng.normal(size=(size, size))
    together = product(rows, matrix)
    np.testing.assert_array_equal(together[77], in_order(rows[77], matrix))
    for low, high in ((0, 1), (31, 34), (299, 300), (3, 200)):
        np.testing.assert_array_equal(product(rows[low:high], matrix), together[low:high])
    np.testing.assert_array_equal(product(rows[::3], matrix), together[::3])
    np.testing.assert_array_equal(product(rows, np.asfortranarray(matrix)), together)
