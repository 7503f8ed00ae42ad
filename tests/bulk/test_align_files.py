"""Links of a table: broken off, resumed, written whole, in every style."""

import os
import signal
from pathlib import Path

import pytest

from movers.bulk import align_files
from movers.bulk.align_files import align_table
from movers.errors import InputError
from movers.loading import load_encoder
from movers.runtime.interrupts import Ended, ending_work

ROWS = 200
"""Three steps: 64, 128 and 8 rows."""


@pytest.fixture(scope="module")
def encoder(tiny):
    return load_encoder(tiny("bert"))


@pytest.fixture
def pairs(tmp_path):
    path = tmp_path / "pairs.tsv"
    rows = [f"the press greets {k % 3}\tthe dog sleeps {k % 2}" for k in range(ROWS)]
    path.write_text("source\ttarget\n" + "\n".join(rows) + "\n", "utf-8")
    return path


def align(pairs, output, encoder, **settings):
    return align_table(pairs, output, encoder, **{"aligner": "argmax", **settings})


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def break_off(monkeypatch, step, number):
    """Send a signal instead of computing a step, counted from 0."""
    found, steps = align_files.align_pairs, iter(range(100))

    def aligned(*arguments, **settings):
        if next(steps) == step:
            os.kill(os.getpid(), number)
        return found(*arguments, **settings)

    monkeypatch.setattr(align_files, "align_pairs", aligned)


@pytest.fixture
def broken(tmp_path, pairs, encoder, monkeypatch):
    """Break off a run after two steps; return its output."""

    def run(number=signal.SIGINT, **settings):
        output = tmp_path / "out.txt"
        before = signal.signal(number, signal.SIG_DFL)  # ignored where a shell runs all this behind
        try:
            with monkeypatch.context() as patched:
                break_off(patched, 2, number)
                with ending_work(), pytest.raises(Ended):
                    align(pairs, output, encoder, **settings)
        finally:
            signal.signal(number, before)
        return output

    return run


@pytest.mark.skipif(os.name != "posix", reason="sends signals")
@pytest.mark.parametrize(
    ("style", "number"), [("pharaoh", "SIGINT"), ("json", "SIGTERM"), ("json", "SIGHUP")]
)
def test_a_resumed_output_has_the_same_bytes(
    tmp_path, pairs, encoder, broken, caplog, style, number
):
    whole = tmp_path / "whole.txt"
    links = align(pairs, whole, encoder, style=style).links
    output = broken(getattr(signal, number), style=style)
    assert "192 finished rows are kept in" in caplog.text and "--resume" in caplog.text
    assert not output.exists()
    partial = (tmp_path / "out.txt.partial").read_text("utf-8")
    assert whole.read_text("utf-8").startswith(partial) and partial
    report = align(pairs, output, encoder, style=style, resume=True)
    assert (report.rows, report.resumed, report.links) == (ROWS, 192, links)
    assert output.read_bytes() == whole.read_bytes()
    assert names(tmp_path) == ["out.txt", "pairs.tsv", "whole.txt"]


@pytest.mark.skipif(os.name != "posix", reason="sends signals")
def test_resuming_under_other_settings_is_refused(pairs, encoder, broken):
    output = broken()
    for other in ({"aligner": "match"}, {"style": "json"}):
        with pytest.raises(InputError, match="other settings"):
            align(pairs, output, encoder, resume=True, **other)
    with pytest.raises(InputError, match="rows 1 to 64 are not those"):
        align(pairs, output, encoder, resume=True, tokens=True)
    assert align(pairs, output, encoder, resume=True).resumed == 192


@pytest.mark.skipif(os.name != "posix", reason="sends signals")
def test_a_fresh_start_leaves_nothing_of_an_earlier_run(pairs, encoder, broken, caplog):
    output = broken()
    assert align(pairs, output, encoder).resumed == 0
    assert "starting anew: removed out.txt.partial and out.txt.journal" in caplog.text
    assert names(output.parent) == ["out.txt", "pairs.tsv"]


def test_rows_with_words_the_model_cannot_read_are_told(tmp_path, encoder):
    path = tmp_path / "pairs.tsv"
    path.write_text(f"source\ttarget\na dog\ta dog\na dog\t{'dog ' * 90}\n", "utf-8")
    for tokens in (False, True):
        report = align(path, tmp_path / "links.txt", encoder, tokens=tokens)
        assert (report.cut.count, report.cut.first) == (1, [2])


def test_standard_output_cannot_be_resumed(pairs, encoder):
    with pytest.raises(InputError, match="--resume needs a file"):
        align(pairs, Path("-"), encoder, resume=True)
