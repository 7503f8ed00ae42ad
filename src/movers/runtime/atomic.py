"""Files and folders that are written whole or not at all."""

from __future__ import annotations

import os
import secrets
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

UNFINISHED = ".unfinished-"
"""How the names of temporary files and folders begin."""


@contextmanager
def replacing(path: Path, *, partial: Path | None = None) -> Iterator[Path]:
    """Yield a temporary neighbour of ``path`` that takes its place if all goes well.

    It does so when its content is on the disk, so that a power cut leaves the old or the new.
    On any error, Ctrl-C included, ``path`` stays as it was; what was written so far moves to
    ``partial`` if that is given and there is anything, or is removed.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = _unfinished(path)
    temporary.touch(exist_ok=False)
    usual = stat.S_IMODE(temporary.stat().st_mode)
    try:
        with naming(path):
            yield temporary
            os.chmod(temporary, usual)  # the writer may have put a file of its own there
            sync(temporary)
            os.replace(temporary, path)
            sync(path.parent)
    except BaseException:
        if partial is not None and temporary.exists() and temporary.stat().st_size:
            os.replace(temporary, partial)
        raise
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def replacing_folder(path: Path, *, partial: Path) -> Iterator[Path]:
    """Yield a temporary neighbour of the missing or empty folder ``path`` that becomes it.

    On any error, files written so far move to the folder ``partial``, if there are any.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = _unfinished(path)
    temporary.mkdir()
    try:
        yield temporary
        os.replace(temporary, path)
    except BaseException:
        if any(temporary.iterdir()):
            shutil.rmtree(partial, ignore_errors=True)
            os.replace(temporary, partial)
        raise
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Add the name of a file to errors of the system that lack one, as a full disk's do."""
    try:
        yield
    except OSError as error:
        if error.errno is not None and error.filename is None:
            error.filename = str(path)
        raise


def sync(path: Path) -> None:
    """Wait until a file, or the names in a folder, are on the disk."""
    folder = path.is_dir()
    if folder and os.name == "nt":  # knows no such thing
        return
    number = os.open(path, os.O_RDONLY if folder else os.O_RDWR)
    try:
        os.fsync(number)
    finally:
        os.close(number)


def sweep(folder: Path) -> None:
    """Remove what a killed process was still writing anywhere in a folder."""
    for leftover in [*folder.rglob(f"{UNFINISHED}*")]:
        if leftover.is_dir():
            shutil.rmtree(leftover)
        else:
            leftover.unlink(missing_ok=True)


def _unfinished(path: Path) -> Path:
    """A new name beside a path; what is made there gets the usual permissions."""
    return path.with_name(f"{UNFINISHED}{secrets.token_hex(8)}.{path.name}")
