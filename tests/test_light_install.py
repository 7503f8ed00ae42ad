"""What a base installation does without the packages that extras bring."""

import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from movers.compile_ahead import build
from movers.errors import EXTRAS
from movers.runtime.compiling import best_level

BLOCKED = f"""
import sys
class Without:
    # finds what another finder does, but for packages of extras: those are not there
    def __init__(self, finder):
        self.finder = finder
    def __getattr__(self, name):
        return getattr(self.finder, name)
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] not in {sorted(EXTRAS)}:
            return self.finder.find_spec(name, path, target)
sys.meta_path[:] = map(Without, sys.meta_path)
"""
BUILT = """
import ctypes
from movers.runtime import compiling
compiling.library = lambda: ctypes.CDLL({path!r})
"""
pytestmark = pytest.mark.timeout(900)  # kernels of other sources are built first, for a minute
KERNELS = Path(__file__).parents[1] / "build" / "kernels"


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Run code where nothing but a wheel and its requirements is: kernels come built."""
    (library,) = build(KERNELS, (best_level(),))  # which those of the same sources do not need
    folder = tmp_path_factory.mktemp("light")
    (folder / "pairs.parquet").touch()
    (folder / "lines.txt").write_text("\n".join(LINES), "utf-8")
    (folder / "pairs.tsv").write_text("\n".join(map("\t".join, pairwise(LINES))), "utf-8")

    def run(code, *arguments):
        return subprocess.run(
            [sys.executable, "-c", BLOCKED + BUILT.format(path=str(library)) + code, *arguments],
            capture_output=True,
            text=True,
            check=False,
            cwd=folder,
        )

    return run


LONG = "The house at Mill Lane has four rooms, a kitchen and a garden behind the wall. " * 40
LINES = (
    "text", "a dog bites a man", "a man bites a dog", "the man is bitten by a dog", "a cat sleeps",
    f"{LONG}The tenant shall pay.", f"{LONG}The tenant shall not pay.",
)  # fmt: skip
COMMAND = "from movers.cli import main; sys.exit(main(sys.argv[1:]))"


def test_two_sentences(run):
    done = run("import movers; print(movers.distance('a dog bites', 'a man bites'))")
    assert done.stderr == "" and 0 < float(done.stdout) < 1


def test_pairs_of_any_kind_and_frames_name_their_extra(run):
    done = run(
        "import movers, pandas; scorer = movers.load(); pairs = [('a dog', 'a cat')]\n"
        "print(*scorer.distances(iter(pairs)) == scorer.distances(pairs))\n"
        "for verb in scorer.distances, scorer.score:\n"
        "    try: verb(pandas.DataFrame(pairs))\n"
        "    except movers.DependencyError as error: print(error)"
    )
    told = "a data frame needs narwhals, which is not installed: pip install movers[frames]"
    assert (done.stdout.splitlines(), done.stderr) == (["True", told, told], "")


@pytest.mark.parametrize(
    "arguments",
    [
        ("compare", "a dog bites a man", "a man bites a dog", "--methods", "movers,wmd,wsmd"),
        ("compare", "cancel my subscription", "cancel my subscripton"),
        ("align", "a dog bites a man", "a man bites a dog"),
        ("models",),
        ("doctor",),
    ],
)
def test_commands(run, arguments):
    done = run(COMMAND, *arguments)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("method", ["movers", "wsmd"])
def test_jobs_on_files_have_all_kernels(run, method):
    lines, corpus, measure = "lines.txt", f"{method}.index", ("--method", method, "--quiet")
    for arguments in (
        ("index", lines, "-o", corpus, *measure),
        ("search", corpus, "a dog bites a cat", "--guard", "numbers"),
        ("search", corpus, "a dog bites a cat", "--candidates", "3"),
        ("mine", lines, "--threshold", "0.3", "-o", f"{method}.mined.tsv", *measure),
        ("dedupe", lines, "--threshold", "0.1", "-o", f"{method}.kept.txt", *measure),
        ("score", "pairs.tsv", "-o", f"{method}.scored.tsv", "--methods", method, "--quiet"),
        ("diff", lines, lines),
    ):
        done = run(COMMAND, *arguments)
        assert done.returncode == 0 and "compil" not in done.stderr, (arguments, done.stderr)


@pytest.mark.parametrize(
    ("arguments", "extra"),
    [
        (("compare", "a dog", "a cat", "--model", "bert-base-uncased"), "torch"),
        (("compare", "a dog", "a cat", "--model-engine", "torch"), "torch"),
        (("compare", "a dog", "a cat", "--methods", "sif"), "frequencies"),
        (("compare", "a dog", "a cat", "--spelling", "repair"), "frequencies"),
        (("score", "pairs.parquet", "-o", "out.parquet"), "tables"),
        (("evaluate", "pairs.parquet"), "tables"),
    ],
)
def test_what_needs_more_names_the_extra(run, arguments, extra):
    done = run(COMMAND, *arguments)
    assert done.returncode == 1
    assert f"pip install movers[{extra}]" in done.stderr
    assert "Traceback" not in done.stderr
