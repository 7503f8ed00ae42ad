"""Files and folders that are written whole or not at all."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

UNFINISHED = ".unfinished-"
"""How the names of temporary files and folders begin."""


@contextmanager
def replacing(path: Path, *, partial: Path | None = None) -> Iterator[Path]:
    """Yield a temporary neighbour of ``path`` that takes its place if all goes well.

    On any error, Ctrl-C included, ``path`` stays as it was; what was written so far moves to
    ``partial`` if that is given and there is anything, or is removed.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    number, name = tempfile.mkstemp(f".{path.name}", UNFINISHED, path.parent)
    os.close(number)
    temporary = Path(name)
    try:
        yield temporary
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, path)
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
    temporary = Path(tempfile.mkdtemp(f".{path.name}", UNFINISHED, path.parent))
    try:
        yield temporary
        os.chmod(temporary, 0o777 & ~_umask())
        os.replace(temporary, path)
    except BaseException:
        if any(temporary.iterdir()):
            shutil.rmtree(partial, ignore_errors=True)
            os.replace(temporary, partial)
        raise
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def sweep(folder: Path) -> None:
    """Remove what a killed process was still writing anywhere in a folder."""
    for leftover in [*folder.rglob(f"{UNFINISHED}*")]:
        if leftover.is_dir():
            shutil.rmtree(leftover)
        else:
            leftover.unlink(missing_ok=True)


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current
