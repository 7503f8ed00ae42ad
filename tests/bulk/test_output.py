"""Broken off in whatever way, a table loses no finished row and is resumed to the same bytes."""

import errno
import itertools
import os
import signal
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import movers
from movers.bulk import output as output_module
from movers.bulk import score_files
from movers.bulk.score_files import score_table
from movers.errors import InputError, StorageError
from movers.io import tables
from movers.runtime.atomic import UNFINISHED
from movers.runtime.interrupts import Ended, ending_work

ROWS = 300
"""Three steps: 64, 128 and 108 rows."""


@pytest.fixture(scope="module")
def bow():
    return movers.load("bow")


@pytest.fixture
def pairs(tmp_path):
    path = tmp_path / "pairs.tsv"
    rows = [f"row {k % 10} about cats\tabout dogs and rivers {k % 7}" for k in range(ROWS)]
    path.write_text("source\ttarget\n" + "\n".join(rows) + "\n", "utf-8")
    return path


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def break_off(monkeypatch, step, action):
    """Do something instead of computing a step, counted from 0."""
    found, steps = score_files.named_columns, iter(range(100))

    def columns(*arguments, **settings):
        if next(steps) == step:
            action()
        return found(*arguments, **settings)

    monkeypatch.setattr(score_files, "named_columns", columns)


def fail(error):
    def action():
        raise error

    return action


@pytest.mark.parametrize("suffix", [".tsv", ".csv", ".jsonl", ".parquet", ".arrow", ".arrows"])
def test_a_resumed_table_has_the_same_bytes(tmp_path, pairs, bow, monkeypatch, caplog, suffix):
    whole, output = tmp_path / f"whole{suffix}", tmp_path / f"out{suffix}"
    score_table(pairs, whole, {"bow": bow})
    with monkeypatch.context() as patched:
        break_off(patched, 2, fail(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            score_table(pairs, output, {"bow": bow})
    assert "192 finished rows are kept in" in caplog.text
    assert not output.exists()
    with tables.open_table(tmp_path / f"out{suffix}.partial", tables.format_of(output)) as table:
        assert sum(len(chunk["bow"]) for chunk in table.chunks) == 192
    report = score_table(pairs, output, {"bow": bow}, resume=True)
    assert (report.rows, report.resumed) == (ROWS, 192)
    assert output.read_bytes() == whole.read_bytes()
    assert names(tmp_path) == sorted([output.name, "pairs.tsv", whole.name])


def test_nothing_to_resume_is_a_fresh_start(tmp_path, pairs, bow):
    report = score_table(pairs, tmp_path / "out.tsv", {"bow": bow}, resume=True)
    assert (report.rows, report.resumed) == (ROWS, 0)


@pytest.fixture
def broken(tmp_path, pairs, bow, monkeypatch):
    """An output whose run was broken off after two steps."""
    with monkeypatch.context() as patched:
        break_off(patched, 2, fail(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            score_table(pairs, tmp_path / "out.tsv", {"bow": bow})
    return tmp_path / "out.tsv"


def test_resuming_under_other_settings_is_refused(pairs, bow, broken):
    other = bow.using(stopwords=None)
    with pytest.raises(InputError, match=r"other settings \(bow was .*stopwords"):
        score_table(pairs, broken, {"bow": other}, resume=True)
    assert score_table(pairs, broken, {"bow": bow}, resume=True).resumed == 192


def test_resuming_with_other_sentences_is_refused(pairs, bow, broken):
    pairs.write_text(pairs.read_text("utf-8").replace("row 9 about cats", "row nine"), "utf-8")
    with pytest.raises(InputError, match="rows 1 to 64 are not those"):
        score_table(pairs, broken, {"bow": bow}, resume=True)


def test_a_fresh_start_names_and_removes_what_was_left(pairs, bow, broken, caplog):
    score_table(pairs, broken, {"bow": bow})
    assert "removed out.tsv.partial and out.tsv.journal, 192 finished rows of a run" in caplog.text
    assert names(broken.parent) == ["out.tsv", "pairs.tsv"]


def test_a_torn_journal_costs_its_last_step_only(pairs, bow, broken):
    journal = broken.with_name("out.tsv.journal")
    journal.write_bytes(journal.read_bytes()[:-5])
    assert score_table(pairs, broken, {"bow": bow}, resume=True).resumed == 64


def test_two_runs_at_once_are_refused(tmp_path, pairs, bow, monkeypatch):
    output = tmp_path / "out.tsv"

    def second():
        with pytest.raises(InputError, match="is being written by process"):
            score_table(pairs, output, {"bow": bow})

    break_off(monkeypatch, 1, second)
    assert score_table(pairs, output, {"bow": bow}).rows == ROWS


def test_an_early_end_leaves_no_trace(tmp_path, pairs, bow, monkeypatch):
    break_off(monkeypatch, 0, fail(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        score_table(pairs, tmp_path / "new" / "folder" / "out.tsv", {"bow": bow})
    assert names(tmp_path) == ["pairs.tsv"]


def test_a_full_disk_says_what_it_lacks_and_what_is_kept(tmp_path, pairs, bow, monkeypatch):
    def full():
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    output = tmp_path / "out.tsv"
    with monkeypatch.context() as patched:
        break_off(patched, 0, full)
        with pytest.raises(StorageError, match=r"\. Nothing was kept, for no row was finished$"):
            score_table(pairs, output, {"bow": bow})
    break_off(monkeypatch, 1, full)
    with pytest.raises(StorageError) as caught:
        score_table(pairs, output, {"bow": bow})
    message = str(caught.value)
    assert message.startswith(f"no room left for {str(output)!r}: ")
    assert "free there" in message and "needed in all" in message
    assert "64 finished rows are kept in" in message and "--resume" in message


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_disk_that_is_really_full(tmp_path, pairs, bow):
    partial = tmp_path / "out.tsv.partial"
    partial.symlink_to("/dev/full")
    (tmp_path / "out.tsv.journal").touch()
    with pytest.raises(StorageError, match="no room left for"):
        score_table(pairs, tmp_path / "out.tsv", {"bow": bow}, resume=True)


SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP] if os.name == "posix" else []


def interrupted(moment, number, work):
    """Do some work, with a signal at one of the lines of the code that records and writes.

    Whether the work came so far, and what it returned unless the signal ended it.
    """
    lines = itertools.count()
    files = (output_module.__file__, score_files.__file__)

    def trace(frame, event, _):
        if frame.f_code.co_filename in files and event == "line" and next(lines) == moment:
            os.kill(os.getpid(), number)
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        with ending_work():
            work()
    except Ended:
        pass
    finally:
        sys.settrace(before)
    return next(lines) > moment


@pytest.mark.skipif(not SIGNALS, reason="sends signals")
# between its opening and its block, a file is left to the garbage collector
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_signals_at_any_moment_lose_no_finished_row(tmp_path, pairs, bow):
    whole, output = tmp_path / "whole.tsv", tmp_path / "out.tsv"
    score_table(pairs, whole, {"bow": bow})
    expected = whole.read_text("utf-8").splitlines()
    signals = itertools.cycle(SIGNALS)
    moments = 0
    for moment in range(3, 10_000, 7):
        if not interrupted(moment, next(signals), lambda: score_table(pairs, output, {"bow": bow})):
            break
        moments += 1
        if not output.exists():  # the end came before all was done
            rows = output_module._rows_of(tmp_path / "out.tsv.journal")
            if rows:
                partial = (tmp_path / "out.tsv.partial").read_text("utf-8").splitlines()
                assert partial == expected[: rows + 1]
            assert score_table(pairs, output, {"bow": bow}, resume=True).resumed == rows
        assert output.read_text("utf-8").splitlines() == expected
        output.unlink()
    assert moments >= 30
    assert names(tmp_path) == ["out.tsv", "pairs.tsv", "whole.tsv"]


def test_parquet_keeps_its_types_when_resumed(tmp_path, bow, monkeypatch):
    import pyarrow as pa

    path, output = tmp_path / "pairs.parquet", tmp_path / "out.parquet"
    table = pa.table(
        {"source": ["a cat"] * 200, "target": ["a dog"] * 200, "id": pa.array(range(200), "int16")}
    )
    pq.write_table(table, path)
    with monkeypatch.context() as patched:
        break_off(patched, 1, fail(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            score_table(path, output, {"bow": bow})
    score_table(path, output, {"bow": bow}, resume=True)
    assert pq.read_schema(output).field("id").type == pa.int16()
    assert not [*tmp_path.glob(f"{UNFINISHED}*")]
