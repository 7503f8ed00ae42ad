"""SIGKILL at any moment leaves a usable index or none, and no work is lost."""

import json
import os
import random
import signal
import subprocess
import sys
import time

import pytest
from corpus import make_corpus

from movers.errors import InputError
from movers.search.index import Index

SCRIPT = """
import sys
from pathlib import Path
import movers
from movers.search import index, mining
index.SHARD, mining.BLOCK = 16, 4
folder, model, statistics, task = sys.argv[1:]
scorer = movers.load("wsmd", model, statistics=statistics, threads=1)
corpus, output = Path(folder, "corpus.txt"), Path(folder, "pairs.jsonl")
print("ready", flush=True)
if task == "build":
    movers.Index.build(scorer, corpus, Path(folder, "index"))
else:
    mining.mine_file(movers.Index.open(Path(folder, "index")), 0.3, output)
print("done", flush=True)
"""


@pytest.fixture
def work(bert, tiny, tmp_path):
    """A folder with a corpus, and how to start a task on it."""
    (tmp_path / "corpus.txt").write_text("\n".join(make_corpus(150)) + "\n")
    bert.save(tmp_path / "statistics.safetensors")
    arguments = [str(tmp_path), str(tiny("bert")), str(tmp_path / "statistics.safetensors")]

    def start(task):
        return subprocess.Popen(
            [sys.executable, "-c", SCRIPT, *arguments, task], stdout=subprocess.PIPE, text=True
        )

    return tmp_path, start


def kill_after(process, seconds):
    """Wait until a task has begun, then kill it; whether it was done before."""
    assert process.stdout.readline().strip() == "ready"
    time.sleep(seconds)
    os.kill(process.pid, signal.SIGKILL)
    rest, _ = process.communicate(timeout=60)
    return "done" in rest


def finish(process):
    out, _ = process.communicate(timeout=120)
    assert process.returncode == 0 and "done" in out


def whole(folder):
    """Whether a folder holds an index; if not, it must say so."""
    if (folder / "manifest.json").exists():
        return len(Index.open(folder, verify=True)) == 150
    with pytest.raises(InputError, match="no index in"):
        Index.open(folder)
    return False


def test_killed_builds_leave_an_index_or_none(work, bert):
    folder, start = work
    rng = random.Random(0)
    for _ in range(2):
        if kill_after(start("build"), rng.uniform(0.02, 0.4)) or whole(folder / "index"):
            break
    else:
        finish(start("build"))
    index = Index.open(folder / "index", verify=True)
    assert index.sentences == make_corpus(150)
    assert not list((folder / "index").glob(".*")), "nothing is left of what was killed"


def test_killed_mining_goes_on(work, bert):
    folder, start = work
    index = Index.build(bert, folder / "corpus.txt", folder / "index")
    rng, finished = random.Random(1), []
    journal, output = folder / "pairs.jsonl.journal", folder / "pairs.jsonl"
    for _ in range(2):
        if kill_after(start("mine"), rng.uniform(0.1, 0.8)):
            break
        assert not output.exists()
        if journal.exists():
            finished.append(sum(line.endswith(b"\n") for line in journal.open("rb")))
    else:
        finish(start("mine"))
    assert finished == sorted(finished), "no finished block is lost"
    found = [json.loads(line) for line in output.read_text().splitlines()]
    matrix = index.scorer.using(empty="keep").matrix(index.sentences[:40])
    near = {(a, b) for a in range(40) for b in range(a + 1, 40) if matrix[a, b] <= 0.3}
    odd = {row for row in range(40) if index.sentences[row] == "the of"}
    pairs = {(pair["first"], pair["second"]) for pair in found if pair["second"] < 40}
    assert pairs <= near and all(
        odd & set(pair) or len(index.sentences[pair[0]].split()) == 1 for pair in near - pairs
    )
    assert not journal.exists()
