"""Peak memory of scoring files of growing size with a measure that costs next to nothing.

    python bench/frames.py [--rows 5000000]

Every row of the report is a process of its own. The sentences are made up and the distances are
differences of length, so that only reading, checking and writing show.
"""

import argparse
import json
import platform
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import numpy as np
import pyarrow as pa
from pyarrow import ipc, parquet
from sentences import PEOPLE, PLACES, TIMES, VERBS

BLOCK = 1 << 18
SCHEMA = pa.schema([("id", pa.int64()), ("source", pa.string()), ("target", pa.string())])
ROUTES = {
    "Parquet → Parquet": ("pairs.parquet", "scored.parquet"),
    "Arrow → Arrow": ("pairs.arrow", "scored.arrow"),
    "Parquet → TSV": ("pairs.parquet", "scored.tsv"),
}


class Stub:
    """Stands where a scorer stands; the distance is the difference in length."""

    def prepare(self) -> None:
        """Do nothing; there is no model."""

    def distances(self, pairs: list[tuple[str, str]]) -> np.ndarray:
        """Differences in length."""
        return np.array([abs(len(a) - len(b)) for a, b in pairs], float)


def blocks(rows: int) -> Iterator[pa.RecordBatch]:
    """Made-up pairs, a block of rows at a time."""
    rng = random.Random(0)
    parts = [[f"The {who}" for who in PEOPLE], VERBS, [f"them in {at}" for at in PLACES], TIMES]
    made = [" ".join(rng.choice(part) for part in parts) for _ in range(BLOCK // 4)]
    for start in range(0, rows, BLOCK):
        ids = np.arange(start, min(rows, start + BLOCK))
        sides = [
            [f"{text} {row}" for row, text in zip(ids, draw, strict=True)]
            for draw in (rng.choices(made, k=len(ids)), rng.choices(made, k=len(ids)))
        ]
        yield pa.record_batch([pa.array(ids), *map(pa.array, sides)], SCHEMA)


def generate(path: Path, rows: int) -> None:
    if path.suffix == ".parquet":
        # as pandas and polars write it: few, large row groups
        with parquet.ParquetWriter(path, SCHEMA) as writer:
            group = []
            for block in blocks(rows):
                group.append(block)
                if len(group) == 4:
                    writer.write_table(pa.Table.from_batches(group))
                    group = []
            if group:
                writer.write_table(pa.Table.from_batches(group))
    else:
        with ipc.new_file(path, SCHEMA) as writer:
            for block in blocks(rows):
                writer.write_batch(block)


def score(source: Path, output: Path) -> dict[str, float]:
    """Score one file in this process."""
    from movers.bulk.score_files import score_table
    from movers.scorer import Scorer

    before = peak()
    started = time.perf_counter()
    report = score_table(source, output, {"stub": cast(Scorer, Stub())})
    seconds = time.perf_counter() - started
    return {"rows": report.rows, "seconds": seconds, "before": before, "peak": peak()}


def peak() -> float:
    """Peak resident memory of this process in MB."""
    unit = 1e6 if sys.platform == "darwin" else 1e3
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def in_a_process(command: str, *arguments: object) -> str:
    done = subprocess.run(
        [sys.executable, __file__, command, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def main(rows: int) -> None:
    print(f"{platform.machine()}, Python {platform.python_version()}, pyarrow {pa.__version__}\n")
    print("| route | rows | input MB | rows/s | peak memory MB | before scoring MB |")
    print("|---|---|---|---|---|---|")
    for route, (source, output) in ROUTES.items():
        for count in (rows // 10, rows):
            with tempfile.TemporaryDirectory() as folder:
                paths = Path(folder, source), Path(folder, output)
                in_a_process("generate", paths[0], count)
                facts = json.loads(in_a_process("score", *paths))
                size = paths[0].stat().st_size / 1e6
            speed = facts["rows"] / facts["seconds"]
            print(
                f"| {route} | {count:,} | {size:.0f} | {speed:,.0f} | {facts['peak']:.0f} | "
                f"{facts['before']:.0f} |",
                flush=True,
            )


if __name__ == "__main__":
    if sys.argv[1:2] == ["generate"]:
        generate(Path(sys.argv[2]), int(sys.argv[3]))
    elif sys.argv[1:2] == ["score"]:
        print(json.dumps(score(Path(sys.argv[2]), Path(sys.argv[3]))))
    else:
        parser = argparse.ArgumentParser(description=__doc__)
        parser.add_argument("--rows", type=int, default=5_000_000)
        main(parser.parse_args().rows)
