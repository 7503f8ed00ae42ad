"""What the command line answers without a parser says the same as with one."""

import subprocess
import sys

import pytest

from movers import cli
from movers.cli import quick

NEEDLESS = ("numpy", "click", "torch", "onnxruntime", "numba")


@pytest.mark.parametrize("arguments", [["--help"], ["methods"], ["doctor", "--quick"], []])
def test_nothing_heavy_is_loaded(arguments):
    code = (
        "import sys, movers.plugins; from movers.cli import main;"
        "movers.plugins.entry_points = lambda group: [];"  # as if nothing else were installed
        "main(sys.argv[1:]);"
        f"sys.exit(', '.join(name for name in {NEEDLESS} if name in sys.modules) or 0)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout


def test_the_file_of_measures_says_what_the_registry_says():
    code = "from movers.cli.quick import measure_rows; print(*measure_rows(), sep='\\n')"
    made = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    remedy = "run scripts/list_measures.py"
    assert made.stdout == quick.MEASURES.read_text("utf-8"), remedy


def test_help_names_every_command_in_its_own_words(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    assert cli.main(["--help"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    for name in cli.command_names():
        first = (cli.function_of(name).__doc__ or "").splitlines()[0].replace("`", "")
        assert f"{name} {first}" in said


def test_a_reader_that_leaves_is_no_error(monkeypatch):
    def gone():
        raise BrokenPipeError

    monkeypatch.setattr(sys, "stderr", open(__file__))  # noqa: SIM115 (is closed)
    assert quick.answer(gone) == 0


def test_compare_computes_the_measure_that_is_asked_for(capsys):
    with pytest.raises(SystemExit) as end:
        cli.main(["compare", "a dog", "a cat", "--json"])
    assert not end.value.code
    assert capsys.readouterr().out.count('"method"') == 1
