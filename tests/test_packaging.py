"""The wheel holds what the package needs and nothing else, and works where it is installed."""

import os
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
CODE = sorted((ROOT / "src" / "movers").rglob("*.py"))


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """A folder with the wheel and the source archive."""
    folder = tmp_path_factory.mktemp("dist")
    call = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder)]
    done = subprocess.run([*call, str(ROOT)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def wheel(built):
    (path,) = built.glob("*.whl")
    return path


def data_files():
    """Everything beside the code that the package reads, by its path in the wheel."""
    package = ROOT / "src" / "movers"
    files = (path for path in package.rglob("*") if path.is_file())
    return {
        f"movers/{path.relative_to(package).as_posix()}"
        for path in files
        if path.suffix != ".py" and "__pycache__" not in path.parts
    }


def test_wheel_holds_code_data_and_nothing_else(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    code = {f"movers/{path.relative_to(ROOT / 'src' / 'movers').as_posix()}" for path in CODE}
    assert {name for name in names if ".dist-info/" not in name} == code | data_files()


@pytest.mark.parametrize(
    "name",
    [
        "py.typed",
        "data/stopwords_english.txt",
        "data/triples_english.tsv",
        "data/behaviour_english.tsv",
        "data/all-MiniLM-L6-v2.safetensors",
        "evaluate/templates/report.css",
        "evaluate/templates/report.html",
        "evaluate/templates/report.md",
        "evaluate/published/scores.csv",
        "evaluate/published/facts.json",
        "explain/static/page.html",
        "explain/static/page.css",
        "explain/static/page.js",
    ],
)
def test_data_is_in_the_wheel(wheel, name):
    assert f"movers/{name}" in zipfile.ZipFile(wheel).namelist()


def test_source_archive_can_be_built_and_tested(built):
    (path,) = built.glob("*.tar.gz")
    with tarfile.open(path) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"pyproject.toml", "README.md", "LICENSE", "Makefile", "constraints.txt"} <= names
    assert {"src/movers/py.typed", "tests/test_packaging.py", "docs/conf.py"} <= names
    assert not any(re.search(r"(^|/)(__pycache__|\.venv|_build)(/|$)", name) for name in names)


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """A folder with the wheel's files alone."""
    folder = tmp_path_factory.mktemp("installed")
    call = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index"]
    subprocess.run([*call, "--target", str(folder), str(wheel)], check=True)
    return folder


def run_installed(folder, *arguments, cwd):
    """Run Python where the wheel's files come before any checkout."""
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    call = [sys.executable, *arguments]
    return subprocess.run(call, env=environment, cwd=cwd, capture_output=True, text=True)


def test_wheel_works_without_the_checkout(installed, tmp_path):
    code = (
        "import movers; print(movers.__file__);"
        "print(movers.load('average').compare('a dog barks', 'the cat sleeps').distance > 0)"
    )  # a measure that need not compile its solver first
    done = run_installed(installed, "-P", "-c", code, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [str(installed / "movers" / "__init__.py"), "True"]


def test_command_is_installed(installed, wheel, tmp_path):
    done = run_installed(installed, str(installed / "bin" / "movers"), "--version", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == wheel.name.split("-")[1]


def test_extras_are_those_documented():
    stores = {"faiss", "lance", "qdrant"}
    assert {"eval", "search", "web", "ray", "parse", "plugins", "dev", *stores} == set(EXTRAS)


def test_messages_name_extras_that_exist():
    named = {
        extra for path in CODE for extra in re.findall(r"movers\[(\w+)\]", path.read_text("utf-8"))
    }
    assert named
    assert named <= set(EXTRAS)


def test_development_has_every_extra():
    everything = next(item for item in EXTRAS["dev"] if item.startswith("movers["))
    assert set(everything[len("movers[") : -1].split(",")) == set(EXTRAS) - {"dev"}


def test_development_versions_are_pinned():
    pinned = re.findall(
        r"^([\w.-]+)==", (ROOT / "constraints.txt").read_text("utf-8"), re.MULTILINE
    )
    known = {name.lower().replace("_", "-") for name in pinned}
    required = {
        re.match(r"[\w.-]+", item)[0].lower().replace("_", "-")
        for item in (
            *PROJECT["dependencies"],
            *(item for extra in EXTRAS.values() for item in extra),
        )
    }
    assert required - {"movers"} <= known


def test_the_lowest_versions_are_those_that_are_tested():
    lines = (ROOT / "constraints-minima.txt").read_text("utf-8").splitlines()
    tested = dict(line.split("==") for line in lines if not line.startswith("#"))
    for needed in map(Requirement, PROJECT["dependencies"]):
        lowest = min(Version(bound.version) for bound in needed.specifier)
        found = Version(tested.pop(needed.name))
        assert found >= lowest if needed.name == "torch" else found == lowest, needed
    assert not tested
