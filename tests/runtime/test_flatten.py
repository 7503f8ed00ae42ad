"""Words that arguments become are what compiled code reads, whatever the arrays look like."""

from typing import NamedTuple

import numpy as np
import pytest
from numba.core.errors import NumbaValueError

from movers.errors import DependencyError
from movers.runtime import compiling
from movers.runtime.compiling import entry, flatten


class Pair(NamedTuple):
    matrix: np.ndarray
    factor: float


@entry
def weighted_sum(pair, mask, times, out):
    """Add the rows that a mask allows, and more than once if asked."""
    for _ in range(times):
        for i in range(pair.matrix.shape[0]):
            for j in range(pair.matrix.shape[1]):
                if mask[i]:
                    out[0] += pair.factor * pair.matrix[i, j]


def matrices():
    rng = np.random.default_rng(0)
    plain = rng.normal(size=(4, 6))
    fixed = plain.copy()
    fixed.flags.writeable = False
    yield from (plain, fixed, plain.T, plain[::2, 1::3], plain[::-1], plain[:0])
    yield from (plain.astype(np.float32), np.arange(12).reshape(3, 4), plain[:1], plain[:, :1])


def check(matrix, factor):
    mask = np.arange(len(matrix)) % 3 != 1
    out = np.zeros(1)
    weighted_sum(Pair(matrix, factor), mask, 2, out)
    np.testing.assert_allclose(out[0], 2 * factor * matrix[mask].sum(), rtol=1e-6, atol=1e-9)


def test_arrays_of_any_layout():
    for matrix in matrices():
        check(matrix, 2.0)


@pytest.mark.parametrize("factor", [np.float64(-0.5), np.float32(0.25), 3, np.int64(-7), True])
def test_numbers_of_any_kind(factor):
    check(np.ones((3, 2)), factor)


def test_kinds_tell_apart_what_code_depends_on():
    kinds = {flatten((matrix,))[0] for matrix in matrices()}
    assert len(kinds) == 6  # by rows, read-only, by columns, neither; two other types
    assert flatten((np.zeros(2),))[0] == flatten((np.ones(9),))[0]
    assert flatten((1,))[0] != flatten((1.0,))[0] != flatten((True,))[0]


def test_numbers_in_another_order_of_bytes_are_no_such_numbers():
    foreign = np.ones((2, 2)).astype(">f8")
    assert flatten((foreign,))[0] != flatten((np.ones((2, 2)),))[0]
    with pytest.raises(NumbaValueError, match="Unsupported array dtype: >f8"):
        weighted_sum(Pair(foreign, 1.0), np.ones(2, bool), 1, np.zeros(1))


def test_what_no_kernel_takes_is_named():
    with pytest.raises(TypeError, match="'str'"):
        flatten(("three",))


@pytest.mark.parametrize(
    ("place", "name", "value", "message"),
    [
        (compiling.sys, "byteorder", "big", "is 64-bit and big-endian"),
        (compiling.struct, "calcsize", lambda _: 4, "is 32-bit and little-endian"),
        (compiling.sysconfig, "get_config_var", lambda _: 1, "free-threaded Python"),
    ],
)
def test_machines_whose_arrays_would_be_misread_are_refused(
    monkeypatch, place, name, value, message
):
    compiling.check_machine()
    monkeypatch.setattr(place, name, value)
    with pytest.raises(DependencyError, match=message):
        compiling.check_machine()
