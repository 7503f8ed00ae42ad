"""A real run killed with SIGKILL at random moments goes on, and ends with the same bits."""

import json
import os
import random
import signal
import subprocess
import sys
import time

import pyarrow.parquet as pq
import pytest

from tiny_models import PAIRS

SMALL = """
import sys
from movers.encode import corpus
from movers.evaluate import benchmark
corpus.PART_BYTES, benchmark.CHUNK_PAIRS = 6_000, 3
from movers.cli import main
sys.exit(main())
"""
"""The command line, with parts and chunks so small that there are many moments to be killed at."""


@pytest.fixture
def command(tiny, tmp_path):
    table = tmp_path / "pairs.tsv"
    rows = [f"{a}\t{b}\t{place % 2}" for place, (a, b) in enumerate(PAIRS)]
    table.write_text("\n".join(["sentence1\tsentence2\tlabel", *rows]), "utf-8")
    settings = (
        "--methods wmd,wsmd-wmd,lambda-wmd,sif,smd --recipes paper,reference --embeddings 0,-1 "
        f"--mixes 0.3,0.5 --layers 1-2 --dev {table} --model {tiny('bert')} --json"
    )
    return [sys.executable, "-c", SMALL, "evaluate", str(table), *settings.split(), "-o"]


def written(folder):
    """Everything a run has finished so far, with the time it was written."""
    kept = [*folder.rglob("*.parquet"), *folder.rglob("*.safetensors"), *folder.glob("*/*/part-*")]
    return {
        path: path.stat().st_mtime_ns
        for path in kept
        if not path.name.startswith(".") and path.suffix != ".partial"
    }


def killed(command, folder, after):
    """Start a run, kill it once so many things are finished, and return what these were."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 120
    while len(written(folder)) < after and process.poll() is None:
        assert time.monotonic() < deadline
        time.sleep(0.001)
    os.kill(process.pid, signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL, "it ended before it could be killed"
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
        resume = ["--resume"] if start else []
        finished = killed([*command, str(broken), *resume], broken, after)
    resumed = subprocess.run(
        [*command, str(broken), "--resume"], capture_output=True, text=True, check=True
    )
    chunks = {path: time for path, time in finished.items() if path.suffix == ".parquet"}
    assert chunks and all(path.stat().st_mtime_ns == time for path, time in chunks.items())
    assert len(values(broken)) == total
    for name, table in values(whole).items():
        assert values(broken)[name].equals(table), name
    assert json.loads(resumed.stdout)["scores"] == json.loads(expected.stdout)["scores"]
