"""Kernels are compiled when needed, with a word to the user, and not kept from other processes."""

import logging
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from numba.core.caching import NullCache

from movers.runtime import compiling
from movers.runtime.compiling import Patience, entry, kernel


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


@entry
def halved(x):
    return x / 2


@pytest.fixture(autouse=True)
def _nothing_kept(monkeypatch):
    """Compile here, whatever an earlier run of the tests has kept."""
    for one in (quadrupled, halved):
        monkeypatch.setattr(one, "_cache", NullCache())


def told(caplog, dispatcher, *, ready):
    """What a listener says when kernels take long, or are ready at once."""
    listener = Patience()
    for _ in range(2):
        about = SimpleNamespace(data={"dispatcher": dispatcher})
        listener.on_start(about)
        timer = listener.timer
        if ready:
            listener.on_end(about)
        if timer is not None:
            timer.join()
        listener.on_end(about)
    return [record.message for record in caplog.records if record.message == compiling.MESSAGE]


@pytest.mark.parametrize(
    ("ready", "ours", "times"), [(False, True, 1), (True, True, 0), (False, False, 0)]
)
def test_only_our_long_compilations_are_announced_and_once(monkeypatch, caplog, ready, ours, times):
    monkeypatch.setattr(compiling, "PATIENCE", 60 if ready else 0.01)
    with caplog.at_level(logging.WARNING, "movers"):
        said = told(caplog, quadrupled if ours else object(), ready=ready)
    assert len(said) == times


def test_numba_reports_what_it_compiles(monkeypatch):
    """The listener that is in place hears of it, and of nothing that is there already."""
    heard = []
    monkeypatch.setattr(Patience, "on_start", lambda self, about: heard.append(about.data))
    halved(1.0)
    halved(2.0)
    assert [data["dispatcher"] for data in heard] == [halved]


def test_a_kernel_is_compiled_once_for_all_integers():
    """Constants among the numbers would otherwise have versions of their own."""
    out = np.zeros(1)
    quadrupled(3, out)
    assert out[0] == 12
    assert [str(args[0]) for args in doubled.signatures] == ["int64"]
    assert len(quadrupled.signatures) == 1
