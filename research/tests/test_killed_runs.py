"""A real run killed with SIGKILL at random moments goes on, and ends with the same bits."""

import json
import os
import random
import signal
import time
from dataclasses import dataclass
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import movers
from movers.runtime.atomic import UNFINISHED
from movers_research import benchmark, encoded_corpus
from movers_research.datasets import read_dataset
from movers_research.evaluation import Task, evaluate
from movers_research.scores import MeasureGrid
from processes import PROCESSES, unsynced
from tiny_models import PAIRS

GRID = MeasureGrid(("wmd", "wsmd-wmd", "sif"), ("paper", "reference"), (0, 3))


@dataclass(frozen=True)
class Run:
    """A run in a process of its own."""

    model: Path
    pairs: Path

    def start(self, folder, *, resume=False):
        process = PROCESSES.Process(target=self, args=(folder, resume))
        process.start()
        return process

    def __call__(self, folder, resume):
        # so small that there are many moments to be killed at
        encoded_corpus.PART_BYTES, benchmark.CHUNK_PAIRS = 12_000, 6
        unsynced()
        table = read_dataset(self.pairs)
        results = evaluate(
            movers.load("wsmd", self.model),
            [Task(table, GRID)],
            folder,
            selections=["1-2", "top1"],
            dev=table,
            resume=resume,
        )
        (folder / "scores.json").write_text(json.dumps(results.to_dict()["scores"]))


@pytest.fixture
def run(tiny, tmp_path):
    table = tmp_path / "pairs.tsv"
    rows = [f"{a}\t{b}\t{place % 2}" for place, (a, b) in enumerate(PAIRS)]
    table.write_text("\n".join(["sentence1\tsentence2\tlabel", *rows]), "utf-8")
    return Run(tiny("bert"), table)


def finished(process):
    process.join()
    assert process.exitcode == 0


def written(folder):
    """Chunks, statistics and parts that a run has finished so far, and when it wrote the files."""
    kept = {}
    for parent, folders, files in os.walk(folder):  # does not mind what vanishes meanwhile
        names = [name for name in files if name.endswith((".parquet", ".safetensors"))]
        for name in (*names, *(name for name in folders if name.startswith("part-"))):
            if not name.startswith(UNFINISHED) and not name.endswith(".partial"):
                path = Path(parent, name)
                kept[path] = path.stat().st_mtime_ns if path.is_file() else None
    return kept


def killed(process, folder, after):
    """Kill a run once so many things are finished, and return what these were."""
    try:
        while len(written(folder)) < after and process.is_alive():
            time.sleep(0.005)
    finally:
        process.kill()
        process.join()
    assert process.exitcode == -signal.SIGKILL, "it ended before it could be killed"
    return written(folder)


def values(folder):
    return {
        str(path.relative_to(folder)): pq.read_table(path)
        for path in sorted((folder / "values").rglob("*.parquet"))
    }


def test_a_killed_run_resumes_to_the_same_bits(run, tmp_path):
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    finished(run.start(whole))
    total = len(values(whole))
    moments = sorted(random.Random(7).sample(range(1, total), 3))
    for start, after in enumerate(moments):
        for chunk in (broken / "values").rglob("*.parquet"):
            # as if the process had died in the middle of writing, which it rarely does by chance
            chunk.with_name(f"{UNFINISHED}x.{chunk.name}").touch()
        kept = killed(run.start(broken, resume=bool(start)), broken, after)
    finished(run.start(broken, resume=True))
    chunks = {path: made for path, made in kept.items() if path.suffix == ".parquet"}
    assert chunks and all(path.stat().st_mtime_ns == made for path, made in chunks.items())
    assert not list(broken.rglob(f"{UNFINISHED}*")), "nothing is left of what was killed"
    found, wanted = values(broken), values(whole)
    assert found.keys() == wanted.keys()
    assert all(found[name].equals(table) for name, table in wanted.items())
    scores = [json.loads((folder / "scores.json").read_text()) for folder in (broken, whole)]
    assert scores[0] == scores[1]
