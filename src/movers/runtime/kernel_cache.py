"""Where compiled kernels are kept: a folder of the user's, named by all that went into them.

Numba keeps what it compiles beside the source, where a user may not be allowed to write, and
does not notice when a function changed that the compiled one calls. Here the name of the folder is
a digest of the sources of all kernels and of the versions that compile them: other code, another
folder. Any environment with the same sources and versions shares it.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import llvmlite
import numba
from numba.core.caching import CompileResultCacheImpl, FunctionCache, _CacheLocator
from platformdirs import user_cache_path

from movers.runtime.notices import Notice, notify

PACKAGE = Path(__file__).parents[1]
SOURCES = (
    *("arrays.py", "runtime/*.py", "solve/rounding.py", "solve/kernels/*.py"),
    *("*/*kernels.py", "evaluate/resampling.py"),
)
"""Files of the package that kernels are made of."""
KEPT = 4
"""Folders of other sources or versions that stay: those used last."""
PREFIX = "kernels-"


class CacheWarning(Notice):
    """Compiled kernels cannot be kept, and every process compiles its own."""


def sources(package: Path = PACKAGE) -> Iterator[Path]:
    """Files whose text decides what a compiled kernel does."""
    for pattern in SOURCES:
        yield from sorted(package.glob(pattern))


def digest(package: Path = PACKAGE) -> str:
    """Sixteen hex digits for the sources of all kernels and what compiles them."""
    versions = numba.__version__, llvmlite.__version__, sys.implementation.cache_tag
    found = hashlib.sha256(repr(versions).encode())
    for path in sources(package):
        found.update(path.relative_to(package).as_posix().encode() + b"\0" + path.read_bytes())
    return found.hexdigest()[:16]


def parent() -> Path:
    """The folder that folders of kernels lie in, by the settings of the environment."""
    for variable in ("MOVERS_CACHE", "NUMBA_CACHE_DIR"):
        if os.environ.get(variable):
            return Path(os.environ[variable]).expanduser().absolute()
    return user_cache_path("movers", appauthor=False)


@cache
def folder() -> Path | None:
    """The folder to find compiled kernels in, made if need be; None if there can be none."""
    path = parent() / f"{PREFIX}{digest()}"
    try:
        if not path.is_dir():
            path.mkdir(parents=True)
            _clear(path)
    except OSError as error:
        _warn(path.parent, error)
        return None
    return path


@cache
def writable(path: Path) -> bool:
    """Whether more can be kept in a folder; a finished one may lie where only others write."""
    try:
        os.utime(path)  # the time of its last use
        tempfile.TemporaryFile(dir=path).close()
    except OSError:
        return False
    return True


def _clear(current: Path) -> None:
    """Remove folders of other sources or versions, except for those used last."""
    others = [path for path in current.parent.glob(f"{PREFIX}*") if path != current]
    others.sort(key=lambda path: path.stat().st_mtime, reverse=True)
    for path in others[KEPT:]:
        shutil.rmtree(path, ignore_errors=True)


def _warn(path: Path, error: OSError) -> None:
    notify(
        f"compiled kernels cannot be kept in {path} ({error.strerror}), so every process will "
        f"compile its own; set MOVERS_CACHE to a folder that can be written to",
        CacheWarning,
    )


class _Locator(_CacheLocator):
    """Tells numba the folder; its own locators look beside the source first."""

    def __init__(self, function: Any, file: str, path: Path) -> None:
        self.path = path / function.__module__
        self.line = function.__code__.co_firstlineno
        self.stamp = hashlib.sha256(Path(file).read_bytes()).hexdigest()

    def get_cache_path(self) -> str:
        return str(self.path)

    def get_source_stamp(self) -> str:
        return self.stamp

    def get_disambiguator(self) -> str:
        return str(self.line)

    @classmethod
    def from_function(cls, py_func: Any, py_file: str) -> _Locator | None:
        path = folder()
        return None if path is None else cls(py_func, py_file, path)


class _Implementation(CompileResultCacheImpl):
    _locator_classes: list[Any] = [_Locator]  # noqa: RUF012


class KernelCache(FunctionCache):
    """Finds a kernel in the folder, and keeps it there if that is allowed."""

    _impl_class = _Implementation

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep a compiled kernel; what is wrong with the disk does not stop the work."""
        place = folder()
        if place is None or not writable(place):
            return
        try:
            os.makedirs(self.cache_path, exist_ok=True)
            super().save_overload(sig, data)  # type: ignore[no-untyped-call]
        except OSError as error:
            _warn(place, error)


def keep(kernel: Any) -> None:
    """Have a kernel look for its compiled form in the folder first, if there is one."""
    if folder() is not None:
        kernel._cache = KernelCache(kernel.py_func)  # type: ignore[no-untyped-call]
