"""A server and an index under mixed use for half an hour, every answer checked.

    python bench/soak.py [--minutes 30] [--report FILE]

Starts `movers serve` on loopback. Clients ask short and long questions of all kinds; others leave
in the middle of a request or before its answer. Meanwhile processes add to an index, many of which
are killed, and it is searched all the while, in this process and over HTTP. Every answer that is no
refusal is compared with what the library says, every search with an exact ranking of what the index
held in the state that answered. Memory and open files
are watched: after the first third of a run of 20 minutes or more they may not grow. Ends by itself,
with 1 if anything was wrong.
"""

import argparse
import json
import math
import os
import platform
import queue
import random
import re
import signal
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import psutil
from sentences import swapped_pairs

import movers
from movers.scorer import Scorer

CLIENTS = 5
LARGEST = 300
"""Sentences of an index, after which a new one is begun."""
TOLERANCE, ROUNDED = 1e-5, 2e-3
"""How far numbers may be apart, and those that are sent with four digits."""
ENDING = 90
"""Seconds that the server may take to answer what it accepted, and end."""
GROWTH = 1.1
"""How many times the memory of the middle third the last may have at the median."""
NOUNS = ["doctor", "harbour", "painter", "village", "museum", "sailor", "storm", "election"]
MORE_FILES = 8
WARM = 20 * 60 - 30
"""Seconds of a run of which the first third is enough to fill what the server keeps."""
FOREIGN = "ភាសាខ្មែរ ពិរោះ"
"""Words that the model does not know, of which the library warns with a quotation."""
ADDING = """
import sys
import movers
index = movers.Index.open(sys.argv[1])
print("ready", flush=True)
added = index.add(open(sys.argv[2], encoding="utf-8").read().splitlines())
print("added", added, flush=True)
"""

Body = dict[str, Any]


class Texts:
    """Sentences of real words, most of them never seen before."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.real = [text for pair in swapped_pairs(2000)[1] for text in pair]
        self.words = [word for text in self.real for word in text.split() if word.isalpha()]

    def sentence(self, words: int) -> str:
        """A new sentence of so many words, one of them no stop word."""
        return " ".join([*self.rng.choices(self.words, k=words - 1), self.rng.choice(NOUNS)])

    def any(self) -> str:
        """A short sentence, new or real."""
        short = self.sentence(self.rng.randint(3, 30))
        return self.rng.choice([short, short, self.rng.choice(self.real)])

    def long(self) -> str:
        """A sentence that takes its time."""
        return self.sentence(self.rng.randint(60, 120))

    def text(self) -> str:
        """A text of more sentences than the model reads."""
        return " ".join(f"{self.any().capitalize()}." for _ in range(self.rng.randint(40, 120)))


@dataclass(frozen=True)
class Question:
    """A kind of request: its body, and what the library says to it and the answer should."""

    path: str
    body: Callable[[Texts], Body]
    expected: Callable[[Scorer, Body], Any]
    answered: Callable[[Body], Any] = lambda answer: answer
    tolerance: float = TOLERANCE


def pair(texts: Texts, **more: Any) -> Body:
    """Two short sentences."""
    return {"source": texts.any(), "target": texts.any(), **more}


def long_pair(texts: Texts, **more: Any) -> Body:
    """Two long sentences of which every word counts."""
    return {"source": texts.long(), "target": texts.long(), "stopwords": "none", **more}


def scores(texts: Texts, count: int, *methods: str) -> Body:
    """Several pairs."""
    return {"pairs": [[texts.any(), texts.any()] for _ in range(count)], "methods": [*methods]}


def asked(library: Scorer, body: Body) -> tuple[Scorer, list[str]]:
    """The scorer that a body asks for, and its sentences."""
    chosen = {"stopwords": None} if body.get("stopwords") == "none" else {}
    texts = [body[name] for name in ("source", "target", "other") if name in body]
    return library.using(body.get("method", "movers"), **chosen), texts


def compared(library: Scorer, body: Body) -> Any:
    """What /v1/compare is to say."""
    scorer, texts = asked(library, body)
    return scorer.compare(*texts).to_dict()


def explained(library: Scorer, body: Body) -> Any:
    """What /v1/explain is to say, but for the plans, of which there may be several as good."""
    scorer, texts = asked(library, body)
    return told(scorer.explain(*texts).to_dict())


def told(answer: Body) -> Any:
    """Numbers of an explanation."""
    structure = answer["structure"]
    heads = [[head["layer"], head["head"], head["value"]] for head in structure["heads"]]
    return [structure["distance"], answer["similarity"], answer["cost"], heads]


def curved(library: Scorer, body: Body) -> Any:
    """What /v1/curve is to say."""
    scorer, texts = asked(library, body)
    return bent(scorer.curve(*texts, steps=body["steps"]))


def bent(answer: Body) -> Any:
    """Numbers of a curve."""
    return [answer[name] for name in ("mixes", "distances", "linear", "structural")]


def scored(library: Scorer, body: Body) -> Any:
    """What /v1/score is to say."""
    found = {}
    for method in body["methods"]:
        distances = library.using(method).distances([tuple(pair) for pair in body["pairs"]])
        found[method] = [value if math.isfinite(value) else None for value in distances]
    return found


def ranked(library: Scorer, body: Body) -> Any:
    """What /v1/rank is to say."""
    return [[m.index, m.distance] for m in library.rank(body["query"], body["candidates"])]


def contrasted(library: Scorer, body: Body) -> Any:
    """What /v1/contrast is to say."""
    scorer, texts = asked(library, body)
    found = scorer.contrast(*texts).to_dict()
    return [found["verdict"], told(found["first"]), told(found["second"])]


SHORT = {
    "compare": Question("/v1/compare", pair, compared),
    "score": Question(
        "/v1/score",
        lambda texts: scores(texts, texts.rng.randint(1, 6), "movers", "wmd"),
        scored,
        lambda answer: {name: found["distances"] for name, found in answer["methods"].items()},
    ),
    "rank": Question(
        "/v1/rank",
        lambda texts: {"query": texts.any(), "candidates": [texts.any() for _ in range(8)]},
        ranked,
        lambda answer: [[match["index"], match["distance"]] for match in answer["matches"]],
    ),
    "foreign": Question(
        "/v1/compare",
        lambda texts: pair(texts) | {"source": f"{FOREIGN} {texts.rng.random()}"},
        compared,
    ),
}
LONG = {
    "score 60": Question(
        "/v1/score",
        lambda texts: scores(texts, 60, texts.rng.choice(["wsmd", "movers"])),
        scored,
        SHORT["score"].answered,
    ),
    "explain": Question("/v1/explain", pair, explained, told, ROUNDED),
    "explain long": Question(
        "/v1/explain", lambda texts: long_pair(texts, attention=False), explained, told, ROUNDED
    ),
    "texts": Question(
        "/v1/compare", lambda texts: {"source": texts.text(), "target": texts.text()}, compared
    ),
    "contrast": Question(
        "/v1/contrast",
        lambda texts: pair(texts, other=texts.any()),
        contrasted,
        lambda found: [found["verdict"], told(found["first"]), told(found["second"])],
        ROUNDED,
    ),
    "curve": Question(
        "/v1/curve", lambda texts: pair(texts, method="wsmd", steps=11), curved, bent
    ),
    "curve long": Question(
        "/v1/curve", lambda texts: long_pair(texts, method="wsmd", steps=5), curved, bent
    ),
}
BROKEN = {
    "no JSON": ("/v1/compare", b"{bad", 400),
    "no such model": ("/v1/compare", b'{"source":"a","target":"b","model":"x"}', 404),
    "no such field": ("/v1/score", b'{"pairs":[["a","b"]],"colour":"red"}', 422),
}
REFUSALS = (429, 504)


def difference(found: Any, expected: Any, tolerance: float = TOLERANCE) -> str:
    """Where two plain values differ by more than a tolerance; empty if they do not."""
    if isinstance(found, dict) and isinstance(expected, dict) and found.keys() == expected.keys():
        parts = ((f".{name}", found[name], expected[name]) for name in found)
    elif isinstance(found, list | tuple) and isinstance(expected, list | tuple):
        if len(found) != len(expected):
            return f": {len(found)} items, not {len(expected)}"
        parts = ((f"[{k}]", a, b) for k, (a, b) in enumerate(zip(found, expected, strict=True)))
    elif isinstance(found, float | int) and isinstance(expected, float | int):
        same = math.isclose(found, expected, rel_tol=tolerance, abs_tol=tolerance / 100)
        return "" if same else f": {found}, not {expected}"
    else:
        return "" if found == expected else f": {str(found)[:80]!r}, not {str(expected)[:80]!r}"
    within = ((place, difference(a, b, tolerance)) for place, a, b in parts)
    return next((place + found for place, found in within if found), "")


@dataclass
class Record:
    """What was seen, and what was wrong with it; several threads write."""

    statuses: Counter[tuple[str, int]] = field(default_factory=Counter)
    counts: Counter[str] = field(default_factory=Counter)
    seconds: dict[str, list[float]] = field(default_factory=dict)
    watched: list[tuple[float, float, int, int]] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    states: dict[str, list[str]] = field(default_factory=dict)
    over: threading.Event = field(default_factory=threading.Event)

    def fault(self, what: str) -> None:
        """Note what was wrong, and tell at once."""
        self.faults.append(what)
        print(f"FAULT: {what}", file=sys.stderr, flush=True)


def served(log: Path, folder: Path) -> tuple[subprocess.Popen[str], int]:
    """Start `movers serve`, and wait until it takes requests; the process, and its port."""
    with log.open("w") as written:
        command = [sys.executable, "-m", "movers", "serve", "--port", "0"]
        command += ["--index", f"soak={folder}"]
        process = subprocess.Popen(command, stderr=written, text=True)
    while process.poll() is None:
        if found := re.search(r"serving on \S+:(\d+)", log.read_text("utf-8")):
            return process, int(found[1])
        time.sleep(0.2)
    raise RuntimeError(log.read_text("utf-8"))


def ask(record: Record, port: int, number: int, answers: "queue.Queue[Any]") -> None:
    """Be a client: ask one question after the other, wait when told to."""
    texts = Texts(number)
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=90) as client:
        while not record.over.is_set():
            kinds = SHORT if number % 2 else LONG
            name = texts.rng.choice(list(kinds))
            body = kinds[name].body(texts)
            started = time.monotonic()
            answer = client.post(kinds[name].path, json=body)
            record.statuses[name, answer.status_code] += 1
            if answer.status_code == 200:
                record.seconds.setdefault(name, []).append(time.monotonic() - started)
                answers.put((name, kinds[name], body, answer.json()))
            elif answer.status_code not in REFUSALS:
                record.fault(f"{name} was answered {answer.status_code}: {answer.text[:200]}")
            record.over.wait(float(answer.headers.get("Retry-After", texts.rng.random() / 2)))


def ask_wrongly(record: Record, port: int) -> None:
    """Send what must be refused, now and then."""
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=90) as client:
        while not record.over.wait(3):
            for name, (path, body, status) in BROKEN.items():
                headers = {"Content-Type": "application/json"}
                answer = client.post(path, content=body, headers=headers)
                record.statuses[name, answer.status_code] += 1
                if answer.status_code != status:
                    record.fault(f"{name} was answered {answer.status_code}, not {status}")


def check(record: Record, answers: "queue.Queue[Any]") -> None:
    """Compare answers with the library until there are no more."""
    library = movers.load(threads=1)
    while (given := answers.get()) is not None:
        name, question, body, answer = given
        record.counts["answers checked"] += 1
        expected = question.expected(library, body)
        if where := difference(question.answered(answer), expected, question.tolerance):
            record.fault(f"{name} differs from the library{where}, for {json.dumps(body)[:300]}")
        if library.kept_bytes > 1 << 28:
            library.forget()


def vanish(record: Record, port: int) -> None:
    """Begin requests and leave: in the headers, in the body, before the answer, within it."""
    texts = Texts(1000)
    while not record.over.is_set():
        rng = texts.rng
        path, body = rng.choice(
            [
                ("curve", {**long_pair(texts), "steps": 51}),
                ("explain", long_pair(texts)),
                ("score", scores(texts, 150, "wsmd")),
                ("compare", pair(texts)),
                ("compare", {"source": texts.text() * 9, "target": texts.text() * 9}),
            ]
        )
        data = json.dumps(body).encode()
        head = f"POST /v1/{path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        request = head.encode() + b"Content-Length: %d\r\n\r\n" % len(data) + data
        with socket.create_connection(("127.0.0.1", port), timeout=10) as raw:
            if rng.random() < 0.5:  # leave with a reset
                raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            raw.sendall(request[: rng.choice([40, len(request) - 10, *[len(request)] * 4])])
            record.over.wait(2 * rng.random())
        record.counts["clients gone"] += 1
        record.over.wait(rng.random())


def begin_index(record: Record, folder: Path, texts: Texts, scorer: Scorer) -> list[str]:
    """Begin a new index, in the place of the last; the sentences it has."""
    known = list(dict.fromkeys(texts.any() for _ in range(20)))
    index = movers.Index.build(scorer, known, folder, replace=True)
    record.states[index.state] = [*known]
    return known


def keep_index(record: Record, place: Path) -> None:
    """Add to an index in processes of their own, kill many, and look what is there."""
    texts, folder = Texts(2000), place / "index"
    scorer = movers.load(threads=1)
    seconds = [3.0]
    while not record.over.is_set():
        known = begin_index(record, folder, texts, scorer)
        searching = Searching(record, folder, known)
        searching.start()
        while not record.over.is_set() and len(known) < LARGEST:
            batch = [f"{texts.any()} {len(known) + k}" for k in range(texts.rng.randint(5, 40))]
            delay = 1.5 * statistics.median(seconds[-9:]) * texts.rng.random()
            doomed = texts.rng.random() < 0.6
            took = add(folder, batch, place / "batch.txt", delay if doomed else None)
            record.counts["additions" if took else "additions killed"] += 1
            seconds += [took] if took else []
            index = movers.Index.open(folder, scorer=scorer, verify=True)
            held = record.states[index.state] = index.sentences
            if held == known + batch:
                record.counts["killed after the end"] += took is None
                known += batch
            elif took is not None or held != known:
                record.fault(f"an index of {len(known)} and {len(batch)} has {len(held)}")
                return
        searching.stop()


def search_served(record: Record, port: int) -> None:
    """Search over HTTP, and compare with the exact ranking in the state that answered."""
    texts, scorer = Texts(4000), movers.load(threads=1)
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=90) as client:
        while not record.over.wait(texts.rng.random()):
            query = texts.any()
            started = time.monotonic()
            reply = client.post("/v1/search", json={"query": query, "top_k": 5})
            record.statuses["search", reply.status_code] += 1
            if reply.status_code in REFUSALS:
                record.over.wait(float(reply.headers.get("Retry-After", 1)))
                continue
            if reply.status_code != 200:
                record.fault(f"a search was answered {reply.status_code}: {reply.text[:200]}")
                continue
            record.seconds.setdefault("search", []).append(time.monotonic() - started)
            answer = reply.json()
            while answer["state"] not in record.states and not record.over.is_set():
                time.sleep(0.1)  # until who added has looked
            if (held := record.states.get(answer["state"])) is None:
                continue
            found = [[match["text"], match["distance"]] for match in answer["matches"]]
            best = [[match.text, match.distance] for match in scorer.rank(query, held, top_k=5)]
            record.counts["searches over HTTP checked"] += 1
            if where := difference(found, best) or answer["sentences"] != len(held):
                record.fault(f"a search over HTTP for {query!r} differs: {where}")
            if scorer.kept_bytes > 1 << 28:
                scorer.forget()


def add(folder: Path, batch: list[str], file: Path, delay: float | None) -> float | None:
    """Add sentences in a process of its own; the seconds it took, None if it was killed."""
    file.write_text("\n".join(batch), "utf-8")
    command = [sys.executable, "-c", ADDING, str(folder), str(file)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        started = time.monotonic()
        if delay is not None:
            try:
                process.wait(delay)
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL)
                process.wait()
        finished = f"added {len(batch)}\n" in process.stdout.read()
    return time.monotonic() - started if finished else None


class Searching(threading.Thread):
    """Searches an index while it changes; ``known`` grows with what it is known to hold."""

    def __init__(self, record: Record, folder: Path, known: list[str]) -> None:
        super().__init__(daemon=True)
        self.record, self.folder, self.known = record, folder, known
        self.ended = threading.Event()

    def stop(self) -> None:
        """End after the search under way."""
        self.ended.set()
        self.join()

    def run(self) -> None:
        """Search until told to stop; an error is a fault."""
        try:
            self.search()
        except Exception as error:
            self.record.fault(f"a search ended with {error!r}")

    def search(self) -> None:
        """Search, and compare with the exact ranking."""
        texts = Texts(3000)
        scorer = movers.load(threads=1)
        index = movers.Index.open(self.folder, scorer=scorer)
        while not self.ended.wait(0.5 + texts.rng.random()):
            certain = list(self.known)
            query = texts.any()
            found = [[match.text, match.distance] for match in index.search(query, 5)]
            held = index.sentences
            if held[: len(certain)] != certain:
                self.record.fault(f"a search saw {len(held)} sentences, not the {len(certain)}")
            best = [[match.text, match.distance] for match in scorer.rank(query, held, top_k=5)]
            self.record.counts["searches checked"] += 1
            if where := difference(found, best):
                self.record.fault(f"a search for {query!r} differs{where}")


def watch(record: Record, process: psutil.Process) -> None:
    """Note memory and files of the server, and files of this process, every few seconds."""
    started = time.monotonic()
    own = psutil.Process()
    while not record.over.wait(5):
        megabytes = process.memory_info().rss / 1e6
        record.watched.append(
            (time.monotonic() - started, megabytes, process.num_fds(), own.num_fds())
        )


@contextmanager
def threads(record: Record, *works: Callable[[], None]) -> Iterator[None]:
    """Run works beside a block, and end them with it; an error in one is a fault."""

    def run(work: Callable[[], None]) -> None:
        try:
            work()
        except Exception as error:
            record.fault(f"{work} ended with {error!r}")

    running = [threading.Thread(target=run, args=[work]) for work in works]
    for thread in running:
        thread.start()
    try:
        yield
    finally:
        record.over.set()
        for thread in running:
            thread.join()


def thirds(values: list[float]) -> list[float]:
    """The median of the first, middle and last third."""
    size = max(1, len(values) // 3)
    return [
        statistics.median(values[low : low + size] or [math.nan]) for low in (0, size, 2 * size)
    ]


def soak(minutes: float, place: Path) -> tuple[Record, float]:
    """Run everything for some minutes; what was seen, and the mean load of the machine."""
    record, loads = Record(), [os.getloadavg()[0]]
    answers: queue.Queue[Any] = queue.Queue(maxsize=20)
    log = place / "server.log"
    begin_index(record, place / "index", Texts(1999), movers.load(threads=1))
    process, port = served(log, place / "index")
    try:
        checker = threading.Thread(target=check, args=[record, answers])
        checker.start()
        works = [
            *(lambda k=k: ask(record, port, k, answers) for k in range(CLIENTS)),
            lambda: ask_wrongly(record, port),
            lambda: vanish(record, port),
            lambda: keep_index(record, place),
            lambda: search_served(record, port),
            lambda: watch(record, psutil.Process(process.pid)),
        ]
        with threads(record, *works):
            ends = time.monotonic() + 60 * minutes
            while time.monotonic() < ends and process.poll() is None:
                time.sleep(5)
                loads.append(os.getloadavg()[0])
        answers.put(None)
        checker.join()
        judge(record, process, log)
    finally:
        process.kill()
    return record, statistics.mean(loads)


def judge(record: Record, process: "subprocess.Popen[str]", log: Path) -> None:
    """Stop the server, and look at what it used and wrote."""
    process.terminate()
    try:
        if (code := process.wait(ENDING)) != 0:
            record.fault(f"the server ended with {code}")
    except subprocess.TimeoutExpired:
        record.fault(f"the server had not ended {ENDING} s after it was told to")
    text = log.read_text("utf-8")
    if "Traceback" in text or not text.isascii():
        record.fault(f"the log has a traceback, or a sentence of a client: {text[-2000:]}")
    _, memory, files, own = (thirds(list(column)) for column in zip(*record.watched, strict=True))
    if record.watched[-1][0] > WARM and memory[2] > GROWTH * memory[1]:
        record.fault(f"memory grew from {memory[1]:.0f} to {memory[2]:.0f} MB")
    for whose, counts in (("the server", files), ("the index", own)):
        if counts[2] > counts[1] + MORE_FILES:
            record.fault(f"open files of {whose} grew from {counts[1]:.0f} to {counts[2]:.0f}")
    for name in LONG:
        if not record.statuses[name, 200]:
            record.fault(f"no {name} was answered")


def written(record: Record, minutes: float, load: float) -> str:
    """The report."""
    memory = psutil.virtual_memory().total / 2**30
    machine = f"{platform.machine()}, {os.cpu_count()} cores, {memory:.0f} GiB"
    command = "make soak" if minutes == 30 else f"make soak MINUTES={minutes:g}"
    rows = []
    for name in (*SHORT, *LONG, "search", *BROKEN):
        statuses = {code: n for (kind, code), n in sorted(record.statuses.items()) if kind == name}
        took = sorted(record.seconds.get(name, [math.nan]))
        times = (
            f"{statistics.median(took):.2f} s, {took[-1]:.1f} s" if name in record.seconds else ""
        )
        seen = ", ".join(f"{count} × {code}" for code, count in statuses.items())
        rows.append(f"| {name} | {seen} | {times} |")
    _, megabytes, files, own = (
        thirds(list(column)) for column in zip(*record.watched, strict=True)
    )
    counts = "\n".join(f"| {name} | {count} |" for name, count in sorted(record.counts.items()))
    verdict = "; ".join(record.faults) if record.faults else "nothing was wrong"
    return f"""# A server and an index in use for {minutes:g} minutes

`{command}` — {machine}, Python {platform.python_version()}; load average {load:.1f} over the run,
its own clients, checks and index processes included.

{CLIENTS} clients with questions of all kinds and one that sends nonsense, clients that leave in the
middle, and an index that is added to by processes of which many are killed (SIGKILL), searched all
the while here and over HTTP. Every answer was compared with the library (to {TOLERANCE:g}), every
search with the exact ranking of what the index held in the state that answered; refusals (429, 504)
are told below. Result: {verdict}.

| question | answers | median, longest |
|---|---|---|
{chr(10).join(rows)}

| | |
|---|---|
{counts}
| memory of the server, median of the first, middle and last third | {shown(megabytes)} MB |
| its open files | {shown(files)} |
| open files of the process that searches | {shown(own)} |
"""


def shown(values: list[float]) -> str:
    """Numbers side by side."""
    return ", ".join(f"{value:.0f}" for value in values)


def main() -> int:
    """Run the soak and write the report; 1 if anything was wrong."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--report", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        record, load = soak(options.minutes, Path(place))
    report = written(record, options.minutes, load)
    print(report)
    if options.report is not None:
        options.report.write_text(report, "utf-8")
    return 1 if record.faults else 0


if __name__ == "__main__":
    sys.exit(main())
