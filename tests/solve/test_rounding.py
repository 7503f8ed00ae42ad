import numpy as np
import pytest

from movers.solve.rounding import HALF, to_integers


@pytest.mark.parametrize("dtype", [np.int8, np.int16])
def test_numbers_move_by_half_a_step_at_most(dtype):
    rng = np.random.default_rng(0)
    values = rng.normal(size=(50, 4, 9)) * 10.0 ** rng.integers(-6, 6, (50, 4, 1))
    integers, steps = to_integers(values, dtype)
    assert integers.dtype == dtype and steps.shape == (50, 4)
    moved = np.abs(integers.astype(np.float64) * steps[..., None] - values)
    assert np.all(moved <= HALF * steps[..., None])
    assert np.all(np.abs(integers).max(axis=-1) == np.iinfo(dtype).max), "all steps are used"


def test_rows_without_numbers():
    integers, steps = to_integers(np.array([[0.0, 0.0], [np.nan, 1.0]]), np.int8)
    assert integers[0].tolist() == [0, 0] and steps[0] == 0 and np.isnan(steps[1])
    assert to_integers(np.zeros((3, 0)), np.int16)[1].tolist() == [0, 0, 0]
