"""What is executed must be the user's or root's, and nobody else may have written to it."""

import os
import stat
from types import SimpleNamespace

import pytest

from movers.runtime import ownership

ME, OTHER = 1000, 1001


@pytest.fixture(autouse=True)
def _user(monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: ME, raising=False)


@pytest.mark.parametrize(
    ("owner", "mode", "suspicion"),
    [
        (ME, stat.S_IFDIR | 0o700, None),
        (0, stat.S_IFDIR | 0o755, None),
        (ME, stat.S_IFREG | 0o644, None),
        (ME, stat.S_IFLNK | 0o777, None),
        (OTHER, stat.S_IFLNK | 0o777, "belongs to user 1001, not to user 1000 or root"),
        (OTHER, stat.S_IFREG | 0o600, "belongs to user 1001, not to user 1000 or root"),
        (ME, stat.S_IFDIR | 0o770, "can be written by others (mode 0770)"),
        (0, stat.S_IFDIR | 0o1777, "can be written by others (mode 1777)"),
        (ME, stat.S_IFREG | 0o602, "can be written by others (mode 0602)"),
    ],
)
def test_owner_and_mode_decide(owner, mode, suspicion):
    assert ownership.of_status(SimpleNamespace(st_uid=owner, st_mode=mode)) == suspicion


@pytest.mark.parametrize(
    ("owner", "mode", "suspicion"),
    [
        (ME, 0o1777, None),
        (0, 0o1777, None),
        (ME, 0o777, "can be written by others (mode 0777)"),
        (OTHER, 0o1777, "belongs to user 1001, not to user 1000 or root"),
    ],
)
def test_a_shared_folder_is_sticky_and_of_nobody_else(owner, mode, suspicion):
    """Whoever owns a sticky folder may rename what others put there."""
    status = SimpleNamespace(st_uid=owner, st_mode=stat.S_IFDIR | mode)
    assert ownership.of_status(status, shared=True) == suspicion


@pytest.mark.skipif(os.name != "posix", reason="files have no owners")
def test_a_link_is_suspected_for_itself_and_for_what_it_leads_to(tmp_path, monkeypatch):
    (tmp_path / "folder").mkdir(0o700)
    (tmp_path / "link").symlink_to("folder")
    monkeypatch.setattr(os, "geteuid", lambda: (tmp_path / "folder").stat().st_uid)
    assert ownership.suspicion(tmp_path / "link") is None
    (tmp_path / "folder").chmod(0o722)
    assert "mode 0722" in ownership.suspicion(tmp_path / "link")


def test_folders_are_closed_unless_root_makes_them(monkeypatch):
    assert ownership.folder_mode() == 0o700
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert ownership.folder_mode() == 0o755


def test_systems_without_owners_suspect_nobody(monkeypatch):
    monkeypatch.delattr(os, "geteuid")
    anyone = SimpleNamespace(st_uid=OTHER, st_mode=stat.S_IFREG | 0o777)
    assert ownership.of_status(anyone) is None
    assert ownership.folder_mode() == 0o700
