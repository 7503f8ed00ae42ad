"""Short answers that take long to find, kept in the user's cache for other processes."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from platformdirs import user_cache_path

from movers.runtime.atomic import replacing

FOLDER = "remembered"


def cache_folder() -> Path:
    """Return the folder of everything that is kept for a user, by the environment's settings."""
    if named := os.environ.get("MOVERS_CACHE") or os.environ.get("NUMBA_CACHE_DIR"):
        return Path(named).expanduser().absolute()
    return user_cache_path("movers", appauthor=False)


def remembered(kind: str, about: object, find: Callable[[], str]) -> str:
    """What `find` says, looked up if it was found for the same ``about`` before.

    Where nothing can be kept it is found every time.
    """
    key = hashlib.sha256(repr((kind, about)).encode()).hexdigest()[:32]
    place = cache_folder() / FOLDER / f"{kind}-{key}"
    with suppress(OSError):
        return place.read_text("utf-8")
    found = find()
    with suppress(OSError):
        place.parent.mkdir(parents=True, exist_ok=True)
        with replacing(place) as draft:
            draft.write_text(found, "utf-8")
    return found
