"""Runs the application until it is told to stop, and then finishes what it accepted."""

from __future__ import annotations

import os
import signal
import socket
import warnings
from collections.abc import Callable
from typing import Any

import uvicorn

from movers.errors import InputError
from movers.notices import TruncationWarning, UndefinedWarning
from movers.web.app import create_app
from movers.web.limits import Limits
from movers.web.models import Models

IDLE_SECONDS = 60
"""How long a connection may wait for its next request."""

KERNEL_CACHE = ("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "64")
"""Torch keeps a compiled kernel for each shape of batch; a thousand of them, its own bound, take
longer to fill than to notice that memory grows."""


def bind(host: str, port: int) -> socket.socket:
    """Open the port before anything slow happens; 0 picks a free one."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=2048)
    except (OSError, OverflowError) as error:
        raise InputError(f"cannot listen on {host}:{port} ({error}); pass another --port") from None


def make_server(models: Models, limits: Limits, *, token: str | None = None) -> uvicorn.Server:
    """Make a server for loaded models; `run` is the way to start it as a program."""
    config = uvicorn.Config(
        create_app(models, limits, token=token),
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        ws="none",
        timeout_keep_alive=IDLE_SECONDS,
        timeout_graceful_shutdown=int(limits.timeout) + 5,
    )
    return uvicorn.Server(config)


def run(
    models: Models,
    limits: Limits,
    listener: socket.socket,
    *,
    token: str | None = None,
    ready: Callable[[], None],
) -> None:
    """Serve until SIGINT or SIGTERM.

    Parameters
    ----------
    listener
        Where to listen.
    ready
        Called when the first request would be answered at once.
    """
    _quieten()
    _allow_many_connections()
    os.environ.setdefault(*KERNEL_CACHE)
    models.warm_up()
    server = make_server(models, limits, token=token)

    def stop(*_: Any) -> None:
        server.should_exit = True

    # For signals that come before uvicorn listens to them, and those it raises once more when it
    # is done: a stop that was asked for is no error.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)
    ready()
    server.run(sockets=[listener])


def _quieten() -> None:
    """Keep what clients are told anyway out of the log, where every pair could add a line."""
    for category in (UndefinedWarning, TruncationWarning):
        warnings.filterwarnings("ignore", category=category)


def _allow_many_connections() -> None:
    """Raise the number of open files to what the system allows."""
    try:
        import resource
    except ImportError:  # not on Windows
        return
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
