"""Print the files and functions that a first call of `distances` and of a search passes.

    python scripts/trace_road.py [--functions]

The model is loaded; nothing else is: encodings, calibration and compiled kernels come on the way.
"""

import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import movers

PACKAGE = Path(movers.__file__).parent
PAIR = ("a dog chases a cat", "a cat chases a dog")
CORPUS = [*PAIR, "it rains in the mountains", "a hound runs after a kitten"]


def distances() -> Callable[[], object]:
    """A first call of `Scorer.distances`."""
    scorer = movers.load()
    scorer.encoder  # noqa: B018, loads the model
    return lambda: scorer.distances([PAIR])


def search() -> Callable[[], object]:
    """A first search in an index of another scorer."""
    index = movers.Index.build(movers.load(), CORPUS)
    index.scorer.forget()
    return lambda: index.search(PAIR[0], top_k=2)


ROADS = {"distances": distances, "search": search}


def trace(call: Callable[[], object]) -> dict[Path, list[str]]:
    """Functions of the package that a call passes, by file, in the order of their first calls."""
    seen: dict[Path, dict[str, None]] = {}

    def watch(frame: FrameType, event: str, argument: object) -> None:
        place, name = Path(frame.f_code.co_filename), frame.f_code.co_qualname
        if event == "call" and PACKAGE in place.parents and not name.endswith(">"):
            seen.setdefault(place.relative_to(PACKAGE), {})[name] = None

    threading.setprofile(watch)
    sys.setprofile(watch)
    try:
        call()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return {place: list(names) for place, names in seen.items()}


def main(road: str, *, functions: bool) -> None:
    """Print one road."""
    seen = trace(ROADS[road]())
    print(f"{road}: {len(seen)} files, {sum(map(len, seen.values()))} functions")
    for place, names in seen.items():
        print(
            f"  {place} {len(names)}",
            *([f"    {name}" for name in names] if functions else []),
            sep="\n",
        )


if __name__ == "__main__":
    chosen = [name for name in sys.argv[1:] if name in ROADS]
    if chosen:
        main(chosen[0], functions="--functions" in sys.argv)
    else:  # each in a process of its own, so that both are cold
        for name in ROADS:
            subprocess.run([sys.executable, __file__, name, *sys.argv[1:]], check=True)
