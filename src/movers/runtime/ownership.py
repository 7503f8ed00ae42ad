"""Whether files may be another user's work: what is executed must come from the user or root."""

from __future__ import annotations

import os
import stat
from pathlib import Path

OTHERS = stat.S_IWGRP | stat.S_IWOTH


def folder_mode() -> int:
    """Return the mode of folders to be trusted: closed, but what root makes is for all to read."""
    return 0o755 if _user() == 0 else 0o700


def suspicion(path: Path, *, shared: bool = False) -> str | None:
    """Say why a file or folder cannot be trusted; None if only the user and root could write it.

    A link has to be theirs as well as what it leads to. Others may write to a ``shared`` folder
    where they cannot rename what is in it, as in /tmp; its owner always can. Systems without owners
    of files keep the folders of a user from others by other means.
    """
    return of_status(path.lstat(), shared) or of_status(path.stat(), shared)


def distrust(path: Path) -> str | None:
    """Say which of a file, its folder and the one above cannot be trusted, and why; None if all."""
    for place, shared in ((path.parents[1], True), (path.parent, False), (path, False)):
        if place.exists() and (why := suspicion(place, shared=shared)):
            return f"in {place} are not used: it {why}"
    return None


def make_closed(folder: Path) -> None:
    """Make a folder of the user's, and the one above, if they are not there."""
    folder.parent.mkdir(folder_mode(), parents=True, exist_ok=True)
    folder.mkdir(folder_mode(), exist_ok=True)


def of_status(status: os.stat_result, shared: bool = False) -> str | None:
    """Say the same for the status of a file, of an open one too."""
    user = _user()
    if user is None:
        return None
    if status.st_uid not in (0, user):
        return f"belongs to user {status.st_uid}, not to user {user} or root"
    sticky = shared and status.st_mode & stat.S_ISVTX
    if status.st_mode & OTHERS and not (sticky or stat.S_ISLNK(status.st_mode)):
        return f"can be written by others (mode {stat.S_IMODE(status.st_mode):04o})"
    return None


def _user() -> int | None:
    return os.geteuid() if hasattr(os, "geteuid") else None
