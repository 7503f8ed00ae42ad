"""One holder at a time, by whatever name of a file."""

import os

import pytest

from movers.errors import InputError
from movers.runtime.locks import locked


def test_a_lock_names_its_holder_and_leaves_no_file(tmp_path):
    path = tmp_path / "new" / "writer.lock"
    with locked(path, "the table"):
        with (
            pytest.raises(InputError, match=f"the table is being written by process {os.getpid()}"),
            locked(path, "the table"),
        ):
            pytest.fail("held twice")
        assert path.exists()
    assert not path.exists()
    with pytest.raises(KeyError), locked(path, "the table"):
        raise KeyError
    with locked(path, "the table"):
        pass


def test_what_a_dead_holder_left_is_taken_over(tmp_path):
    path = tmp_path / "writer.lock"
    path.write_text("process 1 on another machine, killed")
    with locked(path, "the table"):
        assert path.read_text().startswith(f"process {os.getpid()} on ")


def test_a_lock_that_is_removed_while_waiting_is_made_anew(tmp_path, monkeypatch):
    path = tmp_path / "writer.lock"
    original, seen = os.path.samestat, []

    def removed_before(one, two):
        if not seen:
            path.unlink()
            path.touch()
        seen.append(original(one, path.stat()))
        return seen[-1]

    monkeypatch.setattr(os.path, "samestat", removed_before)
    with locked(path, "the table"):
        assert seen == [False, True]
