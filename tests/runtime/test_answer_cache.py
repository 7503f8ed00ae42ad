"""What is kept in the user's cache is what was found, and nobody else's."""

import os
import stat

import pytest

from movers.runtime.answer_cache import CacheWarning, remembered, trusted_place

posix = pytest.mark.skipif(os.name != "posix", reason="modes mean something else")
only_root = pytest.mark.skipif(
    os.name != "posix" or os.geteuid() != 0, reason="only root can become somebody else"
)


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("MOVERS_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def ask():
    """Ask for something that is found to be "it"; how often it was looked for."""
    asked = []

    def find():
        asked.append(1)
        return "it"

    def ask():
        assert remembered("kind", ("about",), find) == "it"
        return len(asked)

    return ask


def test_it_is_found_once(cache, ask):
    assert [ask(), ask()] == [1, 1]
    (file,) = (cache / "remembered").iterdir()
    assert file.name.startswith("kind-")


@pytest.mark.parametrize("damage", ["flipped", "zeroed", "empty", "no text"])
def test_damage_has_it_found_again(cache, ask, damage):
    ask()
    (file,) = (cache / "remembered").iterdir()
    content = bytearray(file.read_bytes())
    content[-1] ^= 1
    zeroed = content[:-1] + b"\0"
    ways = {"flipped": content, "zeroed": zeroed, "empty": b"", "no text": b"\xff\xfe"}
    file.write_bytes(ways[damage])
    assert [ask(), ask()] == [2, 2]


@posix
@pytest.mark.parametrize("umask", [0, 0o002, 0o077])
def test_nobody_else_may_write_there(cache, ask, umask):
    before = os.umask(umask)
    try:
        assert [ask(), ask()] == [1, 1]
    finally:
        os.umask(before)
    assert not any(path.stat().st_mode & 0o022 for path in (cache, *cache.rglob("*")))


@only_root
@pytest.mark.parametrize("foreign", ["cache", "folder", "file"])
def test_what_belongs_to_another_user_is_not_taken(cache, ask, foreign):
    ask()
    (file,) = (cache / "remembered").iterdir()
    os.chown({"cache": cache, "folder": file.parent, "file": file}[foreign], 65534, 65534)
    with pytest.warns(CacheWarning, match=r"belongs to user 65534.*set MOVERS_CACHE"):
        assert ask() == 2


@posix
def test_what_others_may_write_to_is_not_taken(cache, ask):
    ask()
    (cache / "remembered").chmod(0o777)
    with pytest.warns(CacheWarning, match=r"remembered .*written by others \(mode 0777\)"):
        assert ask() == 2


def test_where_nothing_can_be_kept_it_is_found_every_time(cache, ask):
    cache.touch()
    assert trusted_place("kind", "name") is None
    assert [ask(), ask()] == [1, 2]


@posix
def test_a_finished_cache_may_be_read_only(cache, ask):
    ask()
    (cache / "remembered").chmod(stat.S_IREAD | stat.S_IEXEC)
    try:
        assert ask() == 1
    finally:
        (cache / "remembered").chmod(0o700)
