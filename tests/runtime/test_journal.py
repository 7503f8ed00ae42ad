"""Finished work, line by line."""

from zlib import crc32

import pytest

from movers.errors import InputError
from movers.runtime.journal import open_journal, record, records


def written(path, *lines):
    """A journal of texts that are whole, whatever they say."""
    path.write_bytes(b"".join(b"%08x %s\n" % (crc32(text), text) for text in lines))
    return path


def test_what_was_recorded_is_there_up_to_the_first_damage(tmp_path):
    path = tmp_path / "work.journal"
    with open_journal(path, "task", str) as (stream, done):
        assert done == 0
        for value in ({"a": 1}, [2], "three"):
            record(stream, value)
    assert [*records(path)] == ["task", {"a": 1}, [2], "three"]
    raw = path.read_bytes()
    path.write_bytes(raw.replace(b"[2]", b"[3]"))
    assert [*records(path)] == ["task", {"a": 1}]
    with open_journal(path, "task", str) as (_, done):
        assert done == 1
    with (
        pytest.raises(InputError, match="not task but other"),
        open_journal(path, "other", lambda found: f"not {found} but other"),
    ):
        pass


def test_lines_that_are_whole_and_no_values_are_refused_by_their_number(tmp_path):
    path = written(tmp_path / "work.journal", b'"task"', b"[" * 100_000)
    with pytest.raises(InputError, match=r"work.journal, line 2: .*nested too deep"):
        [*records(path)]
    path = written(tmp_path / "other.journal", b"{")
    with (
        pytest.raises(InputError, match=r"other.journal, line 1: written by something else"),
        open_journal(path, "task", str),
    ):
        pass
