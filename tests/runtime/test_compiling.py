"""The first call says that it compiles; later ones are silent."""

import logging
import subprocess
import sys
import threading

import pytest

from movers.runtime import compiling


def test_importing_compiles_nothing():
    code = "import sys, movers.solve; sys.exit('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def wait_for_timers():
    for thread in threading.enumerate():
        if isinstance(thread, threading.Timer):
            thread.join()


@pytest.fixture
def untold(monkeypatch):
    monkeypatch.setattr(compiling, "_told", threading.Event())


@pytest.mark.usefixtures("untold")
def test_slow_first_use_is_announced_once(monkeypatch, caplog):
    monkeypatch.setattr(compiling, "PATIENCE", 0.01)
    with caplog.at_level(logging.WARNING, "movers"):
        for name in ("a kernel", "a kernel", "another kernel"):
            with compiling.announced(f"{name} that takes its time"):
                wait_for_timers()
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "compiling the solver kernels" in caplog.text


@pytest.mark.usefixtures("untold")
def test_fast_first_use_is_silent(monkeypatch, caplog):
    monkeypatch.setattr(compiling, "PATIENCE", 5)
    with compiling.announced("a fast kernel"):
        pass
    wait_for_timers()
    assert not caplog.records


def test_failed_first_use_stays_unknown():
    try:
        with compiling.announced("a failing kernel"):
            raise KeyError
    except KeyError:
        pass
    assert "a failing kernel" not in compiling._ready
