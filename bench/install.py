"""What an installation weighs, and how soon it answers, each in a process of its own.

    python3 -m venv fresh && PIP_CONSTRAINT=constraints.txt fresh/bin/pip install .
    fresh/bin/python bench/install.py [--runs 5]

Sizes are those of files in blocks of 4 kB, as `du` has them, without pip and setuptools, which come
with an environment. The first command ever starts with an empty cache; medians over runs.
"""

import argparse
import math
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from importlib.metadata import distributions
from pathlib import Path
from statistics import median

BLOCK = 4096
TELL = 3.0
"""Megabytes from which a package is told by name."""
TOOLS = ("pip", "setuptools")
PAIR = ("the press greets the president", "the president greets the press")
COMPARE = ("-m", "movers", "compare", *PAIR)
DISTANCE = f"import movers; movers.distance(*{PAIR!r})"
STARTS: dict[str, tuple[str, ...]] = {
    "first `movers compare`": COMPARE,
    "every later one": COMPARE,
    "`movers.distance` in Python": ("-c", DISTANCE),
    "`movers --help`": ("-m", "movers", "--help"),
    "`movers methods`": ("-m", "movers", "methods"),
    "`movers doctor --quick`": ("-m", "movers", "doctor", "--quick"),
}


def sizes() -> Iterator[tuple[str, float, float]]:
    """Every package that is installed with its megabytes, and how many of them are byte code."""
    for package in distributions():
        if (name := re.sub("[-_.]+", "-", package.name).lower()) not in TOOLS:
            files = [Path(str(package.locate_file(file))) for file in package.files or ()]
            blocks = {file: _megabytes(file) for file in files if file.is_file()}
            code = sum(size for file, size in blocks.items() if file.suffix == ".pyc")
            yield name, sum(blocks.values()), code


def _megabytes(file: Path) -> float:
    return math.ceil(file.stat().st_size / BLOCK) * BLOCK / 2**20


def start(arguments: tuple[str, ...], cache: str) -> tuple[float, float, float]:
    """Wall and processor time of a process, and the megabytes that it took at most."""
    environment = {**os.environ, "MOVERS_CACHE": cache}
    for name in ("PYTHONPATH", "PYTHONDONTWRITEBYTECODE"):  # what is installed, byte-compiled
        environment.pop(name, None)
    started = time.perf_counter()
    with subprocess.Popen(
        [sys.executable, *arguments], env=environment, cwd=cache, stdout=subprocess.DEVNULL
    ) as process:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    taken = time.perf_counter() - started
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, arguments)
    return taken, used.ru_utime + used.ru_stime, _peak(used)


def _peak(used: resource.struct_rusage) -> float:
    return used.ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)


def main(runs: int) -> None:
    found = sorted(sizes(), key=lambda one: -one[1])
    small = [one for one in found if one[1] < TELL]
    rest = (f"{len(small)} others", sum(one[1] for one in small), sum(one[2] for one in small))
    whole = ("all", sum(one[1] for one in found), sum(one[2] for one in found))
    print("| package | MB | of them byte code |\n|---|---|---|")
    for name, size, code in (*found[: len(found) - len(small)], rest, whole):
        print(f"| {name} | {size:.0f} | {code:.0f} |")
    told: dict[str, list[tuple[float, float, float]]] = {name: [] for name in STARTS}
    for _ in range(runs):
        with tempfile.TemporaryDirectory() as cache:
            for name, arguments in STARTS.items():
                told[name].append(start(arguments, cache))
    print("\n| start | wall time | processor time | memory |\n|---|---|---|---|")
    for name, several in told.items():
        wall, processor, peak = (median(column) for column in zip(*several, strict=True))
        print(f"| {name} | {wall:.2f} s | {processor:.2f} s | {peak:.0f} MB |")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=5)
    main(**vars(parser.parse_args()))
