"""Where compiled kernels are kept: a folder of the user's, named by all that went into them.

The name of the folder is a digest of the sources of all kernels and of the versions that compile
them: other code, another folder. Any environment with the same sources and versions shares it.
What others than the user and root may have written is not executed (`movers.runtime.ownership`).
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import tempfile
from functools import cache
from importlib.metadata import version
from pathlib import Path

from platformdirs import user_cache_path

from movers.runtime import ownership
from movers.runtime.atomic import replacing
from movers.runtime.native import PACKAGE, Kinds, processor, sources_digest
from movers.runtime.notices import Notice, notify

KEPT = 4
"""Folders of other sources or versions that stay: those used last."""
PREFIX = "kernels-"
CHECKSUM = 32
"""Bytes in front of machine code that tell whether it is whole."""


class CacheWarning(Notice):
    """Compiled kernels cannot be kept or trusted, and every process compiles its own."""


def digest(package: Path = PACKAGE) -> str:
    """Sixteen hex digits for the sources of all kernels and what compiles them."""
    versions = version("numba"), version("llvmlite"), sys.implementation.cache_tag
    return hashlib.sha256(repr((versions, sources_digest(package))).encode()).hexdigest()[:16]


def parent() -> Path:
    """The folder that folders of kernels lie in, by the settings of the environment."""
    if named := os.environ.get("MOVERS_CACHE") or os.environ.get("NUMBA_CACHE_DIR"):
        return Path(named).expanduser().absolute()
    return user_cache_path("movers", appauthor=False)


@cache
def folder() -> Path | None:
    """The folder to find compiled kernels in, made if need be; None if there can be none."""
    path = parent() / f"{PREFIX}{digest()}"
    try:
        path.parent.mkdir(ownership.folder_mode(), parents=True, exist_ok=True)
        if not path.is_dir():
            path.mkdir(ownership.folder_mode())
            _drop_oldest(path)
        if suspicion := ownership.suspicion(path):
            _distrust(path, suspicion)
            return None
    except OSError as error:
        _warn(path.parent, error)
        return None
    return path


def _drop_oldest(current: Path) -> None:
    """Remove the user's folders of other kernels but for those used last."""
    others = current.parent.glob(f"{PREFIX}*")
    mine = [one for one in others if one != current and not ownership.suspicion(one)]
    mine.sort(key=lambda one: one.stat().st_mtime, reverse=True)
    for one in mine[KEPT:]:
        shutil.rmtree(one, ignore_errors=True)


@cache
def writable(path: Path) -> bool:
    """Whether more can be kept in a folder; a finished one may lie where only others write."""
    try:
        os.utime(path)  # the time of its last use
        tempfile.TemporaryFile(dir=path).close()
    except OSError:
        return False
    return True


def _warn(path: Path, error: OSError) -> None:
    notify(
        f"compiled kernels cannot be kept in {path} ({error.strerror}), so every process will "
        f"compile its own; set MOVERS_CACHE to a folder that can be written to",
        CacheWarning,
    )


def _distrust(path: Path, suspicion: str) -> None:
    notify(
        f"compiled kernels in {path} are not used: it {suspicion}; set MOVERS_CACHE to a folder "
        f"of your own, or remove it",
        CacheWarning,
    )


def find(name: str, kinds: Kinds) -> bytes | None:
    """The machine code of a kernel for such arguments, if it is the user's or root's, and whole."""
    place = folder()
    if place is None:
        return None
    try:
        with (place / _file(place, name, kinds)).open("rb") as stream:
            if suspicion := ownership.of_status(os.fstat(stream.fileno())):
                _distrust(Path(stream.name), suspicion)
                return None
            kept = stream.read()
    except OSError:  # it was never kept, or is out of reach
        return None
    code = kept[CHECKSUM:]
    # a cut or changed file would take the process down with it
    return code if code and hashlib.sha256(code).digest() == kept[:CHECKSUM] else None


def keep(name: str, kinds: Kinds, code: bytes) -> None:
    """Keep machine code if that is allowed; what is wrong with the disk does not stop the work."""
    place = folder()
    if place is None or not writable(place):
        return
    try:
        with replacing(place / _file(place, name, kinds), closed=True) as draft:
            draft.write_bytes(hashlib.sha256(code).digest() + code)
    except OSError as error:
        _warn(place, error)


def _file(place: Path, name: str, kinds: Kinds) -> str:
    """What code is called: by its kernel, sources, arguments and the processor it is made for.

    With the sources in it, nobody gains by renaming a folder of the user's to another.
    """
    about = hashlib.sha256(repr((place.name, kinds, processor())).encode()).hexdigest()[:16]
    return f"{name}-{about}.o"
