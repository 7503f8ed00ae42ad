"""Files appear whole or not at all."""

import errno
import os
import stat
import subprocess
import sys
import time

import pytest

from movers.runtime.atomic import UNFINISHED, replacing, replacing_folder, sweep


def test_replaces_only_when_all_goes_well(tmp_path):
    path = tmp_path / "new" / "file.txt"
    with replacing(path) as temporary:
        temporary.write_text("one", "utf-8")
        assert not path.exists() and temporary.parent == path.parent
    assert path.read_text("utf-8") == "one"
    assert [*path.parent.iterdir()] == [path]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
@pytest.mark.parametrize("written", ["", "half"])
def test_an_error_leaves_the_old_file(tmp_path, error, written):
    path = tmp_path / "file.txt"
    path.write_text("old", "utf-8")

    def write():
        with replacing(path) as temporary:
            temporary.write_text(written, "utf-8")
            raise error

    with pytest.raises(error):
        write()
    assert path.read_text("utf-8") == "old"
    assert [*tmp_path.iterdir()] == [path]


def test_a_folder_appears_when_it_is_complete(tmp_path):
    path, partial = tmp_path / "out", tmp_path / "out.partial"

    def write(name, error=None):
        with replacing_folder(path, partial=partial) as temporary:
            (temporary / name).write_text(name, "utf-8")
            assert not path.exists()
            if error:
                raise error

    for name in ("one", "two"):
        with pytest.raises(KeyboardInterrupt):
            write(name, KeyboardInterrupt)
    assert [entry.name for entry in partial.iterdir()] == ["two"]
    write("three")
    assert [entry.name for entry in path.iterdir()] == ["three"]
    assert {entry.name for entry in tmp_path.iterdir()} == {"out"}


def test_what_a_killed_process_was_writing_is_swept_away(tmp_path):
    kept = tmp_path / "deep" / ".hidden.parquet"
    kept.parent.mkdir()
    kept.write_text("kept", "utf-8")
    (tmp_path / "deep" / f"{UNFINISHED}one.parquet").touch()
    (tmp_path / f"{UNFINISHED}out" / "more").mkdir(parents=True)
    sweep(tmp_path)
    assert {*tmp_path.rglob("*")} == {kept.parent, kept}


def test_temporary_names_are_those_that_are_swept(tmp_path):
    with replacing(tmp_path / "file.txt") as file:
        file.write_text("whole", "utf-8")
        assert file.name.startswith(UNFINISHED) and file.suffix == ".txt"
    with replacing_folder(tmp_path / "out", partial=tmp_path / "partial") as folder:
        assert folder.name.startswith(UNFINISHED)


@pytest.mark.skipif(os.name != "posix", reason="folders are synced on POSIX")
def test_content_and_name_are_on_the_disk_when_a_file_appears(tmp_path, monkeypatch):
    path, done = tmp_path / "file.txt", []

    def record(number):
        done.append((os.fstat(number).st_ino, path.exists()))

    monkeypatch.setattr(os, "fsync", record)
    with replacing(path) as temporary:
        temporary.write_text("whole", "utf-8")
    assert done == [(path.stat().st_ino, False), (tmp_path.stat().st_ino, True)]


def test_errors_of_the_system_name_the_file(tmp_path):
    path = tmp_path / "file.txt"
    full = OSError(errno.ENOSPC, "No space left on device")
    with pytest.raises(OSError, match=r"No space left on device: '.*file.txt'"), replacing(path):
        raise full
    odd = OSError("unknown trouble")
    with pytest.raises(OSError, match=r"^unknown trouble$"), replacing(path):
        raise odd
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(os.name != "posix", reason="permission bits are POSIX")
def test_permissions_follow_the_umask(tmp_path, monkeypatch):
    before = os.umask(0o027)
    try:
        with monkeypatch.context() as patched:
            patched.delattr(os, "umask")  # all threads share it: to be left alone
            with replacing(tmp_path / "file") as temporary:
                temporary.write_text("x", "utf-8")
                temporary.chmod(0o600)
            with replacing_folder(tmp_path / "out", partial=tmp_path / "partial"):
                pass
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o640
    assert stat.S_IMODE((tmp_path / "out").stat().st_mode) == 0o750


@pytest.mark.skipif(os.name != "posix", reason="asks for processes by number")
def test_what_a_killed_process_left_is_named_and_removed(tmp_path, caplog):
    path = tmp_path / "file.txt"
    gone = subprocess.Popen([sys.executable, "-S", "-c", ""])
    gone.wait()
    with replacing(path) as temporary:
        mine = temporary.name
    left = tmp_path / mine.replace(f"-{os.getpid()}-", f"-{gone.pid}-")
    alive = tmp_path / mine.replace(f"-{os.getpid()}-", f"-{os.getppid()}-")
    other = left.with_name(left.name.replace("file.txt", "else.txt"))
    for leftover in (left, alive, other):
        leftover.write_text("half", "utf-8")
    with replacing(path) as temporary:
        temporary.write_text("whole", "utf-8")
    assert {*tmp_path.iterdir()} == {path, alive, other}
    assert f"removed {left} (4 bytes), left by a run that was killed" in caplog.text


def test_what_another_machine_left_goes_after_a_day(tmp_path):
    path, now = tmp_path / "file.txt", time.time()
    old, new = (tmp_path / f"{UNFINISHED}00000000-1-{k}.file.txt" for k in "ab")
    for leftover, age in ((old, 100_000), (new, 100)):
        leftover.touch()
        os.utime(leftover, (now - age, now - age))
    with replacing(path) as temporary:
        temporary.write_text("whole", "utf-8")
    assert {*tmp_path.iterdir()} == {path, new}


def test_folders_made_for_nothing_are_removed(tmp_path):
    (tmp_path / "there").mkdir()
    with pytest.raises(ValueError, match="no"), replacing(tmp_path / "there" / "a" / "b" / "file"):
        raise ValueError("no")
    assert [*tmp_path.rglob("*")] == [tmp_path / "there"]
