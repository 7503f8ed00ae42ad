"""What a base installation does without the packages that extras bring."""

import subprocess
import sys

import pytest

from movers.errors import EXTRAS

BLOCKED = f"""
import sys
class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {sorted(EXTRAS)}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name.partition(".")[0])
sys.meta_path.insert(0, Blocker())
"""


def run(code, *arguments):
    return subprocess.run(
        [sys.executable, "-c", BLOCKED + code, *arguments],
        capture_output=True,
        text=True,
        check=False,
    )


COMMAND = "from movers.cli import main; sys.exit(main(sys.argv[1:]))"


def test_two_sentences():
    done = run("import movers; print(movers.distance('a dog bites', 'a man bites'))")
    assert done.stderr == "" and 0 < float(done.stdout) < 1


@pytest.mark.parametrize(
    "arguments",
    [
        ("compare", "a dog bites a man", "a man bites a dog", "--methods", "movers,wmd,wsmd"),
        ("align", "a dog bites a man", "a man bites a dog"),
        ("models",),
        ("doctor",),
    ],
)
def test_commands(arguments):
    done = run(COMMAND, *arguments)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("arguments", "extra"),
    [
        (("compare", "a dog", "a cat", "--model", "bert-base-uncased"), "torch"),
        (("compare", "a dog", "a cat", "--model-engine", "torch"), "torch"),
        (("compare", "a dog", "a cat", "--methods", "sif"), "frequencies"),
        (("score", "pairs.parquet", "-o", "out.parquet"), "tables"),
        (("evaluate", "nothing"), "tables"),
    ],
)
def test_what_needs_more_names_the_extra(arguments, extra):
    done = run(COMMAND, *arguments)
    assert done.returncode == 1
    assert f"pip install movers[{extra}]" in done.stderr
    assert "Traceback" not in done.stderr
