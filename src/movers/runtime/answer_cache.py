"""Short answers that take long to find, kept in the user's cache for other processes."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from zlib import crc32

from platformdirs import user_cache_path

from movers.runtime import ownership
from movers.runtime.atomic import replacing
from movers.runtime.notices import Notice, notify

FOLDER = "remembered"


class CacheWarning(Notice):
    """What is kept in the user's cache cannot be kept there or trusted."""


def cache_folder() -> Path:
    """Return the folder of everything that is kept for a user, by the environment's settings."""
    if named := os.environ.get("MOVERS_CACHE") or os.environ.get("NUMBA_CACHE_DIR"):
        return Path(named).expanduser().absolute()
    return user_cache_path("movers", appauthor=False)


def trusted_place(kind: str, name: str) -> Path | None:
    """Return where an answer is kept, in a folder that is made; None where none can be kept.

    What others than the user and root may have written is not taken, with a warning.
    """
    path = cache_folder() / kind / name
    try:
        ownership.make_closed(path.parent)
        why = ownership.distrust(path)
    except OSError:
        return None
    if why is None:
        return path
    notify(
        f"{kind} {why}, so every process finds its own; set MOVERS_CACHE to a folder of your own",
        CacheWarning,
    )
    return None


def remembered(kind: str, about: object, find: Callable[[], str]) -> str:
    """Return what `find` says, looked up if it was found for the same ``about`` before.

    Where nothing can be kept it is found every time.
    """
    key = hashlib.sha256(repr((kind, about)).encode()).hexdigest()[:32]
    place = trusted_place(FOLDER, f"{kind}-{key}")
    if place is None:
        return find()
    with suppress(OSError, ValueError):
        checksum, _, known = place.read_text("utf-8").partition(" ")
        if checksum == _checksum(known):
            return known
    answer = find()
    with suppress(OSError), replacing(place, closed=True) as draft:
        draft.write_text(f"{_checksum(answer)} {answer}", "utf-8")
    return answer


def _checksum(text: str) -> str:
    return f"{crc32(text.encode()):08x}"
