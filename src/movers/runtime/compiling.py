"""Kernels: plain functions of arrays that run as machine code when Python calls them.

A decorator only declares one. Its first call finds the code in the library of all kernels: built
with the package, or else once into the user's cache (`movers.compile_ahead`). What is not there, as
for arguments of other types, numba compiles in this process.

There is a library for every kind of processor. Its name holds a digest of the sources of all
kernels, so that other sources do not find it. What others than the user and root may have written
is not executed.
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
import threading
from collections.abc import Callable
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar, cast
from zlib import crc32

import numpy as np
from numpy import ndarray

from movers.errors import DependencyError
from movers.runtime import ownership
from movers.runtime.answer_cache import CacheWarning, cache_folder
from movers.runtime.locks import locked
from movers.runtime.notices import notify

logger = logging.getLogger("movers")

Function = TypeVar("Function", bound=Callable[..., Any])
Kinds = tuple[Any, ...]
"""What the code depends on: the type of every argument, with arrays' dimensions and layout."""
Code = Callable[[bytes], int]
"""Takes words, and returns 0 if all went well."""

PACKAGE = Path(__file__).parents[1]
FOLDER = PACKAGE / "kernels"
"""Where a build of the package puts libraries."""
SOURCES = (
    *("runtime/compiling.py", "runtime/machine_code.py"),
    *("solve/kernels/*.py", "**/*kernels.py", "compile_ahead.py"),
)
"""Files of the package that kernels are made of, and what says for which arguments."""
SETTINGS = tuple(
    f"NUMBA_{name}"
    for name in ("CPU_NAME", "CPU_FEATURES", "OPT", "LOOP_VECTORIZE", "SLP_VECTORIZE")
)
"""Variables of numba's that decide what code it makes."""
X86 = {
    "x86-64-v4": ("AVX512F", "AVX512CD", "AVX512BW", "AVX512DQ", "AVX512VL", "AVX2", "FMA3"),
    "x86-64-v3": ("AVX2", "FMA3"),
    "x86-64": (),
}
LEVELS: dict[str, tuple[str, ...]] = (
    X86 if platform.machine() in ("x86_64", "AMD64") else {"generic": ()}
)
"""Kinds of processors as LLVM calls them, best first; what numpy must find for each."""
PATIENCE = 900.0
"""Seconds to wait for another process that builds the library."""
MESSAGE = (
    "compiling kernels, about half a minute: once for this version of movers "
    "(`movers warm-up` does it ahead)"
)

# Kernels cannot allocate, and in return do not count references to arrays, which would take half
# of the time. Multiplications and additions may fuse; floating point is not relaxed any further.
_OPTIONS: dict[str, Any] = {"_nrt": False, "error_model": "numpy", "fastmath": {"contract"}}
# Flags of an array that code depends on: contiguous by rows, else by columns; aligned, writeable.
_BY_ROWS, _BY_COLUMNS = 0x1 | 0x100 | 0x400, 0x2 | 0x100 | 0x400
_FUNCTION = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_char_p)  # lets go of the interpreter lock
_preparing = threading.RLock()
if hasattr(os, "register_at_fork"):
    # A child has none of the threads that may hold this lock, or others of the compiler and of
    # imports within it: a fork waits until the code under way is ready.
    os.register_at_fork(
        before=_preparing.acquire,
        after_in_parent=_preparing.release,
        after_in_child=_preparing.release,
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


class Kernel:
    """A plain function of arrays and numbers, and how to compile it.

    Where Python calls it, its code is found once for every combination of types.
    """

    def __init__(self, function: Callable[..., Any], **options: Any) -> None:
        self.function = function
        self.name = f"{function.__module__}.{function.__qualname__}"
        self.__doc__ = function.__doc__
        self.options = {**_OPTIONS, **options}
        self.calls: dict[Kinds, Code] = {}
        self.compiled = 0

    @property
    def _numba_type_(self) -> Any:
        """What numba knows it by, in other kernels."""
        from movers.runtime.machine_code import type_of

        return type_of(self)

    def __call__(self, *arguments: Any) -> None:
        """Run it, without the interpreter lock."""
        kinds, words = flatten(arguments)
        code = self.calls.get(kinds)
        if code is None:
            code = self.find(kinds, arguments)
        status = code(struct.pack(f"{len(words)}q", *words))
        if status:
            raise RuntimeError(f"kernel {self.name} failed with status {status}")

    def find(self, kinds: Kinds, arguments: tuple[Any, ...]) -> Code:
        """Return the code for such arguments: that of the library, or compiled now."""
        with _preparing:
            if kinds in self.calls:
                return self.calls[kinds]
            name = symbol(self.name, kinds)
            built = library()
            if built is not None and hasattr(built, name):
                code = _FUNCTION((name, built))
            else:
                code = _FUNCTION(self._compile(arguments, name))
            self.calls[kinds] = code
        return code

    def _compile(self, arguments: tuple[Any, ...], function: str) -> int:
        """Compile it in this process, and return where the code lies."""
        try:
            from movers.runtime.machine_code import compile_here  # loads numba
        except ImportError as error:
            raise DependencyError(
                "a kernel has to be compiled, for none was built for this processor and these "
                "sources, and numba, which compiles, is not installed: pip install movers[compile]"
            ) from error
        if self.name.startswith("movers."):  # and not of a package that adds to it
            announce()
        self.compiled += 1
        address: int = compile_here(self, arguments, function)
        return address


entries: list[Kernel] = []
"""Every kernel that Python calls, of the modules imported so far."""


def entry(function: Function, **options: Any) -> Function:
    """Have Python's calls of `function` run as machine code."""
    entries.append(Kernel(function, **options))
    return cast(Function, entries[-1])


def summing(function: Function) -> Function:
    """Like `entry`, and sums may be taken in another order: for long dot products."""
    return entry(function, fastmath={"contract", "reassoc"})


def exact(function: Function) -> Function:
    """Like `entry`, and every operation is rounded by itself: the same bits on any processor."""
    return entry(function, fastmath=False)


def kernel(function: Function) -> Function:
    """Compile `function` for use by other kernels."""
    return cast(Function, Kernel(function))


def inlined(function: Function) -> Function:
    """Like `kernel`, and always merged into its caller: for steps shorter than a call."""
    return cast(Function, Kernel(function, forceinline=True))


# arguments as words: a number is one; an array is that of its data, and its shape and strides


def _bits(real: str, whole: str) -> Callable[[Any], int]:
    """Return what reads the bits of a number as an integer, by their formats."""
    return lambda number: struct.unpack(whole, struct.pack(real, number))[0]


_NUMBERS: dict[type, tuple[str, Callable[[Any], int]]] = {
    **dict.fromkeys((int, np.int64), ("int", int)),
    **dict.fromkeys((float, np.float64), ("double", _bits("d", "q"))),
    **dict.fromkeys((bool, np.bool_), ("bool", int)),
    np.float32: ("single", _bits("f", "i")),
}


def flatten(arguments: tuple[Any, ...]) -> tuple[Kinds, list[int]]:
    """Return the kinds of arguments, and the words to call code for them with."""
    kinds: list[Any] = [len(arguments)]
    words: list[int] = []
    for one in arguments:
        if isinstance(one, ndarray):
            flags = one.flags.num
            kinds += one.dtype.str, one.ndim, flags & (_BY_ROWS if flags & 1 else _BY_COLUMNS)
            words += (one.__array_interface__["data"][0], *one.shape, *one.strides)
        elif isinstance(one, tuple):
            inner = flatten(one)
            kinds += inner[0]
            words += inner[1]
        elif (number := _NUMBERS.get(type(one))) is not None:
            kinds.append(number[0])
            words.append(number[1](one))
        else:
            raise TypeError(f"kernels take arrays, tuples and numbers, not {type(one).__name__!r}")
    return tuple(kinds), words


def symbol(name: str, kinds: Kinds) -> str:
    """Return what the code of a kernel for such arguments is called."""
    return f"movers_{hashlib.sha256(repr((name, kinds)).encode()).hexdigest()[:16]}"


# the library


@cache
def library() -> ctypes.CDLL | None:
    """Load the library for this processor; None if there is none, or numba is told what to make."""
    if any(name in os.environ for name in SETTINGS):
        return None
    name = library_name(best_level())
    path = FOLDER / name if (FOLDER / name).is_file() else cached(name)
    return None if path is None else ctypes.CDLL(str(path))


def library_name(level: str, package: Path = PACKAGE) -> str:
    """Return what the library for a kind of processor is called, by the sources of all kernels."""
    digest = hashlib.sha256()
    for path in (path for pattern in SOURCES for path in sorted(package.glob(pattern))):
        digest.update(path.relative_to(package).as_posix().encode() + b"\0" + path.read_bytes())
    return f"kernels-{digest.hexdigest()[:16]}-{level}{'.dll' if os.name == 'nt' else '.so'}"


def best_level() -> str:
    """Return the best kind that this processor is of."""
    features = import_module("numpy._core._multiarray_umath").__cpu_features__
    return next(name for name, needed in LEVELS.items() if all(map(features.get, needed)))


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


def checksum_file(path: Path) -> Path:
    """Return the file that tells whether a library is whole: damaged code ends a process."""
    return path.with_name(f"checksum-{path.name}")


def checksum(path: Path) -> bytes:
    """Return what that file holds if it is."""
    return b"%08x" % crc32(path.read_bytes())


def is_whole(path: Path) -> bool:
    """Return whether a library is as it was built, as far as that was written."""
    told = checksum_file(path)
    return not told.is_file() or told.read_bytes() == checksum(path)


def _build(path: Path) -> None:
    """Build the library for this processor in a process of its own; one process at a time."""
    if find_linker() is None:
        _warn("cannot be kept, for there is no C compiler (cc, gcc, clang) to link them")
        return
    with locked(path.with_name("lock"), "the library of kernels", wait=PATIENCE):
        if path.is_file():
            return
        announce()
        command = [sys.executable, "-m", "movers.compile_ahead", str(path.parent), "--host"]
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
