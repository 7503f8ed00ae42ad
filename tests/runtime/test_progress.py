"""Bars on a terminal, lines elsewhere, nothing when nothing is wanted."""

import io

import pytest

from movers.runtime import progress
from movers.runtime.progress import ProgressLines, progress_bar


@pytest.fixture
def clock(monkeypatch):
    """Seconds that pass when the test says so."""
    now = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    return now


def test_off_a_terminal_there_is_a_line_every_half_minute(capsys, clock):
    with progress_bar("scoring", "rows", 1000, progress=True) as bar:
        for second in range(100):
            clock[0] = float(second)
            with progress_bar("encoding", "sentences", 5, progress=True) as step:
                step.update()
            bar.update(10)
    lines = capsys.readouterr().err.splitlines()
    assert lines == [
        "movers: scoring: 310 of 1,000 rows after 0:30, about 1:07 left",
        "movers: scoring: 610 of 1,000 rows after 1:00, about 0:38 left",
        "movers: scoring: 910 of 1,000 rows after 1:30, about 0:09 left",
    ]


def test_a_resumed_run_expects_the_pace_of_its_own_rows(clock):
    lines = ProgressLines("scoring", "rows", 2000, 1000)
    lines.update(500)
    clock[0] = 7200.0
    assert str(lines) == "scoring: 1,500 of 2,000 rows after 2:00:00, about 2:00:00 left"


def test_without_a_total_nothing_is_foretold(clock):
    lines = ProgressLines("reading", "lines", None)
    lines.update(5)
    assert str(lines) == "reading: 5 lines after 0:00"


def test_nothing_is_shown_unless_wanted(capsys, clock):
    with progress_bar("scoring", "rows", 10, progress=False) as bar:
        clock[0] = 100.0
        bar.update(10)
    assert capsys.readouterr().err == ""


def test_on_a_terminal_a_bar_moves(monkeypatch):
    terminal = io.StringIO()
    terminal.isatty = lambda: True
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setattr(progress, "SECONDS", 0)
    with progress_bar("scoring", "rows", 4, progress=True) as bar:
        bar.update(1)
        bar.update(1)
    shown = terminal.getvalue()
    assert "scoring:   0%" in shown and "1/4" in shown and "2/4" in shown
