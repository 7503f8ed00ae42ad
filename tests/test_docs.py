"""The documentation keeps its word: Python runs, commands parse, quoted scores were measured."""

import re
import shlex
import sys
import tomllib
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import matplotlib
import nbformat
import pytest
from IPython.core.inputtransformer2 import TransformerManager
from nbclient import NotebookClient

from movers.cli import command_named, main
from movers.measures.parts.costs import COSTS
from movers.measures.registry import METHODS
from movers.measures.sentences import WEIGHTS
from movers_research.datasets import DATASETS

ROOT = Path(__file__).parents[1]
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "research" / "README.md",
    *sorted(page for page in (ROOT / "docs").rglob("*.md") if "_build" not in page.parts),
]
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
BLOCK = re.compile(r"^```(\S*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
PYTHON = re.compile(r"^```python\n(.*?)^```\n(?:\s*```text\n(.*?)^```)?", re.MULTILINE | re.DOTALL)
"""Code, and what a page shows of its output right below it."""
NUMBER = r"\b0\.\d{2,}\b"
TABLES = (METHODS, WEIGHTS, COSTS, DATASETS)
"""What pages may add rows to; these go again."""
PLAIN = {"text", "json", "dockerfile", "{toctree}"}
"""Blocks that are output, layout or of another tool, not code of ours."""

matplotlib.use("agg")


def blocks(page, *languages):
    found = BLOCK.findall(page.read_text("utf-8"))
    return [body for language, body in found if language in languages]


def runnable(page):
    """Code of pages; what starts a cluster takes long."""
    marks = [pytest.mark.published] if "ray.init(" in page.read_text("utf-8") else []
    return pytest.param(page, marks=marks, id=page.name)


JOBS = ROOT / "docs" / "jobs.md"
STAYING = {"serve"}
"""Commands that do not end by themselves."""


@pytest.mark.parametrize("page", [*map(runnable, (page for page in PAGES if page != JOBS))])
def test_code_blocks_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    tables, loaded = [(table, dict(table)) for table in TABLES], set(sys.modules)
    namespace: dict = {}
    numbers: set[str] = set()
    try:
        for block, shown in PYTHON.findall(page.read_text("utf-8")):
            if named := re.match(r"# file: (\w+)\.py\n", block):
                (tmp_path / f"{named[1]}.py").write_text(block, "utf-8")
                continue
            with redirect_stdout(StringIO()) as printed:
                exec(compile(block, page.name, "exec"), namespace)
            assert printed.getvalue()[: len(shown)] == shown
            numbers |= {*re.findall(NUMBER, printed.getvalue())}
    finally:
        for table, known in tables:
            table.clear()
            table.update(known)
        for name in set(sys.modules) - loaded:
            if getattr(sys.modules[name], "__file__", "") and str(tmp_path) in str(
                sys.modules[name].__file__
            ):
                del sys.modules[name]
    if page.name == "tour.md":
        # the prose quotes what the code prints
        assert {*re.findall(NUMBER, page.read_text("utf-8"))} <= numbers


def commands(block):
    """Command lines of a console block, as words; comments, pipes and redirections cut off."""
    for line in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        words = shlex.split(line, comments=True)
        yield words[: next((k for k, word in enumerate(words) if word in "<>|&&"), None)]


def test_every_recipe_of_the_jobs_is_executed(tmp_path, monkeypatch):
    """Commands and Python in the order of the page, in one folder."""
    monkeypatch.chdir(tmp_path)
    namespace: dict = {}
    for language, block in BLOCK.findall(JOBS.read_text("utf-8")):
        if language == "python":
            exec(compile(block, JOBS.name, "exec"), namespace)
        elif language == "console":
            for _, *arguments in commands(block):
                if arguments[0] not in STAYING:
                    with pytest.raises(SystemExit, match=r"^0$"):
                        main(arguments)


def check_movers(arguments):
    """Every command, option and value is one the command line takes."""
    name, *words = arguments
    command_named(name).make_context(name, words)


def check_make(targets):
    rules = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    assert set(targets) <= rules


def check_python(arguments):
    """Scripts, and tests named after ``-m pytest``, are there."""
    named = [argument for argument in arguments if argument.endswith(".py")]
    assert named or arguments[:2] == ["-m", "pytest"]
    assert all((ROOT / path).is_file() for path in named)


def check_pip(arguments):
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    named = re.findall(r"\[(.*?)\]", arguments[-1])
    assert arguments[0] == "install"
    assert {extra for group in named for extra in group.split(",")} <= set(
        extras["optional-dependencies"]
    )


def check_nothing(arguments):
    """Commands of the system are not ours to check."""


CHECKS = {
    "movers": check_movers,
    "make": check_make,
    "python": check_python,
    "pip": check_pip,
    "export": check_nothing,
    "curl": check_nothing,
    "git": check_nothing,
    "cd": check_nothing,
}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_exist(page):
    for block in blocks(page, "console"):
        found = list(commands(block))
        assert found, f"no line starts with $ in:\n{block}"
        for program, *arguments in found:
            CHECKS[program](arguments)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_block_is_of_a_kind_that_is_checked(page):
    languages = {language for language, _ in BLOCK.findall(page.read_text("utf-8"))}
    assert languages <= {"python", "console", *PLAIN}


@pytest.mark.parametrize(
    "line",
    ["compere a b", "compare a b --colour red", "score pairs.tsv --mix much", "fit corpus.txt"],
)
def test_wrong_commands_are_found(line):
    with pytest.raises(Exception, match=r"(?i)unknown|invalid|requires"):
        check_movers(shlex.split(line))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_to_files_lead_somewhere(page):
    linked = re.findall(r"\]\(([^)\s#]+)[^)]*\)", page.read_text("utf-8"))
    for link in linked:
        assert ":" in link or (page.parent / link).exists(), link


def test_quoted_scores_were_measured():
    """The page that gives advice quotes the tables it links to, digit by digit."""
    scores = r"\b\d\d\.\d\d\b|\b0\.\d{3}\b"
    page = (ROOT / "docs" / "choosing.md").read_text("utf-8")
    tables = re.findall(r"\]\(\.\./(results/\S+\.md)\)", page)
    measured = {
        number
        for table in tables
        for number in re.findall(scores, (ROOT / table).read_text("utf-8"))
    }
    quoted = set(re.findall(scores, page))
    assert len(tables) == 4 and len(quoted) > 20
    assert quoted <= measured


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_are_kept_without_outputs(path):
    cells = [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    assert not any(cell.outputs or cell.execution_count for cell in cells), "clear its outputs"
    for cell in cells:
        compile(TransformerManager().transform_cell(cell.source), path.name, "exec")


@pytest.mark.published
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_run(path, tmp_path):
    notebook = nbformat.read(path, as_version=4)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    NotebookClient(notebook, resources={"metadata": {"path": str(tmp_path)}}).execute()
    shown = {
        kind
        for cell in cells
        for output in cell.outputs
        for kind in (output.get("data") or {output.get("name"): ""})
    }
    assert shown >= {"stdout", "text/html"} | (
        {"image/png"} if path.stem == "explanation" else set()
    )
