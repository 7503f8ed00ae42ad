"""Kernels that were compiled when the package was built: a shared library per kind of processor.

Its name holds a digest of the sources of all kernels, so that other sources do not find it.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import platform
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path

from movers.runtime.native import SETTINGS, Call, Kinds, callable_at, symbol

PACKAGE = Path(__file__).parents[1]
SOURCES = (
    *("arrays.py", "runtime/*.py", "solve/rounding.py", "solve/kernels/*.py"),
    "**/*kernels.py",
)
"""Files of the package that kernels are made of."""
FOLDER = PACKAGE / "kernels"
LEVELS: dict[str, dict[str, tuple[str, ...]]] = {
    "x86_64": {
        "x86-64-v4": ("AVX512F", "AVX512CD", "AVX512BW", "AVX512DQ", "AVX512VL", "AVX2", "FMA3"),
        "x86-64-v3": ("AVX2", "FMA3"),
        "x86-64": (),
    },
}
"""Kinds of processors by machine, as LLVM calls them, best first; what numpy must find for each."""
MACHINES = {"AMD64": "x86_64"}
"""Machines that some systems call otherwise."""
PORTABLE: dict[str, tuple[str, ...]] = {"generic": ()}
"""The kind of any other machine."""
SUFFIXES = {"nt": ".dll"}


def sources(package: Path = PACKAGE) -> Iterator[Path]:
    """Files whose text decides what a compiled kernel does."""
    for pattern in SOURCES:
        yield from sorted(package.glob(pattern))


def sources_digest(package: Path = PACKAGE) -> str:
    """Sixteen hex digits for the sources of all kernels."""
    found = hashlib.sha256()
    for path in sources(package):
        found.update(path.relative_to(package).as_posix().encode() + b"\0" + path.read_bytes())
    return found.hexdigest()[:16]


def levels() -> dict[str, tuple[str, ...]]:
    """Kinds of processors of this machine, best first."""
    machine = platform.machine()
    return LEVELS.get(MACHINES.get(machine, machine), PORTABLE)


def best_level() -> str:
    """The best kind that this processor is of."""
    features = import_module("numpy._core._multiarray_umath").__cpu_features__
    kinds = levels().items()
    return next(name for name, needed in kinds if all(features.get(one) for one in needed))


def library_path(level: str, digest: str, folder: Path = FOLDER) -> Path:
    """Where the library for a kind of processor lies."""
    return folder / f"kernels-{digest}-{level}{SUFFIXES.get(os.name, '.so')}"


@cache
def library() -> ctypes.CDLL | None:
    """The library for this processor; None if there is none, or numba is told what to make."""
    if any(f"NUMBA_{name}" in os.environ for name in SETTINGS) or not FOLDER.is_dir():
        return None
    path = library_path(best_level(), sources_digest())
    return ctypes.CDLL(str(path)) if path.is_file() else None


def find(name: str, kinds: Kinds) -> Call | None:
    """The machine code of a kernel for such arguments, if it was built."""
    built = library()
    if built is None:
        return None
    try:
        function = built[symbol(name, kinds)]
    except AttributeError:  # for such arguments it was not
        return None
    address = ctypes.cast(function, ctypes.c_void_p).value
    assert address is not None
    return callable_at(address, name)
