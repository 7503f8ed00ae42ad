"""Machine code and how to call it: arrays and numbers become machine words.

A number is one word; an array is that of its data, and those of its shape and strides. The code is
a function of a shared library, or an object file for this processor, which LLVM's loader puts into
memory; numba, which made it, need not be there.

When the package is built a shared library is made for every kind of processor. Its name holds a
digest of the sources of all kernels, so that other sources do not find it.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import platform
import struct
import sys
import sysconfig
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy import ndarray

from movers.errors import DependencyError

Kinds = tuple[Any, ...]
"""What the code depends on: the type of every argument, with arrays' dimensions and layout."""
Call = Callable[[Sequence[int]], None]

# Flags of an array that code depends on: contiguous by rows, else by columns; aligned, writeable.
_BY_ROWS, _BY_COLUMNS = 0x1 | 0x100 | 0x400, 0x2 | 0x100 | 0x400
SETTINGS = "CPU_NAME", "CPU_FEATURES", "OPT", "LOOP_VECTORIZE", "SLP_VECTORIZE"
"""Variables of numba's that decide what code it makes."""
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


def flatten(arguments: tuple[Any, ...]) -> tuple[Kinds, list[int]]:
    """The kinds of arguments, and the words to call code for them with."""
    kinds: list[Any] = []
    words: list[int] = []
    _add(arguments, kinds, words)
    return tuple(kinds), words


def _add(arguments: tuple[Any, ...], kinds: list[Any], words: list[int]) -> None:
    kinds.append(len(arguments))
    for one in arguments:
        if isinstance(one, ndarray):
            flags = one.flags.num
            kinds += one.dtype.str, one.ndim, flags & (_BY_ROWS if flags & 1 else _BY_COLUMNS)
            words += (one.__array_interface__["data"][0], *one.shape, *one.strides)
        elif isinstance(one, tuple):
            _add(one, kinds, words)
        elif (number := _NUMBERS.get(type(one))) is not None:
            kinds.append(number[0])
            words.append(number[1](one))
        else:
            raise TypeError(f"kernels take arrays, tuples and numbers, not {type(one).__name__!r}")


def _bits(real: str, whole: str) -> Callable[[Any], int]:
    """What reads the bits of a number as an integer, by their formats."""
    return lambda number: struct.unpack(whole, struct.pack(real, number))[0]


_NUMBERS: dict[type, tuple[str, Callable[[Any], int]]] = {
    **dict.fromkeys((int, np.int64), ("int", int)),
    **dict.fromkeys((float, np.float64), ("double", _bits("d", "q"))),
    **dict.fromkeys((bool, np.bool_), ("bool", int)),
    np.float32: ("single", _bits("f", "i")),
}
_FUNCTION = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_char_p)  # lets go of the interpreter lock
_engines: list[Any] = []  # which own the memory that code lies in


def symbol(name: str, kinds: Kinds) -> str:
    """What the code of a kernel for such arguments is called."""
    return f"movers_{hashlib.sha256(repr((name, kinds)).encode()).hexdigest()[:16]}"


def callable_at(address: int, name: str) -> Call:
    """Call the code of a kernel at an address with words."""
    function = _FUNCTION(address)

    def call(words: Sequence[int]) -> None:
        status = function(struct.pack(f"{len(words)}q", *words))
        if status:
            raise RuntimeError(f"kernel {name} failed with status {status}")

    return call


def load(code: bytes, function: str, name: str) -> Call:
    """Make a function in the object file of a kernel ready to be called."""
    binding = _binding()
    target = binding.Target.from_default_triple().create_target_machine()
    module = binding.parse_assembly(f'target datalayout = "{target.target_data}"')
    engine = binding.create_mcjit_compiler(module, target)  # which spells names as the system does
    engine.add_object_file(binding.ObjectFileRef.from_data(code))
    engine.finalize_object()
    _engines.append(engine)
    return callable_at(engine.get_function_address(function), name)


def no_compiler() -> DependencyError:
    """Say that a kernel has to be compiled and cannot be."""
    return DependencyError(
        "a kernel has to be compiled, for none was built for this processor and these sources, and "
        "numba, which compiles, is not installed: pip install movers[compile]"
    )


@cache
def _binding() -> Any:
    """LLVM, ready for this processor."""
    try:
        from llvmlite import binding
    except ImportError as error:
        raise no_compiler() from error
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    return binding


@cache
def processor() -> str:
    """The processor that code is made for: this one, unless numba's settings name another."""
    binding = _binding()
    settings = [os.environ.get(f"NUMBA_{name}") for name in SETTINGS]
    return f"{binding.get_host_cpu_name()} {binding.get_host_cpu_features().flatten()} {settings}"


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


def find_shipped(name: str, kinds: Kinds) -> Call | None:
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
