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

import movers

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
RESEARCH = tomllib.loads((ROOT / "research" / "pyproject.toml").read_text("utf-8"))["project"]
CODE = sorted((ROOT / "src" / "movers").rglob("*.py"))


def build(project, folder, *what):
    call = [sys.executable, "-m", "build", "--no-isolation", *what, "--outdir", str(folder)]
    done = subprocess.run([*call, str(project)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """A folder with the wheel and the source archive."""
    return build(ROOT, tmp_path_factory.mktemp("dist"))


@pytest.fixture(scope="module")
def wheel(built):
    (path,) = built.glob("*.whl")
    return path


def package_files(source):
    """Code and data of a package, by their paths in the wheel."""
    files = (path for path in source.rglob("*") if path.is_file())
    return {
        path.relative_to(source).as_posix() for path in files if "__pycache__" not in path.parts
    }


def test_wheel_holds_code_data_and_nothing_else(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {name for name in names if ".dist-info/" not in name} == package_files(ROOT / "src")


def test_research_is_a_wheel_of_its_own(tmp_path):
    (path,) = build(ROOT / "research", tmp_path, "--wheel").glob("movers_research-*.whl")
    names = {name for name in zipfile.ZipFile(path).namelist() if ".dist-info/" not in name}
    assert names == package_files(ROOT / "research" / "src")
    assert {"movers_research/templates/report.html", "movers_research/published/scores.csv"} < names


def test_research_is_of_the_same_version():
    assert RESEARCH["version"] == movers.__version__
    assert f"movers=={movers.__version__}" in RESEARCH["dependencies"]


def test_the_package_needs_nothing_of_research():
    assert not any("movers_research" in path.read_text("utf-8") for path in CODE)


@pytest.mark.parametrize(
    "name",
    [
        "py.typed",
        "data/stopwords_english.txt",
        "data/all-MiniLM-L6-v2.safetensors",
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
    assert {"plot", "search", "web", "ray", "parse", "plugins", "dev", *stores} == set(EXTRAS)


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
            *RESEARCH["dependencies"],
            *(item for extra in EXTRAS.values() for item in extra),
        )
    }
    assert required - {"movers"} <= known
