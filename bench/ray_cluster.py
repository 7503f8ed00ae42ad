"""Two Ray nodes on this machine: throughput against one process, and a worker killed midway.

    python bench/ray_cluster.py [--pairs 20000] [--sample 2500] [--report results/ray.md]

Two raylets with two logical CPUs each and their own object stores. Throughput is that of WSMD
with the embedded model, one thread per worker; a small and a large run tell what the start costs
(processes, model, kernels) and what a row costs. Then all pairs go from a Parquet file to
a folder while one worker is killed with SIGKILL, and every row is compared with the distances
of a single process. What Ray itself costs per row shows best beside a measure that costs next
to nothing: bag of words.
"""

import argparse
import logging
import os
import platform
import signal
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
# Workers as eager for the processor as the process they are compared with.
os.environ["RAY_worker_niceness"] = "0"  # noqa: SIM112
os.environ.setdefault("RAY_DATA_LOG_LEVEL", "CRITICAL")

import numpy as np
import psutil
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet
import ray
import torch
from ray.cluster_utils import Cluster
from sentences import DATA, Pair, swapped_pairs

import movers
from movers.integrations.ray import Workers, score, score_files
from movers.runtime.notices import UndefinedWarning
from movers.scorer import Scorer

STORE = 200 << 20
ROUNDS = 3
BATCH = 256


def many_pairs(count: int) -> tuple[str, list[Pair]]:
    """Pairs of the STS benchmark, made-up ones elsewhere; where they run out, other pairs."""
    origin, pairs = swapped_pairs(min(count, 4000))
    if (DATA / "STSB").is_dir():
        origin = "the STS benchmark (dev and test), then of its sentences in other pairs"
        lines = [
            line.split("\t")
            for name in ("dev", "test")
            for line in (DATA / "STSB" / f"sts-{name}.csv").read_text("utf-8").splitlines()
        ]
        pairs = [(row[5], row[6]) for row in lines]
    sources, targets = zip(*pairs, strict=True)
    shifts = range(1 + count // len(pairs))
    every = [pair for k in shifts for pair in zip(sources, targets[k:] + targets[:k], strict=True)]
    return origin, every[:count]


@contextmanager
def two_nodes() -> Iterator[None]:
    """A cluster of two raylets, gone in the end whatever happens."""
    node = {"num_cpus": 2, "object_store_memory": STORE}
    cluster = Cluster(initialize_head=True, head_node_args={**node, "include_dashboard": False})
    try:
        cluster.add_node(**node)  # type: ignore[arg-type]
        ray.init(cluster.address, log_to_driver=False, logging_level=logging.ERROR)
        ray.data.DataContext.get_current().enable_progress_bars = False
        yield
    finally:
        ray.shutdown()
        cluster.shutdown()


@dataclass
class Run:
    """Seconds that a run costs at the start and per row."""

    start: float
    row: float

    def line(self, name: str, local: "Run") -> str:
        """One row of a table, beside the rate of the local engine."""
        return (
            f"| {name} | {self.start:.1f} | {1 / self.row:.0f} | {local.row / self.row:.2f} "
            f"| {1000 * self.row:.3f} |"
        )


def timed(work: Callable[[int], object], sizes: tuple[int, int]) -> Run:
    """Tell start from rows by two runs, one small and one large.

    Batches are under way before the first comes back, so the time between two of them would
    flatter a pool of workers.
    """
    few, many = sizes
    short, long = clocked(work, few), clocked(work, many)
    row = (long - short) / (many - few)
    return Run(short - few * row, row)


def clocked(work: Callable[[int], object], rows: int) -> float:
    started = time.perf_counter()
    work(rows)
    return time.perf_counter() - started


def run_local(method: str, pairs: list[Pair], sizes: tuple[int, int]) -> Run:
    def work(rows: int) -> None:
        scorer = movers.load(method, threads=1)
        for start in range(0, rows, BATCH):
            scorer.distances(pairs[start : min(start + BATCH, rows)])

    return timed(work, sizes)


def run_ray(method: str, pairs: list[Pair], sizes: tuple[int, int], workers: int) -> Run:
    def work(rows: int) -> None:
        dataset = ray.data.from_arrow(as_table(pairs[:rows]))
        scorer = movers.load(method)
        score(dataset, scorer, workers=Workers(workers), batch_size=BATCH).materialize()

    return timed(work, sizes)


def as_table(pairs: list[Pair]) -> pa.Table:
    columns = zip(*pairs, strict=True)
    return pa.table(dict(zip(("source", "target"), map(list, columns), strict=True)))


def workers_running() -> dict[int, psutil.Process]:
    """Worker processes of our own cluster."""
    found = {}
    for process in psutil.Process().children(recursive=True):
        try:
            if "MapBatches(Worker)" in " ".join(process.cmdline()):
                found[process.pid] = process
        except psutil.NoSuchProcess:
            continue
    return found


class Killer(threading.Thread):
    """Kills one worker some seconds after all of them have begun."""

    def __init__(self, workers: int, delay: float) -> None:
        super().__init__(daemon=True)
        self.workers, self.delay = workers, delay
        self.seen: set[int] = set()
        self.killed: int | None = None
        self.stop = threading.Event()

    def run(self) -> None:
        """Watch the workers until told to stop."""
        begun: float | None = None
        while not self.stop.wait(0.5):
            running = workers_running()
            self.seen |= running.keys()
            if begun is None and len(running) == self.workers:
                begun = time.monotonic()
            if begun and self.killed is None and time.monotonic() - begun > self.delay:
                self.killed = min(running)
                os.kill(self.killed, signal.SIGKILL)


def middle(runs: Sequence[Run]) -> Run:
    return sorted(runs, key=lambda run: run.row)[len(runs) // 2]


def kill_run(pairs: list[Pair], expected: np.ndarray, scorer: Scorer, delay: float) -> list[str]:
    """Score a Parquet file with two workers, kill one, and compare every row."""
    table = as_table(pairs).append_column("id", pa.array(range(len(pairs))))
    killer = Killer(2, delay)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        pa.parquet.write_table(table, folder / "pairs.parquet")
        killer.start()
        report = score_files(
            folder / "pairs.parquet", folder / "out", {"wsmd": scorer}, workers=Workers(2)
        )
        killer.stop.set()
        shards = sorted((folder / "out").iterdir())
        found = pa.dataset.dataset(shards, format="parquet").to_table()
    assert killer.killed is not None, "the job ended before a worker could be killed"
    same_rows = found.select(table.column_names).equals(table)
    equal = int((found["wsmd"].to_numpy().view(np.int64) == expected.view(np.int64)).sum())
    return [
        f"- {report.rows} rows in {report.seconds:.0f} s with two workers on two nodes, "
        f"{len(shards)} files written",
        f"- one worker killed with SIGKILL {delay:.0f} s after both had begun; "
        f"{len(killer.seen)} worker processes seen in all",
        f"- columns and order of rows preserved: {'yes' if same_rows else 'NO'}",
        f"- distances equal to the local engine bit for bit: {equal} of {len(expected)}",
    ]


def report(count: int, sample: int) -> list[str]:
    load = os.getloadavg()[0]
    torch.set_num_threads(1)
    origin, pairs = many_pairs(count)
    movers.load("wsmd").distances(pairs[-50:])
    few, many = (sample // 5, sample), (count // 4, count)
    local = run_local("wsmd", pairs, few)
    with two_nodes():
        assert len([node for node in ray.nodes() if node["Alive"]]) == 2
        one, two = (run_ray("wsmd", pairs, few, workers) for workers in (1, 2))
        rounds = [
            (run_local("bow", pairs, many), run_ray("bow", pairs, many, 1)) for _ in range(ROUNDS)
        ]
        cheap, cheap_ray = (middle(runs) for runs in zip(*rounds, strict=True))
        torch.set_num_threads(os.cpu_count() or 1)
        scorer = movers.load("wsmd")
        whole = time.perf_counter()
        expected = scorer.distances(pairs)
        whole = time.perf_counter() - whole
        killed = kill_run(pairs, expected, scorer, delay=10 + whole / 2)
    memory = psutil.virtual_memory().total / 2**30
    return [
        "# Two Ray nodes on one machine",
        "",
        f"`make bench-ray` on {os.cpu_count()} CPU cores with {memory:.0f} GiB "
        f"({platform.machine()}, Python {platform.python_version()}, Ray {ray.__version__}). "
        f"Pairs of {origin}. Load average before the start: {load:.1f}; with other work on the "
        "cores, times mean nothing.",
        "",
        "| wsmd | start, s | pairs/s | against local | ms per pair |",
        "|---|---|---|---|---|",
        local.line("local, 1 thread", local),
        one.line("Ray, 1 worker", local),
        two.line("Ray, 2 workers", local),
        "",
        "| bow | start, s | pairs/s | against local | ms per pair |",
        "|---|---|---|---|---|",
        cheap.line("local, 1 thread", cheap),
        cheap_ray.line("Ray, 1 worker", cheap),
        "",
        f"Overhead of Ray per row: {1000 * (cheap_ray.row - cheap.row):.3f} ms, the difference of "
        f"the last two lines (medians of {ROUNDS} rounds).",
        "",
        f"A worker killed ({count} pairs; one process with all cores takes {whole:.0f} s):",
        "",
        *killed,
    ]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=20_000)
    parser.add_argument("--sample", type=int, default=2500)
    parser.add_argument("--report", type=Path)
    chosen = parser.parse_args()
    warnings.simplefilter("ignore", UndefinedWarning)  # single words have no structure
    lines = "\n".join(report(chosen.pairs, chosen.sample))
    print(lines)
    if chosen.report:
        chosen.report.write_text(lines + "\n", "utf-8")
