"""Connections: how many there may be, and how long each may take over what."""

from __future__ import annotations

import asyncio
import errno
import logging
import socket
import time
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

from movers.web.failures import CLOSING, failure

logger = logging.getLogger("movers")

HEADER_SECONDS = 10.0
"""How long a request may take to show its headers, the first byte of a connection included."""
IDLE_SECONDS = 60
"""How long a connection may wait for its next request."""
STALL_SECONDS = 30.0
"""How long an answer may lie about because nobody reads it."""
LINGER_SECONDS = 1.0
"""How long a refused client has to read why: closing at once could take the answer back."""
EXHAUSTED = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)
RESERVED = 128
"""Descriptors kept for everything but connections."""


class Connection(H11Protocol):
    """Uvicorn's connection, with an end to every wait; turned away if it is one more than most."""

    def __init__(self, *, most: int, **given: Any) -> None:
        super().__init__(**given)
        self.most, self.refused = most, False
        self.timers: dict[str, asyncio.TimerHandle] = {}

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for the first request."""
        super().connection_made(transport)
        if len(self.connections) > self.most:
            message = f"this server holds {self.most} connections and has no room for another"
            self.refuse(503, message, {"Retry-After": "1", **CLOSING})
        self._watch()

    def data_received(self, data: bytes) -> None:
        """Take what a client sends, unless it was refused already."""
        if not self.refused:
            super().data_received(data)
            self._watch()

    def _watch(self) -> None:
        """Give the headers some time, however they drip; a request under way has its own end."""
        if self.refused or (self.cycle is not None and not self.cycle.response_complete):
            self._stop("headers")
        elif "headers" not in self.timers:
            self.timers["headers"] = self.loop.call_later(HEADER_SECONDS, self._late)

    def _stop(self, name: str) -> None:
        if name in self.timers:
            self.timers.pop(name).cancel()

    def _late(self) -> None:
        begun = len(self.conn.trailing_data[0])
        if not begun or self.cycle is not None:
            return self.transport.close()
        self.refuse(408, f"{begun} bytes of the headers arrived within {HEADER_SECONDS:g} seconds")

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no HTTP, in the shape of all errors."""
        self.refuse(400, "this is not an HTTP request")

    def refuse(self, status: int, message: str, headers: Mapping[str, str] = CLOSING) -> None:
        """Say why, and close when the client had time to read it."""
        self.refused = True
        self._watch()
        response = failure(status, message, headers=headers)
        head = [f"HTTP/1.1 {status} {HTTPStatus(status).phrase}".encode()]
        head += [name + b": " + value for name, value in response.raw_headers]
        self.transport.write(b"\r\n".join([*head, b"", bytes(response.body)]))
        self.transport.write_eof()
        self.timers["refusal"] = self.loop.call_later(LINGER_SECONDS, self.transport.abort)

    def pause_writing(self) -> None:
        """Begin to wait for a client that does not read."""
        super().pause_writing()
        self._stop("answer")
        self.timers["answer"] = self.loop.call_later(STALL_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        """Go on, for the client reads."""
        super().resume_writing()
        self._stop("answer")

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop all waiting."""
        super().connection_lost(exc)
        for timer in self.timers.values():
            timer.cancel()


class Listener(socket.socket):
    """A listening socket that takes a rest where the system has nothing left for a connection.

    The event loop means to try again after a second, but asks a thousand times before that.
    """

    resting_until = 0.0

    def accept(self) -> tuple[socket.socket, Any]:
        """Accept a connection."""
        now = time.monotonic()
        if now < self.resting_until:
            raise BlockingIOError(errno.EAGAIN, "resting")
        try:
            return super().accept()
        except OSError as error:
            if error.errno in EXHAUSTED:
                self.resting_until = now + 0.5
            raise


def report(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Log an error of the event loop; a lack of descriptors, which may last, in one line."""
    error = context.get("exception")
    if isinstance(error, OSError) and error.errno in EXHAUSTED:
        logger.warning("cannot accept connections for a moment: %s", error)
    else:
        loop.default_exception_handler(context)


def most_connections(wanted: int) -> int:
    """Open as many files as the system allows; the connections there is room for."""
    try:
        import resource
    except ImportError:  # not on Windows
        return wanted
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return wanted if hard == resource.RLIM_INFINITY else max(1, min(wanted, hard - RESERVED))
