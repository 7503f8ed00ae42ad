"""One writer at a time: a lock file that says who holds it."""

from __future__ import annotations

import os
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from movers.errors import InputError
from movers.runtime.atomic import folder_of

if sys.platform == "win32":
    import msvcrt

    def _lock(number: int) -> None:
        os.lseek(number, 1 << 30, os.SEEK_SET)  # behind the text, which others must be able to read
        msvcrt.locking(number, msvcrt.LK_NBLCK, 1)
else:
    import fcntl

    def _lock(number: int) -> None:
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)


PAUSE = 0.02
"""Seconds until another look at a lock that somebody holds."""


@contextmanager
def locked(path: Path, what: str, *, wait: float = 0.0) -> Iterator[None]:
    """Hold a lock file for the length of a block, or say who holds it.

    The system lets go of it when the process ends, in whatever way.

    ``what`` names in the message what only one may write at a time; ``wait`` is for how many
    seconds to wait for the holder.
    """
    with folder_of(path):
        stream = _acquired(path, what, time.monotonic() + wait)
        try:
            stream.truncate(0)
            stream.write(f"process {os.getpid()} on {socket.gethostname()}")
            stream.flush()
            yield
        finally:
            with suppress(OSError):  # Windows removes no open file; the next holder takes it over
                path.unlink()
            with suppress(OSError):  # a full disk
                stream.close()


def _acquired(path: Path, what: str, until: float) -> IO[str]:
    while True:
        stream = path.open("a+", encoding="utf-8")
        try:
            _lock(stream.fileno())
        except (BlockingIOError, PermissionError):
            with stream:
                stream.seek(0)
                holder = stream.read() or "another process"
            if time.monotonic() < until:
                time.sleep(PAUSE)
                continue
            raise InputError(
                f"{what} is being written by {holder}; wait until that is done"
            ) from None
        except BaseException:
            stream.close()
            raise
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(stream.fileno()), path.stat()):
                return stream
        stream.close()  # the last holder removed the file after it was opened here
