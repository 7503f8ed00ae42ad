"""Being connected to Ray: with a cluster or on this machine, and what its failures mean."""

from __future__ import annotations

import logging
import os
import re
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from movers import errors
from movers.errors import DependencyError, InputError, MoversError
from movers.runtime.threads import available_threads

OURS = re.compile(r"^movers\.errors\.(\w+): (.+)$", re.MULTILINE)
ANY = re.compile(r"^[\w.]+(?:Error|Exception|Invalid): .+$", re.MULTILINE)
"""Lines of a worker's traceback that name an error."""

SOCKET = re.compile(r"^(?:ray://)?\[?([^/]+?)\]?:(\d+)$")
PROBE_SECONDS = 5.0
REASONS = (
    "it may be of another version of Ray or Python, or want a token, in which case set "
    "RAY_AUTH_MODE=token and RAY_AUTH_TOKEN"
)


def import_ray() -> Any:
    """Import Ray with its data library, or name the extra it comes with."""
    try:
        import ray
        import ray.data
    except ImportError as error:
        raise DependencyError(
            f"Ray is not installed ({error}); it comes with an extra: pip install movers[ray]"
        ) from error
    return ray


@contextmanager
def cluster(address: str | None = None) -> Iterator[None]:
    """Connect to a running cluster, or start Ray on this machine; leave it in the end.

    Inside a session that is connected already, use that. Without an address, ``RAY_ADDRESS``
    names one. On this machine Ray gets one CPU more than there are, to read and write with
    beside a worker on each.
    """
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_DATA_LOG_LEVEL", "CRITICAL")  # errors come back as our own
    ray = import_ray()
    if ray.is_initialized():
        yield
        return
    address = address or os.environ.get("RAY_ADDRESS") or "local"
    _probe(address)
    own = {"num_cpus": available_threads() + 1, "include_dashboard": False}
    try:
        ray.init(
            address=address,
            log_to_driver=False,
            logging_level=logging.ERROR,
            **(own if address == "local" else {}),
        )
    except (ConnectionError, ValueError) as error:
        raise InputError(
            f"cannot connect to a Ray cluster at {address!r}: {error}; {REASONS}"
        ) from error
    try:
        yield
    finally:
        ray.shutdown()


def _probe(address: str) -> None:
    """Refuse an address where nothing listens, which Ray itself would wait for."""
    if found := SOCKET.match(address):
        try:
            socket.create_connection((found[1], int(found[2])), PROBE_SECONDS).close()
        except (OSError, OverflowError) as error:
            raise InputError(
                f"nothing answers at {address!r} ({error}); start a cluster there with "
                "'ray start --head', or name another address"
            ) from error


@contextmanager
def plain_errors() -> Iterator[None]:
    """Turn what Ray reports of a failed task into the error the task raised."""
    ray = import_ray()
    try:
        yield
    except ray.exceptions.RayError as error:
        if ours := OURS.findall(str(error)):
            name, message = ours[-1]  # behind those that caused it
            raise getattr(errors, name, MoversError)(message) from error
        named = ANY.search(str(error))
        raise MoversError(f"the Ray job failed: {named[0] if named else error}") from error
