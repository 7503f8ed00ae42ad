"""Ctrl-C from the first moment, a terminal that hangs up, a reader that goes away."""

import errno
import os
import re
import signal
import subprocess
import sys
from threading import Timer

import pytest

from movers.cli import main

pytestmark = pytest.mark.skipif(os.name != "posix", reason="sends signals")

EARLY = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored behind some shells
import movers.__main__ as entry

class Interrupting:
    def find_spec(self, name, *_):
        if name == {name!r}:
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Interrupting())
sys.argv = ["movers", "score", {path!r}, "--methods", "bow"]
sys.exit(entry.run())
"""


@pytest.fixture
def pairs(tmp_path):
    path = tmp_path / "pairs.tsv"
    rows = [f"row {k % 100} about cats\tabout dogs and rivers {k % 97}" for k in range(300_000)]
    path.write_text("source\ttarget\n" + "\n".join(rows) + "\n", "utf-8")
    return path


@pytest.mark.parametrize("name", ["click", "movers.cli.score_commands", "numpy", "torch"])
def test_ctrl_c_while_packages_load_is_one_line(tmp_path, name):
    path = tmp_path / "pairs.tsv"
    path.write_text("source\ttarget\na cat\ta dog\n", "utf-8")
    done = subprocess.run(
        [sys.executable, "-c", EARLY.format(name=name, path=str(path))],
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr == "movers: interrupted\n"


ON_A_TERMINAL = """
import os, signal, sys
os.setsid()
terminal = os.open({terminal!r}, os.O_RDWR)  # the first that a session opens is its own
for stream in range(3):
    os.dup2(terminal, stream)
signal.signal(signal.SIGHUP, signal.SIG_DFL)
from movers.__main__ import run
sys.argv = ["movers", *{arguments!r}]
sys.exit(run())
"""


def test_a_terminal_may_fail_before_its_signal_comes(monkeypatch):
    def models(name: str) -> None:
        Timer(0.05, os.kill, (os.getpid(), signal.SIGHUP)).start()
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr("movers.cli.function_of", lambda command: models)
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    try:
        assert main(["models", "tiny"]) == 128 + signal.SIGHUP
    finally:
        signal.signal(signal.SIGHUP, before)


def test_a_bar_moves_and_a_terminal_that_hangs_up_loses_nothing(tmp_path, pairs):
    output = tmp_path / "out.tsv"
    output.write_text("old\n", "utf-8")
    command = ["score", str(pairs), "-o", str(output), "--methods", "bow"]
    terminal, other_end = os.openpty()
    code = ON_A_TERMINAL.format(terminal=os.ttyname(other_end), arguments=command)
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    child = subprocess.Popen([sys.executable, "-c", code], env=buffered)
    shown = b""
    while len(set(re.findall(rb"scoring: [^\r]* (\d+)/300000", shown))) < 3:
        shown += os.read(terminal, 4096)
    os.close(other_end)
    os.close(terminal)
    assert child.wait() == 128 + signal.SIGHUP
    assert output.read_text("utf-8") == "old\n"
    kept = (tmp_path / "out.tsv.partial").read_text("utf-8")
    header = "source\ttarget\tbow\tunread\n"
    assert kept.startswith(f"{header}row 0 about cats\tabout dogs and rivers 0\t")
    assert kept.endswith("\n") and 2 < kept.count("\n") < 300_001
    assert {path.name for path in tmp_path.iterdir()} == {
        *("pairs.tsv", "out.tsv", "out.tsv.partial", "out.tsv.journal")
    }
