"""Compile all kernels into shared libraries, one per kind of processor: what a build runs.

python -m movers.building FOLDER [--host]

With ``--host``, for this processor alone. It needs numba, and a C compiler to link. Libraries of
the same sources that lie there already stay, and so do a few of others.
"""

from __future__ import annotations

import subprocess
import sys
import warnings
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from movers.compile_ahead import STEPS
from movers.errors import DependencyError
from movers.runtime.atomic import replacing
from movers.runtime.compiling import Code, Entry, Kinds, symbol
from movers.runtime.kernel_library import (
    best_level,
    find_linker,
    levels,
    library_name,
    remove,
    seal,
)
from movers.runtime.threads import available_threads

LONGEST = ("partial structure", "structure", "bounds", "costs")
"""Steps to begin with, so that no process is left with much in the end."""
KEPT = 4
"""Libraries of other sources that stay: those made last."""


def build(folder: Path, kinds: tuple[str, ...]) -> list[Path]:
    """Compile every kernel for some kinds of processors, and link a library for each."""
    paths = {kind: folder / library_name(kind) for kind in kinds}
    if all(path.is_file() for path in paths.values()):
        return [*paths.values()]
    if find_linker() is None:
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
            seal(path, draft.read_bytes())
    others = [path for path in folder.glob("kernels-*") if path not in paths.values()]
    for old in sorted(others, key=lambda path: path.stat().st_mtime)[:-KEPT]:
        with suppress(OSError):  # a process has it open
            remove(old)
    return [*paths.values()]


def compile_step(name: str, kinds: tuple[str, ...]) -> dict[str, dict[str, bytes]]:
    """Return the object files that a step of `STEPS` needs, by processor and function.

    Kernels are compiled when they are called, and do nothing.
    """
    from movers.runtime.machine_code import compile_object  # loads numba

    made: dict[str, dict[str, bytes]] = {kind: {} for kind in kinds}

    def make(entry: Entry, types: Kinds, arguments: tuple[Any, ...]) -> Code:
        function = symbol(entry.name, types)
        for kind in kinds:
            made[kind][function] = compile_object(entry, arguments, function, kind)
        entry.calls[types] = _nothing
        return _nothing

    Entry.find = make  # type: ignore[method-assign, assignment]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # nothing is solved
        STEPS[name]()
    return made


def _nothing(words: bytes) -> int:
    """Take the place of a kernel."""
    return 0


def link(objects: dict[str, bytes], path: Path) -> None:
    """Link object files into a shared library."""
    with TemporaryDirectory() as folder:
        files = []
        for function, code in objects.items():
            files.append(Path(folder, f"{function}.o"))
            files[-1].write_bytes(code)
        shown = {"darwin": ["-Wl,-undefined,dynamic_lookup"]}.get(sys.platform, ["-lm"])
        command = [str(find_linker()), "-shared", "-o", str(path), *map(str, files), *shown]
        subprocess.run(command, check=True)


if __name__ == "__main__":
    wanted = (best_level(),) if "--host" in sys.argv else tuple(levels())
    for path in build(Path(sys.argv[1]), wanted):
        print(path)
