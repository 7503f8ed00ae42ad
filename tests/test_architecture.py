"""Imports point one way, without a cycle anywhere, and importing the package costs nothing."""

import ast
import re
import subprocess
import sys
from graphlib import CycleError, TopologicalSorter
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

import movers
import movers_research

ROOT = Path(movers.__file__).parent


@pytest.fixture(scope="module")
def architecture():
    path = ROOT.parents[1] / "scripts" / "architecture.py"
    spec = spec_from_file_location("architecture", path)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("package", [ROOT, Path(movers_research.__file__).parent])
def test_no_module_imports_itself_on_any_way(architecture, package):
    """Imports in functions and for types count: a module can be read without what it is used by."""
    graph = architecture.imports(package)
    assert len(graph) == len(list(package.rglob("*.py")))
    list(TopologicalSorter(graph).static_order())


def test_a_cycle_would_be_found(architecture, tmp_path):
    package = tmp_path / "made"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "one.py").write_text("def late():\n    from made.two import name\n")
    (package / "two.py").write_text("if TYPE_CHECKING:\n    import made.one\n")
    with pytest.raises(CycleError):
        list(TopologicalSorter(architecture.imports(package)).static_order())


def test_every_part_has_its_place(architecture):
    placed = [name for layer in architecture.LAYERS for name in layer]
    there = {path.stem if path.is_file() else path.name for path in ROOT.iterdir()}
    there -= {"data", "__pycache__", "py"}
    assert len(placed) == len(set(placed))
    assert {architecture.part(module) for module in architecture.modules()} <= set(placed)
    assert set(placed) <= there


def test_imports_point_to_the_left(architecture):
    assert architecture.misplaced() == []


def test_the_picture_is_that_of_the_code(architecture):
    page = ROOT.parents[1] / "docs" / "architecture.svg"
    assert page.read_text("utf-8") == architecture.draw(), "python scripts/architecture.py makes it"


PIPELINE = ("pipeline.py", "session/*.py", "measure/*.py", "baselines/*.py", "solve/*.py")
LOOSE = {"find_baseline", "lists"}
"""A baseline is a module with some functions of many; lists come from users as they are."""


def test_the_pipeline_says_what_goes_through_it():
    vague = {
        function.name
        for path in (path for pattern in PIPELINE for path in ROOT.glob(pattern))
        for function in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(function, ast.FunctionDef)
        for hint in (
            *(one.annotation for one in ast.walk(function.args) if isinstance(one, ast.arg)),
            function.returns,
        )
        if hint is not None and re.search(r"\bAny\b", ast.unparse(hint))
    }
    assert vague == LOOSE


def test_importing_the_package_is_cheap():
    heavy = "torch", "transformers", "numba", "numpy"
    code = f"import sys, movers; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_every_public_name_resolves():
    assert dir(movers) == sorted(movers.__all__)
    for name in movers.__all__:
        assert getattr(movers, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        movers.nothing  # noqa: B018


@pytest.mark.parametrize("name", ["movers", "wmd", "wsmd"])
def test_pairs_reach_the_kernel_within_a_dozen_files(bert, name):
    """From `Scorer.distances` to the compiled loops a newcomer can follow every step."""
    scorer, pairs = bert.using(name), [("the dog sees the fox", "a fox sees a dog")]
    scorer._stores = []  # not shared with measures that need more of a sentence
    scorer.distances(pairs)
    seen = set()

    def watch(frame, event, argument):
        place, called = Path(frame.f_code.co_filename), frame.f_code.co_qualname
        compiled = place.stem in ("compiling", "native") or "kernels" in str(place)
        ours = ROOT in place.parents and not compiled
        if event == "call" and ours and not called.endswith(">"):
            seen.add((place, called))

    sys.setprofile(watch)
    try:
        scorer.distances(pairs)
    finally:
        sys.setprofile(None)
    assert len({place for place, _ in seen}) <= 12, seen
    assert 20 < len(seen) <= 40, seen
