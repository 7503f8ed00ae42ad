"""Rows of unequal length behave like the list of rows they stand for."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from movers.arrays import Ragged, boundaries
from movers.errors import InputError

ROWS = st.lists(st.lists(st.integers(-5, 5), max_size=4), max_size=6)


@given(ROWS, ROWS)
def test_is_a_list_of_rows(rows, others):
    ragged, other = (Ragged.from_rows(given, np.int64) for given in (rows, others))
    assert [row.tolist() for row in ragged] == rows
    assert ragged.lengths.tolist() == [len(row) for row in rows]
    assert ragged.sums().tolist() == [sum(row) for row in rows]
    assert [row.tolist() for row in ragged.joined(other)] == rows + others
    order = list(range(len(rows)))[::-1]
    assert [row.tolist() for row in ragged.take(order)] == rows[::-1]
    if rows:
        assert ragged[-1].tolist() == rows[-1]


def test_rows_are_views():
    ragged = Ragged.zeros([2, 0, 1], (3,), np.float32)
    ragged[2][:] = 1
    assert ragged.data.sum() == 3 and ragged.data.shape == (3, 3)
    with pytest.raises(IndexError, match="row 3 of 3"):
        ragged[3]


@pytest.mark.parametrize("starts", [[], [1, 2], [0, 1], [0, 3, 2]])
def test_wrong_boundaries_are_refused(starts):
    with pytest.raises(InputError, match="starts must"):
        Ragged(np.zeros(2), np.array(starts, np.int64))


def test_boundaries():
    assert boundaries([2, 0, 3]).tolist() == [0, 2, 2, 5]
