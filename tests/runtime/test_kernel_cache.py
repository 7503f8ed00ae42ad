"""Compiled kernels lie with the user, named by all they are made of, and never go stale."""

import ast
import os
import shutil
import subprocess
import sys
import time
import warnings
from importlib.util import find_spec
from pathlib import Path

import pytest

from movers.runtime import kernel_cache, native

PACKAGE = native.PACKAGE


@pytest.fixture
def anew():
    """The choice of a folder forgotten, before and after."""
    kernel_cache.folder.cache_clear()
    kernel_cache.writable.cache_clear()
    yield
    kernel_cache.folder.cache_clear()
    kernel_cache.writable.cache_clear()


def imported(path):
    """Files of the package that one of them imports."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("movers"):
            for name in (node.module, *(f"{node.module}.{alias.name}" for alias in node.names)):
                try:
                    spec = find_spec(name)
                except ModuleNotFoundError:
                    continue
                if spec and spec.origin:
                    yield Path(spec.origin)


def test_all_that_kernels_are_made_of_is_in_the_digest():
    made_of = {
        path
        for path in PACKAGE.rglob("*.py")
        if "movers.runtime.compiling" in path.read_text("utf-8")
    }
    made_of |= {other for path in tuple(made_of) for other in imported(path)}
    beside = {PACKAGE / name for name in ("building.py", "errors.py", "compile_ahead.py")}
    beside |= {PACKAGE / "__init__.py", *PACKAGE.glob("[!r]*/__init__.py")}  # hold no numbers
    assert made_of - beside <= set(native.sources())
    assert PACKAGE / "solve" / "kernels" / "__init__.py" in native.sources()


@pytest.mark.parametrize("changed", ["solve/kernels/simplex.py", "measures/parts/cost_kernels.py"])
def test_any_change_of_a_kernel_leads_to_another_folder(tmp_path, changed):
    for path in native.sources():
        copy = tmp_path / path.relative_to(PACKAGE)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, copy)
    before = kernel_cache.digest(tmp_path)
    assert before == kernel_cache.digest()  # wherever the installation lies
    with (tmp_path / changed).open("a") as file:
        file.write("# another\n")
    assert kernel_cache.digest(tmp_path) != before


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"MOVERS_CACHE": "/one", "NUMBA_CACHE_DIR": "/two"}, "/one"),
        ({"NUMBA_CACHE_DIR": "/two"}, "/two"),
        ({"XDG_CACHE_HOME": "/three"}, "/three/movers"),
    ],
)
@pytest.mark.skipif(sys.platform != "linux", reason="caches lie elsewhere")
def test_place(monkeypatch, settings, expected):
    for name in ("MOVERS_CACHE", "NUMBA_CACHE_DIR"):
        monkeypatch.delenv(name, raising=False)
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    assert kernel_cache.parent() == Path(expected)


@pytest.mark.usefixtures("anew")
def test_only_the_folders_used_last_stay(tmp_path, monkeypatch):
    monkeypatch.setenv("MOVERS_CACHE", str(tmp_path))
    for age in range(8):
        old = tmp_path / f"{kernel_cache.PREFIX}{age}"
        old.mkdir()
        os.utime(old, (time.time() - 1000 * age,) * 2)
    (tmp_path / "another program").mkdir()
    current = kernel_cache.folder()
    stay = {f"{kernel_cache.PREFIX}{age}" for age in range(kernel_cache.KEPT)}
    assert {path.name for path in tmp_path.iterdir()} == stay | {current.name, "another program"}


@pytest.mark.usefixtures("anew")
def test_without_a_place_there_is_one_warning(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("MOVERS_CACHE", str(tmp_path / "file"))
    with pytest.warns(kernel_cache.CacheWarning, match="set MOVERS_CACHE") as caught:
        assert kernel_cache.folder() is None
    assert len(caught) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert kernel_cache.folder() is None


KERNEL = """
import numpy as np
from movers.runtime.compiling import entry

@entry
def one(out):
    out[0] = 1.0

out = np.zeros(1)
one(out)
assert out[0] == 1.0
print(1 - one.compiled, one.compiled)
"""


def run(tmp_path, cache, **options):
    return run_telling(tmp_path, cache, "-W", "error", **options).stdout.split()


def run_telling(tmp_path, cache, *arguments, **options):
    script = tmp_path / "script.py"
    script.write_text(KERNEL)
    return subprocess.run(
        [sys.executable, *arguments, script],
        env={**os.environ, "MOVERS_CACHE": str(cache)},
        capture_output=True,
        text=True,
        check=True,
        **options,
    )


SOMEBODY_ELSE = """
import os
import numba
import movers.runtime.compiling
import movers.runtime.machine_code

# what is imported late may lie out of the other user's reach
numba.njit(lambda x: x)(1)
movers.runtime.kernel_cache.digest()
os.setgroups([])
os.setgid(65534)
os.setuid(65534)
try:
    open(movers.__file__, "a")
except PermissionError:
    print("read-only")
"""


only_root = pytest.mark.skipif(
    os.name != "posix" or os.geteuid() != 0, reason="only root can become somebody else"
)


@only_root
def test_another_user_without_a_home_works_with_one_warning():
    """A service user in a container may read the installation, and write nowhere."""
    done = subprocess.run(
        [sys.executable, "-c", SOMEBODY_ELSE + KERNEL],
        env={"PATH": os.environ["PATH"], "HOME": "/nonexistent"},
        capture_output=True,
        text=True,
        cwd="/",
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["read-only", "0", "1"]
    (warned,) = [line for line in done.stderr.splitlines() if "CacheWarning" in line]
    assert "/nonexistent" in warned and "set MOVERS_CACHE" in warned


def test_another_process_finds_it_even_where_it_cannot_write(tmp_path):
    cache = tmp_path / "cache"
    assert run(tmp_path, cache) == ["0", "1"]
    for path in (*cache.rglob("*"), cache):
        path.chmod(0o555 if path.is_dir() else 0o444)
    try:
        assert run(tmp_path, cache) == ["1", "0"]
    finally:
        for path in (cache, *cache.rglob("*")):
            path.chmod(0o755)


@pytest.mark.parametrize("spoil", [lambda code: code[:-9], lambda code: bytes(len(code))])
def test_spoiled_code_is_made_anew(tmp_path, spoil):
    """A power cut leaves files short or full of zeros; running them would end the process."""
    cache = tmp_path / "cache"
    run(tmp_path, cache)
    (kept,) = cache.rglob("*.o")
    whole = kept.read_bytes()
    kept.write_bytes(spoil(whole))
    assert run(tmp_path, cache) == ["0", "1"]
    assert kept.read_bytes() == whole


@only_root
def test_code_that_another_user_left_in_a_shared_folder_is_not_executed(tmp_path):
    """The other's kernel has the right name, checksum and arguments, and does something else."""
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o1777)
    for folder in (tmp_path, *tmp_path.parents):  # pytest keeps its own closed
        if folder.stat().st_uid == os.geteuid() and not folder.stat().st_mode & 0o001:
            folder.chmod(folder.stat().st_mode | 0o011)
    (tmp_path / "script.py").write_text(SOMEBODY_ELSE + KERNEL.replace("1.0", "2.0"))
    subprocess.run(
        [sys.executable, tmp_path / "script.py"],
        env={**os.environ, "MOVERS_CACHE": str(shared)},
        check=True,
    )
    (left,) = shared.rglob("*.o")
    assert left.stat().st_uid == left.parent.stat().st_uid == 65534
    done = run_telling(tmp_path, shared)
    assert done.stdout.split() == ["0", "1"]
    assert f"{left.parent} are not used: it belongs to user 65534" in done.stderr


@only_root
def test_a_file_of_another_user_is_made_anew(tmp_path):
    cache = tmp_path / "cache"
    run(tmp_path, cache)
    (kept,) = cache.rglob("*.o")
    os.chown(kept, 65534, 65534)
    done = run_telling(tmp_path, cache)
    assert done.stdout.split() == ["0", "1"]
    assert "belongs to user 65534" in done.stderr
    assert kept.stat().st_uid == os.geteuid()
    assert run(tmp_path, cache) == ["1", "0"]


@pytest.mark.skipif(os.name != "posix", reason="modes mean something else")
@pytest.mark.parametrize("pattern", ["kernels-*", "*.o"])
def test_what_others_may_write_to_is_not_used(tmp_path, pattern):
    cache = tmp_path / "cache"
    run(tmp_path, cache)
    (open_to_all,) = cache.rglob(pattern)
    open_to_all.chmod(0o777)
    done = run_telling(tmp_path, cache)
    assert done.stdout.split() == ["0", "1"]
    assert f"{open_to_all} are not used: it can be written by others (mode 0777)" in done.stderr


@pytest.mark.skipif(os.name != "posix", reason="modes mean something else")
def test_a_generous_umask_opens_nothing(tmp_path):
    cache = tmp_path / "cache"
    assert run(tmp_path, cache, umask=0) == ["0", "1"]
    assert not any(path.stat().st_mode & 0o022 for path in (cache, *cache.rglob("*")))
    assert run(tmp_path, cache, umask=0) == ["1", "0"]


def test_a_renamed_folder_of_other_sources_holds_nothing_of_use(tmp_path):
    place, other = tmp_path / "kernels-one", tmp_path / "kernels-two"
    assert kernel_cache._file(place, "a", ()) != kernel_cache._file(other, "a", ())
