"""Kernels that no library has are compiled when needed, once in a process."""

import math
import subprocess
import sys
import threading

import numpy as np
import pytest

from movers.runtime.compiling import entry, kernel
from movers.runtime.machine_code import draft


def test_importing_compiles_nothing():
    code = "import sys, movers.solve; sys.exit('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@kernel
def doubled(x):
    return 2 * x


@entry
def quadrupled(x, out):
    count = 1
    for _ in range(2):
        count = doubled(count)
    out[0] = doubled(doubled(x)) + 0.0 * count


@pytest.fixture(autouse=True)
def _afresh(monkeypatch):
    """Forget what other tests compiled."""
    monkeypatch.setattr(quadrupled, "calls", {})
    monkeypatch.setattr(quadrupled, "compiled", 0)


def test_a_kernel_is_compiled_once_for_all_integers():
    """Constants among the numbers would otherwise have versions of their own."""
    out = np.zeros(1)
    for x in (3, 4):
        quadrupled(x, out)
        assert out[0] == 4 * x
    assert [str(args[0]) for args in draft(doubled).signatures] == ["int64"]
    assert quadrupled.compiled == 1


def test_other_types_have_code_of_their_own():
    out = np.zeros(1)
    for number, x in enumerate((3, 0.25, np.float32(0.25), True), 1):
        quadrupled(x, out)
        assert out[0] == 4 * x
        assert quadrupled.compiled == number


def test_several_threads_compile_it_once():
    outs = np.zeros((8, 1))
    threads = [threading.Thread(target=quadrupled, args=(1.5, out)) for out in outs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (outs == 6.0).all()
    assert quadrupled.compiled == 1


@entry
def exponent(x, out):
    out[0] = math.frexp(x)[1]


def test_what_calls_helpers_of_numba_is_refused():
    """Code of a library runs in processes without numba, where they would be missing."""
    with pytest.raises(NotImplementedError, match="numba_frexp"):
        exponent(3.0, np.zeros(1))
