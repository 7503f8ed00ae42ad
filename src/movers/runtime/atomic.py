"""Files and folders that are written whole or not at all."""

from __future__ import annotations

import errno
import logging
import os
import re
import secrets
import shutil
import socket
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from zlib import crc32

from movers.runtime.ownership import OTHERS

logger = logging.getLogger("movers")

UNFINISHED = ".unfinished-"
"""How the names of temporary files and folders begin."""
FORGOTTEN = 86_400.0
"""Seconds after which nobody can still be writing what another machine left."""
FULL = (errno.ENOSPC, errno.EDQUOT)
"""Errors of the system that mean there is no room."""


def write_text(path: Path, text: str) -> None:
    """Write a text in UTF-8, as a whole or not at all."""
    with replacing(path) as temporary:
        temporary.write_text(text, "utf-8")


@contextmanager
def replacing(path: Path, *, closed: bool = False) -> Iterator[Path]:
    """Yield a temporary neighbour of ``path`` that takes its place if all goes well.

    It does so when its content is on the disk, so that a power cut leaves the old or the new.
    On any error, Ctrl-C included, ``path`` stays as it was, and what was written so far is removed.
    Nobody but its owner may write to a ``closed`` file, whatever the usual mode.
    """
    with folder_of(path):
        clean_up(path)
        temporary = _unfinished(path)
        temporary.touch(exist_ok=False)
        usual = stat.S_IMODE(temporary.stat().st_mode) & (~OTHERS if closed else ~0)
        try:
            with naming(path):
                yield temporary
                os.chmod(temporary, usual)  # the writer may have put a file of its own there
                sync(temporary)
                os.replace(temporary, path)
                sync(path.parent)
        finally:
            temporary.unlink(missing_ok=True)


@contextmanager
def replacing_folder(path: Path, *, partial: Path) -> Iterator[Path]:
    """Yield a temporary neighbour of the missing or empty folder ``path`` that becomes it.

    On any error, files written so far move to the folder ``partial``, if there are any.
    """
    with folder_of(path):
        clean_up(path)
        temporary = _unfinished(path)
        temporary.mkdir()
        try:
            yield temporary
            os.replace(temporary, path)
            if partial.exists():  # of an earlier run
                shutil.rmtree(partial)
        except BaseException:
            if any(temporary.iterdir()):
                shutil.rmtree(partial, ignore_errors=True)
                os.replace(temporary, partial)
                logger.warning("finished files are kept in %s", partial)
            raise
        finally:
            shutil.rmtree(temporary, ignore_errors=True)


@contextmanager
def folder_of(path: Path) -> Iterator[None]:
    """Make the folder a file goes to; if the block fails, remove what was made and is empty."""
    missing = [folder for folder in path.parents if not folder.exists()]
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        yield
    except BaseException:
        for folder in missing:
            with suppress(OSError):  # somebody put something there
                folder.rmdir()
        raise


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


def clean_up(path: Path) -> None:
    """Remove what processes that were killed had been writing to take the place of a path."""
    for leftover in path.parent.glob(f"{UNFINISHED}*"):
        if leftover.name.endswith(f".{path.name}") and _abandoned(leftover):
            size = leftover.stat().st_size
            remove = shutil.rmtree if leftover.is_dir() else os.unlink
            remove(leftover)
            logger.warning("removed %s (%s), left by a run that was killed", leftover, sized(size))


def _abandoned(leftover: Path) -> bool:
    """Tell whether whoever was writing a file is gone."""
    named = re.match(rf"{re.escape(UNFINISHED)}([0-9a-f]{{8}})-(\d+)-", leftover.name)
    with suppress(OSError):  # it is gone, or somebody else's
        if not named or named[1] != _host() or os.name != "posix":  # Windows would kill the process
            return time.time() - leftover.stat().st_mtime > FORGOTTEN
        try:
            os.kill(int(named[2]), 0)
        except ProcessLookupError:
            return True
    return False


def _host() -> str:
    return f"{crc32(socket.gethostname().encode()):08x}"


def _unfinished(path: Path) -> Path:
    """Return a new name beside a path that says who writes there."""
    who = f"{_host()}-{os.getpid()}-{secrets.token_hex(4)}"
    return path.with_name(f"{UNFINISHED}{who}.{path.name}")


def sized(count: float) -> str:
    """Return a number of bytes for people.

    Examples
    --------
    >>> sized(999), sized(1_500_000)
    ('999 bytes', '1.5 MB')
    """
    for unit in ("bytes", "kB", "MB", "GB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if unit == "bytes" else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} TB"


def room(path: Path) -> str:
    """Say how much room the disk of a path has."""
    folder = next(parent for parent in path.absolute().parents if parent.exists())
    return f"{sized(shutil.disk_usage(folder).free)} free there"
