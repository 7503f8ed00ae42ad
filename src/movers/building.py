"""Compile all kernels into shared libraries, one per kind of processor: what a build runs.

python -m movers.building FOLDER [--host]

With ``--host``, for this processor alone. It needs numba, and a C compiler to link. Libraries of
the same sources that lie there already stay.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from movers.compile_ahead import STEPS
from movers.errors import DependencyError
from movers.runtime.compiling import Entry
from movers.runtime.native import (
    Call,
    Kinds,
    best_level,
    levels,
    library_path,
    load,
    sources_digest,
    symbol,
)
from movers.runtime.threads import available_threads

LONGEST = ("partial structure", "structure", "bounds", "costs")
"""Steps to begin with, so that no process is left with much in the end."""


def build(folder: Path, kinds: tuple[str, ...]) -> list[Path]:
    """Compile every kernel for some kinds of processors, and link a library for each."""
    paths = {kind: library_path(kind, sources_digest(), folder) for kind in kinds}
    if all(path.is_file() for path in paths.values()):
        return [*paths.values()]
    linker = find_linker()
    steps = sorted(STEPS, key=lambda name: (name not in LONGEST, name))
    workers = min(available_threads(), len(steps))
    objects: dict[str, dict[str, bytes]] = {kind: {} for kind in kinds}
    with ProcessPoolExecutor(workers, get_context("spawn")) as pool:
        for made in pool.map(compile_step, steps, [kinds] * len(steps)):
            for kind, functions in made.items():
                objects[kind].update(functions)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for kind, path in paths.items():
        link(linker, objects[kind], path)
    return [*paths.values()]


def find_linker() -> str:
    """The C compiler that Python was built with, or another."""
    named = (sysconfig.get_config_var("CC") or "cc").split()[0]
    for name in (named, "cc", "gcc", "clang"):
        if found := shutil.which(name):
            return found
    raise DependencyError("kernels are linked by a C compiler, and there is none (cc, gcc, clang)")


def compile_step(name: str, kinds: tuple[str, ...]) -> dict[str, dict[str, bytes]]:
    """The object files that a step of `movers.compile_ahead` needs, by processor and function."""
    from movers.runtime.machine_code import compile_kernel  # loads numba

    made: dict[str, dict[str, bytes]] = {kind: {} for kind in kinds}

    def make(entry: Entry, types: Kinds, arguments: tuple[Any, ...]) -> Call:
        function = symbol(entry.name, types)
        for kind in kinds:
            made[kind][function] = compile_kernel(entry, arguments, function, kind)
        return load(made[kinds[0]][function], function, entry.name)

    Entry.find = make  # type: ignore[method-assign, assignment]
    STEPS[name]()
    return made


def link(linker: str, objects: dict[str, bytes], path: Path) -> None:
    """Link object files into a shared library."""
    with TemporaryDirectory() as folder:
        files = []
        for function, code in objects.items():
            files.append(Path(folder, f"{function}.o"))
            files[-1].write_bytes(code)
        shown = {"darwin": ["-Wl,-undefined,dynamic_lookup"]}.get(sys.platform, ["-lm"])
        subprocess.run([linker, "-shared", "-o", str(path), *map(str, files), *shown], check=True)


def wanted(arguments: list[str]) -> Iterator[str]:
    """Kinds of processors to build for: the best that this one is of, and unless for it alone all.

    The code for the first also runs here, so that later steps find what earlier ones compute.
    """
    best = best_level()
    yield best
    if "--host" not in arguments:
        yield from (kind for kind in levels() if kind != best)


if __name__ == "__main__":
    for path in build(Path(sys.argv[1]), tuple(wanted(sys.argv[2:]))):
        print(path)
