import numpy as np

from movers.search.vectors import to_integers


def test_numbers_move_by_half_a_step_at_most():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(50, 4, 9)) * 10.0 ** rng.integers(-6, 6, (50, 4, 1))
    integers, steps = to_integers(values)
    assert integers.dtype == np.int8 and steps.shape == (50, 4)
    moved = np.abs(integers.astype(np.float64) * steps[..., None] - values)
    assert np.all(moved <= 0.501 * steps[..., None])
    assert np.all(np.abs(integers).max(axis=-1) == 127), "all steps are used"


def test_rows_without_numbers():
    integers, steps = to_integers(np.array([[0.0, 0.0], [np.nan, 1.0]]))
    assert integers[0].tolist() == [0, 0] and steps[0] == 0 and np.isnan(steps[1])
    assert to_integers(np.zeros((3, 0)))[1].tolist() == [0, 0, 0]
