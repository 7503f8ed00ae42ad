"""A server under load on loopback, beside the library on the same pairs.

    python bench/serve.py [--seconds 120] [--clients 50] [--pairs 16] [--report FILE]

Starts `movers serve` and compares short pairs one by one, alone and beside long explanations, and
asks for its pulse among silent connections. Then lets clients ask without pause for the distances
of new pairs (no sentence comes twice, so that nothing is answered from memory), and overloads it
on purpose. The library scores a sample of the same pairs in one call, before and after, while the
server is idle.
"""

import argparse
import asyncio
import json
import os
import platform
import random
import re
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

import httpx
import numpy as np
import psutil
from numpy.typing import NDArray
from sentences import swapped_pairs

import movers
from movers.web.limits import Limits

SAMPLE = 1024
SETTLING = 0.1
"""Share of the run after which memory has to be flat."""
OVERLOAD_CLIENTS = 400
OVERLOAD_SECONDS = 10
LONG, LONG_WORDS = 24, 150
SILENT = 1000


def new_pairs(seed: int) -> Iterator[list[str]]:
    """Endless pairs as long as real ones and made of their words; no sentence comes twice."""
    rng = random.Random(seed)
    originals = [text.split() for pair in swapped_pairs(4000)[1] for text in pair]
    words = [word for text in originals for word in text]
    while True:
        yield [" ".join(rng.choices(words, k=len(rng.choice(originals)))) for _ in "ab"]


def library_rates(pairs: list[list[str]]) -> NDArray[np.float64]:
    """Pairs per second and per second of processor time, in one big batch, nothing cached."""
    movers.load("wsmd").distances(pairs[:64])
    scorer = movers.load("wsmd")
    started, used = time.perf_counter(), time.process_time()
    scorer.distances(pairs[64:])
    spent = time.perf_counter() - started, time.process_time() - used
    return (len(pairs) - 64) / np.array(spent)


class Server:
    """A running `movers serve`."""

    def __init__(self, *options: str) -> None:
        command = [sys.executable, "-m", "movers", "serve", "--port", "0", *options]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        assert self.process.stderr is not None
        line = next(line for line in self.process.stderr if "serving on" in line)
        found = re.search(r":(\d+)\s*$", line)
        assert found, line
        self.port = int(found[1])
        self.facts = psutil.Process(self.process.pid)

    @property
    def megabytes(self) -> float:
        """Resident memory."""
        return float(self.facts.memory_info().rss / 1e6)

    @property
    def processor_seconds(self) -> float:
        """Processor time used so far."""
        times = self.facts.cpu_times()
        return float(times.user + times.system)

    def stop(self) -> int:
        """Stop gracefully; the exit code."""
        self.process.terminate()
        return self.process.wait(60)


@dataclass
class Load:
    """What the clients saw.

    Parameters
    ----------
    statuses
        Answers by status; broken connections count as 0.
    seconds
        Latency of every answer that was no refusal.
    memory
        Resident megabytes of the server over time.
    """

    statuses: Counter[int] = field(default_factory=Counter)
    seconds: list[float] = field(default_factory=list)
    memory: list[float] = field(default_factory=list)
    elapsed: float = 0.0

    def percentile(self, share: float) -> float:
        """Latency that this share of the answers did not exceed."""
        return float(np.percentile(self.seconds, share)) if self.seconds else float("nan")


async def run_load(
    server: Server, pairs: Iterator[list[str]], *, clients: int, size: int, seconds: float
) -> Load:
    """Let clients ask one request after the other for some time."""
    load = Load()
    started = time.perf_counter()
    ends = started + seconds
    watch = asyncio.create_task(_watch(server, load))
    await asyncio.gather(*(_client(server.port, pairs, size, ends, load) for _ in range(clients)))
    load.elapsed = time.perf_counter() - started
    watch.cancel()
    return load


async def _watch(server: Server, load: Load) -> None:
    while True:
        load.memory.append(server.megabytes)
        await asyncio.sleep(1)


async def _client(
    port: int, pairs: Iterator[list[str]], size: int, ends: float, load: Load
) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    while time.perf_counter() < ends:
        body = json.dumps({"pairs": [next(pairs) for _ in range(size)]}).encode()
        started = time.perf_counter()
        try:
            status, wait = await _post(reader, writer, body)
        except (OSError, asyncio.IncompleteReadError):
            load.statuses[0] += 1
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            continue
        load.statuses[status] += 1
        if status == 429:
            await asyncio.sleep(min(wait, max(0.0, ends - time.perf_counter())))
        else:
            load.seconds.append(time.perf_counter() - started)
    writer.close()


async def _post(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, body: bytes
) -> tuple[int, float]:
    """Post a body; the status, and how long the server asks to wait."""
    writer.write(
        b"POST /v1/score HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        b"Content-Length: %d\r\n\r\n%s" % (len(body), body)
    )
    head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
    headers = dict(line.split(": ", 1) for line in head.split("\r\n")[1:] if ": " in line)
    await reader.readexactly(int(headers["content-length"]))
    return int(head.split(" ", 2)[1]), float(headers.get("retry-after", 0))


def short_pair(pairs: Iterator[list[str]]) -> dict[str, str]:
    """A new pair of ten words each, to compare."""
    source, target = (" ".join(text.split()[:10]) for text in next(pairs))
    return {"source": source, "target": target, "empty": "keep"}


def long_pair(pairs: Iterator[list[str]]) -> dict[str, str]:
    """A new pair of 150 words each, to explain."""
    words = (word for pair in pairs for text in pair for word in text.split() if word.isalpha())
    source, target = (" ".join(islice(words, LONG_WORDS)) for _ in "ab")
    return {"source": source, "target": target, "stopwords": "none"}


def short_latencies(
    port: int, pairs: Iterator[list[str]], *, count: int, until: Callable[[], bool]
) -> Load:
    """Single comparisons of new short sentences on one kept connection, one after the other."""
    load = Load()
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60) as client:
        while len(load.seconds) < count or not until():
            started = time.perf_counter()
            status = client.post("/v1/compare", json=short_pair(pairs)).status_code
            load.statuses[status] += 1
            load.seconds.append(time.perf_counter() - started)
    return load


def library_latency(pairs: Iterator[list[str]], count: int = 60) -> float:
    """Milliseconds of one comparison of new short sentences in this process, at the median."""
    scorer, found = movers.load(), []
    for _ in range(count):
        pair = short_pair(pairs)
        started = time.perf_counter()
        scorer.compare(pair["source"], pair["target"])
        found.append(time.perf_counter() - started)
    return 1e3 * float(np.median(found))


def beside_long(port: int, pairs: Iterator[list[str]]) -> tuple[Load, Load]:
    """Short comparisons while long explanations run: what became of both."""
    long, bodies = Load(), [long_pair(pairs) for _ in range(LONG)]

    def explain(body: dict[str, str]) -> None:
        started = time.perf_counter()
        answer = httpx.post(f"http://127.0.0.1:{port}/v1/explain", json=body, timeout=60)
        long.statuses[answer.status_code] += 1
        long.seconds.append(time.perf_counter() - started)

    with ThreadPoolExecutor(LONG) as pool:
        asked = [pool.submit(explain, body) for body in bodies]
        short = short_latencies(
            port, pairs, count=1, until=lambda: all(done.done() for done in asked)
        )
    return short, long


def pulse_among_silent(port: int, count: int = 50) -> list[float]:
    """Seconds of /healthz on new connections, among a thousand that say nothing."""
    found = []
    with ExitStack() as stack:
        for _ in range(SILENT):
            stack.enter_context(socket.create_connection(("127.0.0.1", port)))
        for _ in range(count):
            started = time.perf_counter()
            httpx.get(f"http://127.0.0.1:{port}/healthz").raise_for_status()
            found.append(time.perf_counter() - started)
    return found


def measure(seconds: float, clients: int, size: int) -> list[str]:
    """Run everything; lines of a readable report."""
    pairs = new_pairs(0)
    sample = [next(pairs) for _ in range(SAMPLE + 64)]
    before = library_rates(sample)
    alone = library_latency(pairs)
    server = Server()
    try:
        short_latencies(server.port, pairs, count=10, until=lambda: True)
        short = short_latencies(server.port, pairs, count=50, until=lambda: True)
        overtaking, long = beside_long(server.port, pairs)
        pulse = pulse_among_silent(server.port)
        used, own = server.processor_seconds, time.process_time()
        load = asyncio.run(run_load(server, pairs, clients=clients, size=size, seconds=seconds))
        used, own = server.processor_seconds - used, time.process_time() - own
        over = asyncio.run(
            run_load(server, pairs, clients=OVERLOAD_CLIENTS, size=size, seconds=OVERLOAD_SECONDS)
        )
        calm = server.megabytes
    finally:
        code = server.stop()
    after = library_rates(sample)
    library = (before + after) / 2
    answered = load.statuses[200] * size
    served = answered / np.array([load.elapsed, used])
    ratio, ratio_used = served / library
    settled = load.memory[int(SETTLING * len(load.memory)) :]
    return [
        "# A server under load",
        "",
        f"`make bench-serve` — {platform.machine()}, {os.cpu_count()} cores, "
        f"{psutil.virtual_memory().total / 2**30:.0f} GiB, Python {platform.python_version()}; "
        f"load average {os.getloadavg()[2]:.1f} over the run, the bench itself included.",
        "",
        f"{clients} clients on loopback for {load.elapsed:.0f} s, each posting {size} new pairs "
        f"to `/v1/score` as soon as the last answer is there; words and lengths of "
        f"{swapped_pairs(1)[0]}, embedded model, wsmd.",
        "",
        "| | |",
        "|---|---|",
        f"| answers | {_statuses(load)} |",
        f"| latency | p50 {load.percentile(50):.2f} s, p99 {load.percentile(99):.2f} s |",
        f"| server | {served[0]:.0f} pairs/s, {served[1]:.0f} per second of processor time |",
        f"| library, one batch of {SAMPLE} such pairs | {library[0]:.0f} pairs/s "
        f"({before[0]:.0f} before, {after[0]:.0f} after), {library[1]:.0f} per second of processor "
        "time |",
        f"| server to library | {ratio:.2f}, by processor time {ratio_used:.2f} |",
        f"| cores in use | server {used / load.elapsed:.2f}, clients {own / load.elapsed:.2f} |",
        f"| memory of the server | start {load.memory[0]:.0f} MB, after a tenth "
        f"{settled[0]:.0f} MB, middle {settled[len(settled) // 2]:.0f} MB, end "
        f"{settled[-1]:.0f} MB, highest {max(load.memory):.0f} MB |",
        f"| one short pair at a time on a kept connection | p50 {_ms(short, 50)}, "
        f"highest {_ms(short, 100)}; the library p50 {alone:.0f} ms |",
        f"| the same while {LONG} explanations of {LONG_WORDS} words run | p50 "
        f"{_ms(overtaking, 50)}, p99 {_ms(overtaking, 99)}; {_statuses(overtaking)} (the long: "
        f"{_statuses(long)}, the last after {max(long.seconds):.1f} s) |",
        f"| /healthz among {SILENT} silent connections | p50 {1e3 * np.median(pulse):.0f} ms, "
        f"highest {1e3 * max(pulse):.0f} ms |",
        "",
        f"Overload on purpose: {OVERLOAD_CLIENTS} clients for {over.elapsed:.0f} s (the queue "
        f"takes {Limits().queue} pairs): {_statuses(over)}; p99 of those answered "
        f"{over.percentile(99):.1f} s; memory at most {max(over.memory):.0f} MB, then "
        f"{calm:.0f} MB. Exit code after SIGTERM: {code}.",
    ]


def _ms(load: Load, share: float) -> str:
    return f"{1e3 * load.percentile(share):.0f} ms"


def _statuses(load: Load) -> str:
    names = {0: "connections broken", 200: "answered", 429: "turned away with 429"}
    return ", ".join(
        f"{count} {names.get(status, f'status {status}')}"
        for status, count in sorted(load.statuses.items())
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--pairs", type=int, default=16)
    parser.add_argument("--report", type=Path, help="also write the report to this file")
    chosen = parser.parse_args()
    text = "\n".join(measure(chosen.seconds, chosen.clients, chosen.pairs))
    print(text)
    if chosen.report:
        chosen.report.write_text(text + "\n", "utf-8")
