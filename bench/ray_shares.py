"""Latency of an index behind Ray Serve, as the number of its shares grows.

    python bench/ray_shares.py [--sentences 4000] [--queries 60] [--report FILE]

Starts Ray on this machine. All answers are compared with the library's.
"""

import argparse
import logging
import os
import platform
import statistics
import tempfile
import time
from pathlib import Path

import ray
from ray import serve
from sentences import swapped_pairs

import movers
from movers.integrations.ray_serve import serve_index
from movers.search import cosine

SHARES = (1, 2, 4, 8)


def texts(count: int) -> list[str]:
    """So many different sentences."""
    found = dict.fromkeys(text for pair in swapped_pairs(count)[1] for text in pair)
    return [*found][:count]


def latencies(index: movers.Index, folder: Path, queries: list[str], shares: int) -> list[float]:
    """Seconds of every query, each compared with the library's answer."""
    front = serve_index(folder, shares=shares, cpus=0.1)
    front.search.remote(queries[0]).result()
    seconds = []
    for query in queries:
        started = time.perf_counter()
        found = front.search.remote(query).result()
        seconds.append(time.perf_counter() - started)
        assert found["matches"] == index.search(query).to_dict()["matches"], query
    serve.delete("movers")
    return seconds


def main() -> None:
    """Measure, print, and write the report where asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sentences", type=int, default=4000)
    parser.add_argument("--queries", type=int, default=60)
    parser.add_argument("--report", type=Path)
    options = parser.parse_args()
    every = texts(options.sentences + options.queries)
    corpus, queries = every[: options.sentences], every[options.sentences :]
    cosine.CAPACITY = {"text": len(corpus) // max(SHARES), "words": len(corpus)}
    rows = []
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "index"
        movers.Index.build(movers.load(), corpus, folder)
        index = movers.Index.open(folder)
        ray.init(include_dashboard=False, log_to_driver=False, logging_level=logging.ERROR)
        alone = []
        for query in queries:
            started = time.perf_counter()
            index.search(query)
            alone.append(time.perf_counter() - started)
        rows.append(f"| library | {1000 * statistics.median(alone):.0f} ms | |")
        for shares in SHARES:
            took = sorted(latencies(index, folder, queries, shares))
            middle, late = statistics.median(took), took[int(0.95 * len(took))]
            rows.append(f"| {shares} | {1000 * middle:.0f} ms | {1000 * late:.0f} ms |")
        serve.shutdown()
        ray.shutdown()
    machine = f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    report = f"""# Shares of an index behind Ray Serve

`python bench/ray_shares.py --sentences {len(corpus)} --queries {len(queries)}` —
{machine}, load average {os.getloadavg()[0]:.1f} at the end.

{len(corpus):,} sentences in {index.parts} files, {len(queries)} queries one after the other, each
answer equal to the library's. All shares are on one machine and each encodes the query and compares
its own ten candidates, so that this shows what more shares cost, not what more machines save.

| shares | median | 95 % |
|---|---|---|
{chr(10).join(rows)}
"""
    print(report)
    if options.report is not None:
        options.report.write_text(report, "utf-8")


if __name__ == "__main__":
    main()
