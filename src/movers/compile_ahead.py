"""Compile every kernel ahead of the first use, into shared libraries: what a build runs.

python -m movers.compile_ahead FOLDER [--host]

makes one per kind of processor, or with ``--host`` one for this processor alone. It needs numba,
and a C compiler to link. Libraries of the same sources that lie there already stay, and so do a few
of others.
"""

from __future__ import annotations

import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from movers.arrays import Floats, Ints, Ragged
from movers.encode.kernels import pool_attention, product
from movers.errors import DependencyError
from movers.measures.parts import kernels
from movers.measures.parts.costs import COSTS, norms_of, pair_costs
from movers.runtime import compiling
from movers.runtime.atomic import replacing
from movers.runtime.compiling import Code, Kernel, Kinds, symbol
from movers.runtime.threads import available_threads
from movers.search.vector_kernels import halves_products, integer_products
from movers.solve.batch import Problems, broken_batch, emd_batch, fgw_batch, price_batch
from movers.solve.bounds import word_bounds

LONGEST = ("partial structure", "structure", "bounds", "costs")
"""Steps to begin with, so that no process is left with much in the end."""
KEPT = 4
"""Libraries of other sources that stay: those made last."""
WORDS = 2
"""Of either sentence in the pair that everything is tried with."""
ROWS: Ints = np.array([[0, 1]])
WORD_VECTORS = Ragged(np.ones((2 * WORDS, 1), np.float32), np.array([0, WORDS, 2 * WORDS]))


def _problems() -> Problems:
    weights = Ragged.from_rows([np.ones(WORDS)] * 2)
    costs = Ragged.from_rows([np.ones(WORDS * WORDS)])
    structure = Ragged.from_rows([np.zeros(WORDS * WORDS, np.float32)] * 2)
    return Problems.between(weights, ROWS, costs, structure, np.ones((1, 1)))


def _costs() -> None:
    for kind in COSTS:
        pair_costs(kind, WORD_VECTORS, norms_of(WORD_VECTORS), *ROWS.T, threads=1)


def _cutting() -> None:
    one, room = np.zeros(1, np.int64), np.ones((1, 1))
    words = np.array([0, 1]), np.array([[0, 1]]), 1
    matrices = np.ones((1, 1, 1, 1), np.float32)
    kept = one, matrices.ravel(), room, room
    pool_attention(
        matrices, np.ones((1, 1), bool), one, one, words, kept, True, np.ones(1, np.float32)
    )


def _pooling() -> None:
    words, picked = WORD_VECTORS, np.arange(2)
    kernels.pool(words.data, np.ones(2 * WORDS), words.starts, picked, np.zeros((2, 1)))


def _matching() -> None:
    words, places = WORD_VECTORS, np.zeros(2, np.int64)
    room = np.zeros(2 * WORDS), np.zeros(2 * WORDS), np.zeros(2 * WORDS, np.int64)
    scale: Floats = np.ones(2 * WORDS)
    kernels.match(0, 1, words.data, scale, words.starts, ROWS, places, places, *room)


def _bounds() -> None:
    single = np.full(WORDS, 1 / WORDS, np.float32)
    cost, starts = np.ones((WORDS, WORDS), np.float32), np.array([0, WORDS])
    word_bounds(cost, starts, single, single)


def _scanning() -> None:
    query, out = np.ones(1, np.float32), np.zeros(1, np.float32)
    halves, integers = np.ones((1, 1), np.int16), np.ones((1, 1), np.int8)
    for _ in ("in memory", "mapped from a file"):
        halves_products(halves, query, out)
        integer_products(integers, query, out)
        halves.flags.writeable = integers.flags.writeable = False


STEPS: dict[str, Callable[[], object]] = {
    "attention": _cutting,
    "costs": _costs,
    "partial transport": lambda: emd_batch(_problems(), null=1.0, threads=1),
    "broken relations": lambda: broken_batch(_problems(), np.ones(WORDS * WORDS), threads=1),
    "prices": lambda: price_batch(_problems(), np.ones(WORDS * WORDS), threads=1),
    "transport": lambda: emd_batch(_problems(), threads=1),
    "whitening": lambda: product(np.ones((1, 1)), np.ones((1, 1)), 1),
    "structure": lambda: fgw_batch(_problems(), mix=0.5, threads=1),
    "bounds": _bounds,
    "partial structure": lambda: fgw_batch(_problems(), mix=0.5, null=1.0, threads=1),
    "pooling": _pooling,
    "matching": _matching,
    "scanning": _scanning,
}
"""What there is to compile; the default measure needs the first four."""


def warm_up() -> Iterator[str]:
    """Compile, or load, every kernel; yields the name of each step before it is taken."""
    for name, step in STEPS.items():
        yield name
        step()


def build(folder: Path, kinds: tuple[str, ...]) -> list[Path]:
    """Compile every kernel for some kinds of processors, and link a library for each."""
    paths = {kind: folder / compiling.library_name(kind) for kind in kinds}
    if all(path.is_file() for path in paths.values()):
        return [*paths.values()]
    if compiling.find_linker() is None:
        raise DependencyError(
            "kernels are linked by a C compiler, and there is none (cc, gcc, clang)"
        )
    steps = sorted(STEPS, key=lambda name: (name not in LONGEST, name))
    workers = min(available_threads(), len(steps))
    objects: dict[str, dict[str, bytes]] = {kind: {} for kind in kinds}
    with ProcessPoolExecutor(workers, get_context("spawn")) as pool:
        for made in pool.map(compile_step, steps, [kinds] * len(steps)):
            for kind, functions in made.items():
                objects[kind].update(functions)
    for kind, path in paths.items():
        with replacing(path, closed=True) as draft:
            link(objects[kind], draft)
            with replacing(compiling.checksum_file(path), closed=True) as file:
                file.write_bytes(compiling.checksum(draft))
    others = [path for path in folder.glob("kernels-*") if path not in paths.values()]
    for old in sorted(others, key=lambda path: path.stat().st_mtime)[:-KEPT]:
        with suppress(OSError):  # a process has it open
            old.unlink()
            compiling.checksum_file(old).unlink(missing_ok=True)
    return [*paths.values()]


def compile_step(name: str, kinds: tuple[str, ...]) -> dict[str, dict[str, bytes]]:
    """Return the object files that a step of `STEPS` needs, by processor and function.

    Kernels are compiled when they are called, and do nothing.
    """
    from movers.runtime.machine_code import compile_object  # loads numba

    made: dict[str, dict[str, bytes]] = {kind: {} for kind in kinds}

    def make(entry: Kernel, types: Kinds, arguments: tuple[Any, ...]) -> Code:
        function = symbol(entry.name, types)
        for kind in kinds:
            made[kind][function] = compile_object(entry, arguments, function, kind)
        entry.calls[types] = lambda words: 0
        return entry.calls[types]

    Kernel.find = make  # type: ignore[method-assign, assignment]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # nothing is solved
        STEPS[name]()
    return made


def link(objects: dict[str, bytes], path: Path) -> None:
    """Link object files into a shared library."""
    with TemporaryDirectory() as folder:
        files = []
        for function, code in objects.items():
            files.append(Path(folder, f"{function}.o"))
            files[-1].write_bytes(code)
        shown = {"darwin": ["-Wl,-undefined,dynamic_lookup"]}.get(sys.platform, ["-lm"])
        command = [str(compiling.find_linker()), "-shared", "-o", str(path)]
        subprocess.run([*command, *map(str, files), *shown], check=True)


if __name__ == "__main__":
    wanted = (compiling.best_level(),) if "--host" in sys.argv else tuple(compiling.LEVELS)
    for path in build(Path(sys.argv[1]), wanted):
        print(path)
