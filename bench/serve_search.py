"""Searches of a served index beside the library's, and the same server overloaded.

    python bench/serve_search.py [--sentences 5000] [--queries 500] [--report FILE]

Every answer is compared with the library's bit for bit.
"""

import argparse
import json
import os
import platform
import statistics
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
from sentences import swapped_pairs
from serve import Server

import movers

CLIENTS, EACH, ROUNDS = 100, 20, 4
"""Clients at once that overload the server, how often each asks, and how often they come."""
KEPT = ("matches", "certified", "bound", "compared", "signature")


def texts(count: int) -> list[str]:
    """So many different sentences."""
    found = dict.fromkeys(text for pair in swapped_pairs(count)[1] for text in pair)
    return [*found][:count]


def overloaded(server: Server, queries: list[str]) -> Counter[int]:
    """Statuses of many clients who do not wait."""

    def ask(number: int) -> list[int]:
        with httpx.Client(base_url=f"http://127.0.0.1:{server.port}", timeout=90) as client:
            every = (queries[(number * EACH + k) % len(queries)] for k in range(EACH))
            bodies = ({"query": query, "top_k": 50, "explain": 5} for query in every)
            return [client.post("/v1/search", json=body).status_code for body in bodies]

    with ThreadPoolExecutor(CLIENTS) as pool:
        return Counter(status for seen in pool.map(ask, range(CLIENTS)) for status in seen)


def measure(sentences: int, queries: int, place: Path) -> str:
    """Build, serve, search both ways, overload; the report."""
    every = texts(sentences + queries)
    corpus, asked = every[:sentences], every[sentences:]
    movers.Index.build(movers.load(), corpus, place)
    index, server = movers.Index.open(place), Server("--index", f"bench={place}")
    try:
        index.search(corpus[0])
        library, http, differ = [], [], 0
        with httpx.Client(base_url=f"http://127.0.0.1:{server.port}", timeout=60) as client:
            for query in asked:
                started = time.perf_counter()
                expected = index.search(query).to_dict()
                library.append(time.perf_counter() - started)
                started = time.perf_counter()
                found = client.post("/v1/search", json={"query": query}).json()
                http.append(time.perf_counter() - started)
                plain = json.loads(json.dumps(expected))
                differ += any(found[name] != plain[name] for name in KEPT)
        before = server.megabytes
        statuses, after = Counter[int](), []
        for _ in range(ROUNDS):
            statuses += overloaded(server, asked)
            after.append(f"{server.megabytes:.0f}")
        memory = f"{before:.0f} MB before the overload, {', '.join(after)} MB after each round"
    finally:
        code = server.stop()
    ours, theirs = (1000 * statistics.median(one) for one in (library, http))
    seen = ", ".join(f"{count} × {status}" for status, count in sorted(statuses.items()))
    machine = f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    return f"""# Searches over HTTP

`python bench/serve_search.py --sentences {len(corpus)} --queries {len(asked)}` —
{machine}, load average {os.getloadavg()[0]:.1f} at the end.

{len(corpus):,} sentences, {len(asked)} queries one after the other, ten matches each, in the
library and over HTTP by turns: **{differ} answers differ** in any bit. {CLIENTS} clients at once
then ask {EACH} times each for 50 matches, five of them with reasons, and do not wait when turned
away, {ROUNDS} times over.

| | |
|---|---|
| library, median | {ours:.1f} ms |
| over HTTP, median | {theirs:.1f} ms |
| difference | {theirs - ours:.1f} ms |
| overloaded | {seen} |
| memory of the server | {memory} |
| exit code | {code} |
"""


def main() -> None:
    """Measure, print, and write the report where asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sentences", type=int, default=5000)
    parser.add_argument("--queries", type=int, default=500)
    parser.add_argument("--report", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        report = measure(options.sentences, options.queries, Path(place) / "index")
    print(report)
    if options.report is not None:
        options.report.write_text(report, "utf-8")


if __name__ == "__main__":
    main()
