"""Vectors do to eight numbers what numpy does to arrays."""

import numpy as np
import pytest

from movers.runtime.compiling import entry
from movers.solve.kernels import LANES
from movers.solve.kernels import instructions as v


@entry
def combine(a, b, out):
    x, y = v.load(a, 0), v.load(b, 1)
    v.put(out, 0, x + y)
    v.put(out, 1, x - y)
    v.put(out, 2, x * y)
    v.put(out, 3, x / y)
    v.put(out, 4, v.least(x, y))
    v.put(out, 5, v.spread(b[0]))
    v.put(out, 6, v.root(x))
    v.put(out, 7, b[0] * x - b[1])


@entry
def raise_two(a, power, logarithm):
    for at in range(len(a) // LANES):
        found = v.power(v.load(a, at))
        v.put(power, at, found)
        v.put(logarithm, at, v.logarithm(found))


def test_operations():
    rng = np.random.default_rng(0)
    a, b = rng.uniform(0.1, 9, (2, 2 * LANES)).astype(np.float32)
    out = np.zeros(8 * LANES, np.float32)
    combine(a, b, out)
    x, y = a[:LANES], b[LANES:]
    spread = np.full(LANES, b[0])
    expected = [x + y, x - y, x * y, x / y, np.minimum(x, y), spread, np.sqrt(x), b[0] * x - b[1]]
    np.testing.assert_allclose(out.reshape(8, LANES), expected, rtol=1e-5)


def test_powers_and_logarithms_are_as_near_as_they_say():
    exponents = np.linspace(-90, 20, 1000 * LANES).astype(np.float32)
    power, logarithm = np.zeros((2, len(exponents)), np.float32)
    raise_two(exponents, power, logarithm)
    ratio = power / np.exp2(exponents.astype(np.float64))
    assert 0.93 < ratio.min() < ratio.max() < 1.07
    assert np.all(np.diff(power) >= 0)
    np.testing.assert_allclose(logarithm, exponents, atol=1e-4)
    assert np.abs(logarithm - np.log2(power.astype(np.float64))).max() < 0.09
    raise_two(np.full(LANES, -1e9, np.float32), power, logarithm)
    assert power[0] == pytest.approx(2.0**-100, rel=0.07)
