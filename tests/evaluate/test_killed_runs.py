"""A real run killed with SIGKILL at random moments goes on, and ends with the same bits."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from movers.atomic import UNFINISHED
from tiny_models import PAIRS

RUN = """
import json, sys
from pathlib import Path
import movers
from movers.encode import corpus
from movers.evaluate import benchmark
from movers.evaluate.datasets import read_dataset
from movers.evaluate.evaluation import Task, evaluate

# so small that there are many moments to be killed at
corpus.PART_BYTES, benchmark.CHUNK_PAIRS = 6_000, 3
model, pairs, folder, *resume = sys.argv[1:]
table = read_dataset(pairs)
methods = "wmd", "wsmd-wmd", "lambda-wmd", "sif", "smd"
grid = benchmark.Grid(methods, ("paper", "reference"), (0, 3))
results = evaluate(
    movers.load("wsmd", model),
    [Task(table, grid)],
    Path(folder),
    selections=["1-2", "top1"],
    dev=table,
    resume=bool(resume),
)
print(json.dumps(results.to_dict()["scores"]))
"""


@pytest.fixture
def command(tiny, tmp_path):
    table = tmp_path / "pairs.tsv"
    rows = [f"{a}\t{b}\t{place % 2}" for place, (a, b) in enumerate(PAIRS)]
    table.write_text("\n".join(["sentence1\tsentence2\tlabel", *rows]), "utf-8")
    return [sys.executable, "-c", RUN, str(tiny("bert")), str(table)]


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


def killed(command, folder, after):
    """Start a run, kill it once so many things are finished, and return what these were."""
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(command, **quiet) as process:
        try:
            while len(written(folder)) < after and process.poll() is None:
                time.sleep(0.001)
        finally:
            process.kill()
    assert process.returncode == -signal.SIGKILL, "it ended before it could be killed"
    return written(folder)


def values(folder):
    return {
        str(path.relative_to(folder)): pq.read_table(path)
        for path in sorted((folder / "values").rglob("*.parquet"))
    }


def test_a_killed_run_resumes_to_the_same_bits(command, tmp_path):
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    expected = subprocess.run([*command, str(whole)], capture_output=True, text=True, check=True)
    total = len(values(whole))
    moments = sorted(random.Random(7).sample(range(1, total), 3))
    for start, after in enumerate(moments):
        for chunk in (broken / "values").rglob("*.parquet"):
            # as if the process had died in the middle of writing, which it rarely does by chance
            chunk.with_name(f"{UNFINISHED}x.{chunk.name}").touch()
        resume = ["again"] if start else []
        finished = killed([*command, str(broken), *resume], broken, after)
    resumed = subprocess.run(
        [*command, str(broken), "again"], capture_output=True, text=True, check=True
    )
    chunks = {path: made for path, made in finished.items() if path.suffix == ".parquet"}
    assert chunks and all(path.stat().st_mtime_ns == made for path, made in chunks.items())
    assert not list(broken.rglob(f"{UNFINISHED}*")), "nothing is left of what was killed"
    found, wanted = values(broken), values(whole)
    assert found.keys() == wanted.keys()
    assert all(found[name].equals(table) for name, table in wanted.items())
    assert json.loads(resumed.stdout) == json.loads(expected.stdout)
