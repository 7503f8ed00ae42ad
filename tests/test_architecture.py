"""Imports point one way, and importing the package costs nothing."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import movers

ROOT = Path(movers.__file__).parent
FORBIDDEN = {
    "encode": {"measure", "solve", "baselines", "align"},
    "measure": {"solve", "baselines", "align"},
    "solve": {"encode", "measure", "baselines", "align"},
    "baselines": {"align"},
    "align": {"measure", "baselines"},
}
BUILT_ON_SCORERS = {
    "evaluate": set(),
    "search": set(),
    "web": set(),
    "integrations": {"evaluate"},
}
"""Folders that only the command line knows, and which of each other they may use."""
LEAVES = {"errors", "runtime", "version"}
"""What folders may import: it knows nothing of sentences."""


def imported(path):
    """Names of movers modules that a file imports, anywhere in it."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name} imports relatively"
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        else:
            continue
        yield from (name.split(".")[1] for name in names if name.startswith("movers."))


def names_at_root():
    return {path.stem for path in ROOT.glob("*.py")} | {path.name for path in ROOT.iterdir()}


@pytest.mark.parametrize("folder", FORBIDDEN)
def test_folders_import_to_the_left(folder):
    files = sorted((ROOT / folder).rglob("*.py"))
    assert files
    for path in files:
        found = set(imported(path)) & names_at_root()
        assert not found & FORBIDDEN[folder], path.name
        assert found <= {*FORBIDDEN, *LEAVES}, path.name


@pytest.mark.parametrize("folder", BUILT_ON_SCORERS)
def test_folders_built_on_scorers_keep_to_themselves(folder):
    others = {*BUILT_ON_SCORERS, "cli"} - {folder} - BUILT_ON_SCORERS[folder]
    for path in sorted((ROOT / folder).rglob("*.py")):
        assert not set(imported(path)) & others, path.name


def test_leaves_import_no_folder():
    for path in [ROOT / "errors.py", ROOT / "version.py", *(ROOT / "runtime").glob("*.py")]:
        assert set(imported(path)) & names_at_root() <= LEAVES, path.name


@pytest.mark.parametrize("folder", ["cli", *BUILT_ON_SCORERS])
def test_only_the_command_line_knows_what_is_built_on_scorers(folder):
    knowing = {folder, "cli", *(name for name, used in BUILT_ON_SCORERS.items() if folder in used)}
    for path in ROOT.rglob("*.py"):
        place = path.relative_to(ROOT).parts[0]
        if place not in knowing | {"__init__.py", "__main__.py"}:
            assert folder not in imported(path), path.name


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
