"""The library of kernels: found where it belongs, built where it lacks, trusted or not used."""

import ast
import logging
import os
import shutil
import subprocess
import sys
import time
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from movers import compile_ahead
from movers.compile_ahead import _problems
from movers.runtime import compiling
from movers.runtime.answer_cache import CacheWarning, cache_folder
from movers.runtime.compiling import Kernel, entries, flatten, symbol
from movers.solve.batch import emd_batch

PACKAGE = compiling.PACKAGE
LEVELS = [*compiling.LEVELS]
pytestmark = pytest.mark.skipif(
    not any(map(shutil.which, ("cc", "gcc", "clang"))), reason="no C compiler"
)


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The kernels of one step, linked for every kind of processor."""
    folder = tmp_path_factory.mktemp("kernels")
    find, calls = Kernel.find, [(one, one.calls) for one in entries]
    try:
        for one, _ in calls:
            one.calls = {}
        made = compile_ahead.compile_step("transport", tuple(LEVELS))
    finally:
        Kernel.find = find
        for one, before in calls:
            one.calls = before
    for kind in LEVELS:
        compile_ahead.link(made[kind], folder / compiling.library_name(kind))
    return folder


@pytest.fixture
def shipped(built, monkeypatch):
    """Only these come with the package."""
    monkeypatch.setattr(compiling, "FOLDER", built)
    for name in compiling.SETTINGS:
        monkeypatch.delenv(name, raising=False)
    compiling.library.cache_clear()
    yield
    compiling.library.cache_clear()


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An empty cache of the user's, and nothing that comes with the package."""
    monkeypatch.setenv("MOVERS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(compiling, "FOLDER", tmp_path / "none")
    for name in compiling.SETTINGS:
        monkeypatch.delenv(name, raising=False)
    compiling.library.cache_clear()
    yield tmp_path / "cache" / "kernels"
    compiling.library.cache_clear()


@pytest.fixture
def kept(cache, built, monkeypatch):
    """A library in the user's cache; none is built."""
    monkeypatch.setattr(compiling, "_build", lambda path: None)
    cache.mkdir(0o700, parents=True)
    cache.parent.chmod(0o700)
    name = compiling.library_name(compiling.best_level())
    path = Path(shutil.copy(built / name, cache / name))
    path.chmod(0o644)
    return path


def afresh(monkeypatch):
    """Forget code that was found, and refuse to compile any."""
    for one in entries:
        monkeypatch.setattr(one, "calls", {})
    monkeypatch.setattr(Kernel, "_compile", None)


def sources():
    return [path for pattern in compiling.SOURCES for path in PACKAGE.glob(pattern)]


def able(level):
    features = import_module("numpy._core._multiarray_umath").__cpu_features__
    return all(features.get(one) for one in compiling.LEVELS[level])


@pytest.mark.usefixtures("shipped")
@pytest.mark.parametrize("level", LEVELS)
def test_built_kernels_run_without_a_compiler(monkeypatch, level):
    if not able(level):
        pytest.skip(f"this processor is no {level}")
    expected = emd_batch(_problems(), threads=1).value
    monkeypatch.setattr(compiling, "best_level", lambda: level)
    compiling.library.cache_clear()
    afresh(monkeypatch)
    np.testing.assert_allclose(emd_batch(_problems(), threads=1).value, expected, rtol=1e-12)
    assert level in compiling.library()._name


@pytest.mark.usefixtures("shipped")
def test_settings_of_numba_ask_for_code_of_their_own(monkeypatch):
    assert compiling.library() is not None
    compiling.library.cache_clear()
    monkeypatch.setenv("NUMBA_CPU_NAME", "haswell")
    assert compiling.library() is None


@pytest.mark.usefixtures("shipped")
def test_other_arguments_are_not_built():
    kinds, _ = flatten((np.zeros((1, 1, 1, 1, 1)),))
    assert not hasattr(compiling.library(), symbol(entries[0].name, kinds))


def test_this_processor_is_of_some_kind(monkeypatch):
    assert compiling.best_level() in LEVELS
    monkeypatch.setattr(compiling, "LEVELS", {"made-up": ("NO_SUCH_FEATURE",), "generic": ()})
    assert compiling.best_level() == "generic"


def test_without_numba_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "movers.runtime.machine_code", None)
    with pytest.raises(ImportError, match=r"movers\[compile\]"):
        entries[0]._compile((), "movers_none")


# what a library is made of


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
    callers = {
        PACKAGE / name for name in ("compile_ahead.py", "doctor.py", "cli/examine_commands.py")
    }
    made_of = {
        path
        for path in PACKAGE.rglob("*.py")
        if "from movers.runtime.compiling" in path.read_text("utf-8") and path not in callers
    }
    made_of |= {other for path in tuple(made_of) for other in imported(path)}
    # These hold no numbers, or find and call what others made.
    beside = {PACKAGE / name for name in ("arrays.py", "errors.py", "runtime/threads.py")}
    beside |= {PACKAGE / "__init__.py", *PACKAGE.glob("*/__init__.py")}
    assert made_of - beside <= set(sources())
    assert PACKAGE / "solve" / "kernels" / "__init__.py" in sources()


@pytest.mark.parametrize(
    "changed",
    ["solve/kernels/simplex.py", "measures/parts/kernels.py", "compile_ahead.py"],
)
def test_any_change_of_a_kernel_leads_to_another_library(tmp_path, changed):
    for path in sources():
        copy = tmp_path / path.relative_to(PACKAGE)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, copy)
    before = compiling.library_name("generic", tmp_path)
    assert before == compiling.library_name("generic")  # wherever the installation lies
    with (tmp_path / changed).open("a") as file:
        file.write("# another\n")
    assert compiling.library_name("generic", tmp_path) != before


# the user's cache


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
    assert cache_folder() == Path(expected)


ONE_STEP = """
import sys
from pathlib import Path
from movers import compile_ahead
from movers.runtime.compiling import best_level
if __name__ == "__main__":
    compile_ahead.STEPS = {"whitening": compile_ahead.STEPS["whitening"]}
    compile_ahead.build(Path(sys.argv[1]), (best_level(),))
"""


@pytest.fixture
def quick(tmp_path, monkeypatch):
    """A build of the library takes one step; the commands that were run."""
    script, commands, run = tmp_path / "one_step.py", [], subprocess.run
    script.write_text(ONE_STEP)

    def run_one_step(command, **options):
        commands.append(command)
        return run([sys.executable, script, *command[3:]], **options)

    monkeypatch.setattr(compiling.subprocess, "run", run_one_step)
    return commands


@pytest.mark.parametrize("umask", [0, 0o022])
def test_it_is_built_once_and_open_to_nobody_else(cache, quick, caplog, umask):
    before = os.umask(umask)
    try:
        with caplog.at_level(logging.WARNING, "movers"):
            compiling.announce.cache_clear()
            assert compiling.library() is not None
    finally:
        os.umask(before)
    assert quick[0][1:] == ["-m", "movers.compile_ahead", str(cache), "--host"]
    assert compiling.MESSAGE in caplog.messages
    if os.name == "posix":
        assert not any(path.stat().st_mode & 0o022 for path in (cache.parent, *cache.rglob("*")))
    for path in (*cache.iterdir(), cache):
        path.chmod(0o555)
    compiling.library.cache_clear()
    try:
        assert compiling.library() is not None and len(quick) == 1
    finally:
        cache.chmod(0o755)


def test_only_the_libraries_made_last_stay(cache, quick):
    cache.mkdir(0o700, parents=True)
    cache.parent.chmod(0o700)
    for age in range(8):
        old = cache / f"kernels-{age}"
        old.touch()
        os.utime(old, (time.time() - 1000 * age,) * 2)
    (cache / "another").touch()
    name = Path(compiling.library()._name).name
    stay = {f"kernels-{age}" for age in range(compile_ahead.KEPT)}
    assert {path.name for path in cache.iterdir()} - {"lock"} == stay | {
        *(name, f"checksum-{name}", "another")
    }


@pytest.mark.parametrize(
    "damage", [lambda raw: raw[:1000], lambda raw: raw[:999] + b"x" + raw[1000:]]
)
def test_a_damaged_library_is_built_again(cache, quick, caplog, damage):
    path = Path(compiling.library()._name)
    sound = path.read_bytes()
    path.unlink()  # the process has it open
    path.write_bytes(damage(sound))
    path.chmod(0o644)
    compiling.library.cache_clear()
    assert Path(compiling.library()._name) == path and compiling.is_whole(path)
    assert len(quick) == 2 and "are damaged; building others" in caplog.text


@pytest.mark.usefixtures("cache")
@pytest.mark.parametrize(
    ("place", "name", "value", "reason"),
    [
        (compiling, "find_linker", lambda: None, "there is no C compiler"),
        (sys, "executable", shutil.which("false"), "could not be built in .*no reason given"),
    ],
)
def test_what_cannot_be_built_is_told(monkeypatch, place, name, value, reason):
    monkeypatch.setattr(place, name, value)
    with pytest.warns(CacheWarning, match=f"{reason}.*every process will compile"):
        assert compiling.library() is None


def test_without_a_place_there_is_one_warning(cache):
    cache.parent.parent.mkdir(exist_ok=True)
    cache.parent.touch()
    with pytest.warns(CacheWarning, match="set MOVERS_CACHE") as caught:
        assert compiling.library() is None
    assert len(caught) == 1
    assert compiling.library() is None


# other users

only_root = pytest.mark.skipif(
    os.name != "posix" or os.geteuid() != 0, reason="only root can become somebody else"
)
modes = pytest.mark.skipif(os.name != "posix", reason="modes mean something else")


def test_a_library_of_the_user_is_used(kept):
    assert Path(compiling.library()._name) == kept


@only_root
@pytest.mark.parametrize("foreign", ["folder", "file"])
def test_what_belongs_to_another_user_is_not_executed(kept, foreign):
    os.chown(kept if foreign == "file" else kept.parent, 65534, 65534)
    with pytest.warns(CacheWarning, match="it belongs to user 65534"):
        assert compiling.library() is None


@modes
@pytest.mark.parametrize("place", ["cache", "folder", "file"])
def test_what_others_may_write_to_is_not_executed(kept, place):
    {"cache": kept.parents[1], "folder": kept.parent, "file": kept}[place].chmod(0o777)
    with pytest.warns(CacheWarning, match=r"written by others \(mode 0777\)"):
        assert compiling.library() is None


@modes
def test_a_folder_of_the_user_in_a_shared_one_is_used(kept):
    kept.parents[1].chmod(0o1777)
    assert Path(compiling.library()._name) == kept


@only_root
def test_a_shared_folder_of_another_user_is_not_used(kept):
    kept.parents[1].chmod(0o1777)
    os.chown(kept.parents[1], 65534, 65534)
    with pytest.warns(CacheWarning, match="it belongs to user 65534"):
        assert compiling.library() is None


SOMEBODY_ELSE = """
import os
import numba
import numpy as np
import movers.runtime.machine_code
from movers.runtime.compiling import entry

@entry
def one(out):
    out[0] = 1.0

# what is imported late may lie out of the other user's reach
numba.njit(lambda x: x)(1)
movers.runtime.compiling.FOLDER = movers.runtime.compiling.Path("/nonexistent")
os.setgroups([])
os.setgid(65534)
os.setuid(65534)
out = np.zeros(1)
one(out)
print(out[0], one.compiled)
"""


@only_root
def test_another_user_without_a_home_works_with_one_warning(tmp_path):
    """A service user in a container may read the installation, and write nowhere."""
    script = tmp_path / "script.py"
    script.write_text(SOMEBODY_ELSE)
    done = subprocess.run(
        [sys.executable, script],
        env={
            "PATH": os.environ["PATH"],
            "PYTHONPATH": os.pathsep.join(sys.path),
            "HOME": "/nonexistent",
        },
        capture_output=True,
        text=True,
        cwd="/",
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["1.0", "1"]
    (warned,) = [line for line in done.stderr.splitlines() if "CacheWarning" in line]
    assert "/nonexistent" in warned and "set MOVERS_CACHE" in warned
