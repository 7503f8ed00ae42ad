"""Runs the application until it is told to stop, and then finishes what it accepted."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
import warnings
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from functools import partial
from ipaddress import ip_address
from typing import Any

import uvicorn

from movers.errors import InputError
from movers.web.app import create_app
from movers.web.connections import IDLE_SECONDS, Connection, Listener, most_connections, report
from movers.web.limits import Limits
from movers.web.middleware import LOOPBACK
from movers.web.models import Models

logger = logging.getLogger("movers")

BACKLOG = 2048
KERNEL_CACHE = ("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "64")
"""Torch keeps a compiled kernel for each shape of batch; a thousand of them, its own bound, take
longer to fill than to notice that memory grows."""


SILENT = (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning)
"""Warnings for programmers, which Python does not show either."""


def bind(host: str, port: int) -> Listener:
    """Open the port before anything slow happens; 0 picks a free one."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        opened = socket.create_server((host, port), family=family, backlog=BACKLOG)
    except (OSError, OverflowError) as error:
        raise InputError(f"cannot listen on {host}:{port} ({error}); pass another --port") from None
    listener = Listener(opened.family, opened.type, opened.proto, fileno=opened.detach())
    # Connections inherit it. Without, the end of an answer waits until its beginning is
    # acknowledged, which a client on a kept connection puts off for 40 ms.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


def make_server(
    models: Models,
    limits: Limits,
    *,
    token: str | None = None,
    hosts: Collection[str] | None = None,
) -> uvicorn.Server:
    """Make a server for loaded models; `run` is the way to start it as a program."""
    most = most_connections(limits.connections)
    config = uvicorn.Config(
        create_app(models, limits, token=token, hosts=hosts),
        http=partial(Connection, most=most),  # type: ignore[arg-type]
        loop="asyncio",  # others accept connections by themselves, and know nothing of a rest
        backlog=BACKLOG,
        log_level="error",  # what clients do wrong is theirs to know
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
    names: Collection[str] = (),
    ready: Callable[[], None],
) -> None:
    """Serve until SIGINT or SIGTERM.

    Parameters
    ----------
    listener
        Where to listen. On loopback, requests must be meant for this machine by name, too: a page
        from elsewhere can have its own name point here.
    names
        More names of this machine, for proxies that pass on what they were called.
    ready
        Called when the first request would be answered at once.
    """
    os.environ.setdefault(*KERNEL_CACHE)
    models.warm_up()
    address = listener.getsockname()[0]
    hosts = {*LOOPBACK, address, *names} if ip_address(address).is_loopback else None
    server = make_server(models, limits, token=token, hosts=hosts)

    def stop(*_: Any) -> None:
        server.should_exit = True

    # For signals that come before uvicorn listens to them, and those it raises once more when it
    # is done: a stop that was asked for is no error.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)

    async def serve() -> None:
        asyncio.get_running_loop().set_exception_handler(report)
        await server.serve(sockets=[listener])

    with counted_warnings():
        ready()
        asyncio.run(serve())


@contextmanager
def counted_warnings() -> Iterator[None]:
    """Log how many warnings of a kind there were, at powers of ten, and never what they say.

    Some quote the sentences of clients, who are told of them anyway.
    """
    counts: Counter[str] = Counter()

    def count(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
        counts[category.__name__] += 1
        if str(number := counts[category.__name__]).strip("0") == "1":
            logger.warning("%s: %d so far", category.__name__, number)

    with warnings.catch_warnings():
        warnings.simplefilter("always")  # others keep the text of each to know it again
        for category in SILENT:
            warnings.simplefilter("ignore", category)
        warnings.showwarning = count
        yield
