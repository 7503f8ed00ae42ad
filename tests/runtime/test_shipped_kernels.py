"""Kernels that were compiled when the package was built are found, and only where they belong."""

import shutil
from importlib import import_module

import numpy as np
import pytest

from movers import building
from movers.compile_ahead import _problems
from movers.runtime import native
from movers.runtime.compiling import Entry, entries
from movers.runtime.native import flatten, sources_digest
from movers.solve.batch import emd_batch

LEVELS = [*native.levels()]
pytestmark = pytest.mark.skipif(
    not any(map(shutil.which, ("cc", "gcc", "clang"))), reason="no C compiler"
)


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The kernels of one step, linked for every kind of processor."""
    folder = tmp_path_factory.mktemp("kernels")
    find = Entry.find
    calls = [(one, one.calls) for one in entries]
    try:
        for one, _ in calls:
            one.calls = {}
        best = native.best_level()
        kinds = (best, *(kind for kind in LEVELS if kind != best))
        made = building.compile_step("transport", kinds)
    finally:
        Entry.find = find
        for one, before in calls:
            one.calls = before
    for kind in LEVELS:
        path = native.library_path(kind, sources_digest(), folder)
        building.link(building.find_linker(), made[kind], path)
    return folder


@pytest.fixture
def shipped(built, monkeypatch):
    monkeypatch.setattr(native, "FOLDER", built)
    for name in native.SETTINGS:
        monkeypatch.delenv(f"NUMBA_{name}", raising=False)
    original = native.library_path
    monkeypatch.setattr(
        native, "library_path", lambda level, digest: original(level, digest, built)
    )
    native.library.cache_clear()
    yield
    native.library.cache_clear()


def able(level):
    features = import_module("numpy._core._multiarray_umath").__cpu_features__
    return all(features.get(one) for one in native.levels()[level])


def afresh(monkeypatch):
    """Forget code that was found, and refuse to compile any."""
    for one in entries:
        monkeypatch.setattr(one, "calls", {})
    monkeypatch.setattr(Entry, "_compile", None)
    monkeypatch.setattr("movers.runtime.kernel_cache.find", lambda name, kinds: None)


@pytest.mark.usefixtures("shipped")
@pytest.mark.parametrize("level", LEVELS)
def test_built_kernels_run_without_a_compiler(monkeypatch, level):
    if not able(level):
        pytest.skip(f"this processor is no {level}")
    expected = emd_batch(_problems(), threads=1).value
    monkeypatch.setattr(native, "best_level", lambda: level)
    afresh(monkeypatch)
    np.testing.assert_allclose(emd_batch(_problems(), threads=1).value, expected, rtol=1e-12)
    assert level in native.library()._name


@pytest.mark.usefixtures("shipped")
def test_other_sources_do_not_find_them(monkeypatch):
    assert native.library() is not None
    native.library.cache_clear()
    monkeypatch.setattr(native, "sources_digest", lambda: "0" * 16)
    assert native.library() is None


@pytest.mark.usefixtures("shipped")
def test_settings_of_numba_ask_for_code_of_their_own(monkeypatch):
    monkeypatch.setenv("NUMBA_CPU_NAME", "haswell")
    assert native.library() is None


@pytest.mark.usefixtures("shipped")
def test_other_arguments_are_not_built():
    kinds, _ = flatten((np.zeros((1, 1, 1, 1, 1)),))
    assert native.find_shipped(entries[0].name, kinds) is None


def test_this_processor_is_of_some_kind(monkeypatch):
    assert native.best_level() in LEVELS
    monkeypatch.setattr("platform.machine", lambda: "riscv64")
    assert native.best_level() == "generic"


def test_without_numba_the_extra_is_named(monkeypatch):
    afresh(monkeypatch)
    monkeypatch.undo()
    monkeypatch.setitem(__import__("sys").modules, "movers.runtime.machine_code", None)
    with pytest.raises(ImportError, match=r"movers\[compile\]"):
        entries[0]._compile((), "movers_none")
