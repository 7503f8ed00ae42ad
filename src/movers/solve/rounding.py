"""What rounding may do to a number: in single precision, or kept as a small integer."""

from __future__ import annotations

import numpy as np

from movers.arrays import Array, Floats, Singles

SINGLE = 1e-5
"""What single precision may add to a bound, as a share of the terms that it is made of; the
largest rounding errors seen are a hundredth of it."""
HALF = 0.501
"""How far a number moves at most, in steps: half of one, and the rounding of the step itself."""


def to_integers(values: Floats, dtype: type[np.int8] | type[np.int16]) -> tuple[Array, Singles]:
    """Round along the last axis; what is not finite makes its step NaN.

    Examples
    --------
    >>> integers, steps = to_integers(np.array([[0.5, -1.0, 0.25]]), np.int8)
    >>> integers.tolist(), steps.round(4)
    ([[64, -127, 32]], array([0.0079], dtype=float32))
    """
    most = np.abs(values).max(axis=-1, initial=0.0)
    steps = (most / np.iinfo(dtype).max).astype(np.float32)
    unit = np.where(np.isfinite(steps) & (steps > 0), steps, 1.0)
    return np.rint(np.nan_to_num(values) / unit[..., None]).astype(dtype), steps
