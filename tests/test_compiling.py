"""The first call says that it compiles; later ones are silent."""

import logging
import subprocess
import sys
import threading
import time

from movers import compiling


def test_importing_compiles_nothing():
    code = "import sys, movers.solve; sys.exit('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_slow_first_use_is_announced_once(monkeypatch, caplog):
    monkeypatch.setattr(compiling, "PATIENCE", 0.01)
    monkeypatch.setattr(compiling, "_told", threading.Event())
    with caplog.at_level(logging.WARNING, "movers"):
        for _ in range(2):
            with compiling.announced("a kernel that takes its time"):
                time.sleep(0.1)
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "compiling the solver kernels" in caplog.text


def test_fast_first_use_is_silent(caplog):
    with compiling.announced("a fast kernel"):
        pass
    time.sleep(0.02)
    assert not caplog.records


def test_failed_first_use_stays_unknown():
    try:
        with compiling.announced("a failing kernel"):
            raise KeyError
    except KeyError:
        pass
    assert "a failing kernel" not in compiling._ready
