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
from movers.measures.registry import METHODS

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


ROAD = ("blocks.py", "measures/**/*.py", "solve/*.py")
LOOSE = {"describe", "reasons", "comparison", "raw_version", "from_json", "parse", "load_parser"}
"""JSON comes from files and trees from parsers as they are; the others fill fields by name."""


def test_the_road_says_what_goes_along_it():
    vague = {
        function.name
        for path in (path for pattern in ROAD for path in ROOT.glob(pattern))
        for function in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(function, ast.FunctionDef)
        for hint in (
            *(one.annotation for one in ast.walk(function.args) if isinstance(one, ast.arg)),
            function.returns,
        )
        if hint is not None and re.search(r"\bAny\b", ast.unparse(hint))
    }
    assert vague == LOOSE


EXECUTES = re.compile(
    r"\b(pickle|cloudpickle|dill|joblib|marshal|shelve)\b|torch\.load|allow_pickle|(?<!\.)\b(exec|eval)\("
    r"|trust_remote_code\W+True|add_object_file|dlopen|CDLL"
)
"""What can execute what it reads."""


def test_nothing_but_kernels_executes_what_it_reads():
    found = {
        path.relative_to(ROOT).as_posix()
        for path in ROOT.rglob("*.py")
        if EXECUTES.search(path.read_text("utf-8"))
    }
    of_the_system = {"runtime/free_memory.py"}  # a function of the C library
    assert found == {"runtime/compiling.py"} | of_the_system


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


KINDS = re.compile(r"needs_\w+|reads_\w+|reports|baseline|transport")
"""Attributes that tell what kind a measure is."""


def kinds_asked(package):
    """Places outside the folder of measures that ask what kind a measure is."""
    concrete = {type(measure).__name__ for measure in METHODS.values()}
    for path in sorted(package.rglob("*.py")):
        place = path.relative_to(package).as_posix()
        if place.startswith("measures/"):
            continue
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            asked = isinstance(node, ast.Attribute) and KINDS.fullmatch(node.attr)
            named = isinstance(node, ast.Name) and node.id in concrete
            if (asked and place != "web/connections.py") or named:  # a transport of asyncio
                yield place, node.lineno


def test_nobody_asks_what_kind_a_measure_is(tmp_path):
    assert [*kinds_asked(ROOT)] == []
    (tmp_path / "asking.py").write_text("a.needs_trees\nb.reports\nisinstance(c, WordTransport)\n")
    assert [line for _, line in kinds_asked(tmp_path)] == [1, 2, 3]


def test_the_road_can_be_traced():
    """`scripts/trace_road.py` prints every file and function from a call to its kernel."""
    path = ROOT.parents[1] / "scripts" / "trace_road.py"
    spec = spec_from_file_location("trace_road", path)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    seen = module.trace(lambda: movers.load("wmd", "no/such").settings.measure.token_rules)
    assert Path("loading.py") in seen and Path("settings.py") in seen
