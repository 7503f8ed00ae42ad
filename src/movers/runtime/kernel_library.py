"""The library of compiled kernels: built with the package, or else once into the user's cache.

There is one for every kind of processor. Its name holds a digest of the sources of all kernels, so
that other sources do not find it. Where the package was built without, as for another platform, the
first call builds it (`movers.building`) in a folder of the user's, if numba and a C compiler are
there. What others than the user and root may have written is not executed.
"""

from __future__ import annotations

import ctypes
import hashlib
import logging
import os
import platform
import shutil
import struct
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from zlib import crc32

from movers.errors import DependencyError
from movers.runtime import ownership
from movers.runtime.answer_cache import CacheWarning, cache_folder
from movers.runtime.atomic import replacing
from movers.runtime.locks import locked
from movers.runtime.notices import notify

logger = logging.getLogger("movers")

PACKAGE = Path(__file__).parents[1]
FOLDER = PACKAGE / "kernels"
"""Where a build puts libraries."""
SOURCES = (
    *("runtime/compiling.py", "runtime/kernel.py", "runtime/machine_code.py"),
    *("solve/kernels/*.py", "**/*kernels.py", "compile_ahead.py"),
)
"""Files of the package that kernels are made of, and what says for which arguments."""
SETTINGS = tuple(
    f"NUMBA_{name}"
    for name in ("CPU_NAME", "CPU_FEATURES", "OPT", "LOOP_VECTORIZE", "SLP_VECTORIZE")
)
"""Variables of numba's that decide what code it makes."""
LEVELS: dict[str, dict[str, tuple[str, ...]]] = {
    "x86_64": {
        "x86-64-v4": ("AVX512F", "AVX512CD", "AVX512BW", "AVX512DQ", "AVX512VL", "AVX2", "FMA3"),
        "x86-64-v3": ("AVX2", "FMA3"),
        "x86-64": (),
    },
}
LEVELS["AMD64"] = LEVELS["x86_64"]
"""Kinds of processors by machine, as LLVM calls them, best first; what numpy must find for each."""
PORTABLE: dict[str, tuple[str, ...]] = {"generic": ()}
"""The kind of any other machine."""
SEAL = "checksum-"
"""What the name of the file begins with that tells whether a library is whole."""
PATIENCE = 900.0
"""Seconds to wait for another process that builds the library."""
MESSAGE = (
    "compiling kernels, about half a minute: once for this version of movers "
    "(`movers warm-up` does it ahead)"
)


def check_machine() -> None:
    """Refuse a machine or a Python whose arrays and numbers kernels would misread."""
    bits, order = struct.calcsize("P") * 8, sys.byteorder
    if bits != 64 or order != "little":
        raise DependencyError(
            f"movers needs a 64-bit Python on a little-endian processor; this one is {bits}-bit "
            f"and {order}-endian"
        )
    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        raise DependencyError(
            "movers does not run on a free-threaded Python, where its kernels are untested; "
            f"install the usual build of Python {sys.version_info.major}.{sys.version_info.minor}"
        )


check_machine()


def numba_settings() -> list[str]:
    """Return variables that tell numba what code to make, for which no library is built."""
    return [name for name in SETTINGS if name in os.environ]


@cache
def library() -> ctypes.CDLL | None:
    """Load the library for this processor; None if there is none, or numba is told what to make."""
    if numba_settings():
        return None
    name = library_name(best_level())
    path = FOLDER / name if (FOLDER / name).is_file() else cached(name)
    return None if path is None else ctypes.CDLL(str(path))


def library_name(level: str, package: Path = PACKAGE) -> str:
    """Return what the library for a kind of processor is called, by the sources of all kernels."""
    digest = hashlib.sha256()
    for path in sources(package):
        digest.update(path.relative_to(package).as_posix().encode() + b"\0" + path.read_bytes())
    return f"kernels-{digest.hexdigest()[:16]}-{level}{'.dll' if os.name == 'nt' else '.so'}"


def sources(package: Path = PACKAGE) -> Iterator[Path]:
    """Yield the files whose text decides what a compiled kernel does."""
    for pattern in SOURCES:
        yield from sorted(package.glob(pattern))


def levels() -> dict[str, tuple[str, ...]]:
    """Return the kinds of processors of this machine, best first."""
    return LEVELS.get(platform.machine(), PORTABLE)


def best_level() -> str:
    """Return the best kind that this processor is of."""
    features = import_module("numpy._core._multiarray_umath").__cpu_features__
    kinds = levels().items()
    return next(name for name, needed in kinds if all(features.get(one) for one in needed))


def cached(name: str) -> Path | None:
    """Find a library in the user's cache, built there if need be; None if that cannot be."""
    path = cache_folder() / "kernels" / name
    if not path.is_file() and find_spec("numba") is None:  # which whoever needs a kernel will say
        return None
    try:
        ownership.make_closed(path.parent)
        if why := ownership.distrust(path):
            _warn(why)
            return None
        if path.is_file() and not is_whole(path):
            logger.warning("the compiled kernels in %s are damaged; building others", path.parent)
            path.unlink()
        if not path.is_file():
            _build(path)
    except OSError as error:
        _warn(f"cannot be kept in {path.parent} ({error.strerror})")
        return None
    return path if path.is_file() else None


def seal(path: Path, content: bytes) -> None:
    """Write what tells later whether a library is whole: damaged code ends a process."""
    with replacing(_seal(path), closed=True) as file:
        file.write_text(f"{crc32(content):08x}", "ascii")


def is_whole(path: Path) -> bool:
    """Return whether a library is as it was built, as far as that was written."""
    told = _seal(path)
    return not told.is_file() or told.read_bytes() == b"%08x" % crc32(path.read_bytes())


def remove(path: Path) -> None:
    """Remove a library, and what was written about it."""
    path.unlink()
    _seal(path).unlink(missing_ok=True)


def _seal(path: Path) -> Path:
    return path.with_name(f"{SEAL}{path.name}")


def _build(path: Path) -> None:
    """Build the library for this processor in a process of its own; one process at a time."""
    if find_linker() is None:
        _warn("cannot be kept, for there is no C compiler (cc, gcc, clang) to link them")
        return
    with locked(path.with_name("lock"), "the library of kernels", wait=PATIENCE):
        if path.is_file():
            return
        announce()
        command = [sys.executable, "-m", "movers.building", str(path.parent), "--host"]
        sources = [str(PACKAGE.parent), *filter(None, [os.environ.get("PYTHONPATH")])]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sources)}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        why = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        _warn(f"could not be built in {path.parent} ({why})")


def find_linker() -> str | None:
    """Return the C compiler that Python was built with, or another; None if there is none."""
    named = (sysconfig.get_config_var("CC") or "cc").split()[:1]
    paths = (shutil.which(name) for name in (*named, "cc", "gcc", "clang"))
    return next(filter(None, paths), None)


@cache
def announce() -> None:
    """Tell the user, once, that something takes long."""
    logger.warning(MESSAGE)


def _warn(what: str) -> None:
    notify(
        f"compiled kernels {what}, so every process will compile its own; set MOVERS_CACHE to a "
        "folder of your own that can be written to",
        CacheWarning,
    )
