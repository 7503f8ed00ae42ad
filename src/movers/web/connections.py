"""Connections: how many there may be, and how long each may take over what."""

from __future__ import annotations

import asyncio
import errno
import logging
import socket
import time
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any, cast

import h11
from starlette.types import Message, Receive, Scope, Send
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
"""How long a client that still sends has to read its answer: what arrives at a closed connection
could take the answer back."""
EXHAUSTED = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)
RESERVED = 128
"""Descriptors kept for everything but connections."""


class Lingering:
    """A transport that, while a client still sends, is closed for writing first."""

    def __init__(self, transport: asyncio.Transport, still_sends: Callable[[], bool]) -> None:
        self._transport, self._still_sends = transport, still_sends
        self._end: asyncio.TimerHandle | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def is_closing(self) -> bool:
        """Tell whether nothing more is read or written."""
        return self._end is not None or self._transport.is_closing()

    def close(self) -> None:
        """Close, now or when the client had time to read."""
        if self._still_sends():
            self.linger()
        else:
            self._transport.close()

    def linger(self) -> None:
        """Write nothing more, and close when the client does, or soon."""
        if not self.is_closing():
            self._transport.write_eof()
            self._transport.resume_reading()
            loop = asyncio.get_running_loop()
            self._end = loop.call_later(LINGER_SECONDS, self._transport.abort)

    def lost(self) -> None:
        """Wait no longer."""
        if self._end is not None:
            self._end.cancel()


class Connection(H11Protocol):
    """Uvicorn's connection, with an end to every wait; turned away if it is one more than most.

    What is answered before its body has arrived is the last of its connection: where the rest of
    that body ends, and a next request would begin, is up to a client that need not send it.
    """

    def __init__(self, *, most: int, **given: Any) -> None:
        super().__init__(**given)
        self.most, self.application, self.app = most, self.app, self._answer
        self.timers: dict[str, asyncio.TimerHandle] = {}

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for the first request."""
        self.lingering = Lingering(transport, self._still_sends)
        super().connection_made(cast(asyncio.Transport, self.lingering))
        if len(self.connections) > self.most:
            message = f"this server holds {self.most} connections and has no room for another"
            self.refuse(503, message, {"Retry-After": "1", **CLOSING})
        self._watch()

    def _still_sends(self) -> bool:
        return self.conn.their_state in (h11.SEND_BODY, h11.ERROR)

    def data_received(self, data: bytes) -> None:
        """Take what a client sends, unless it has its last answer."""
        if not self.transport.is_closing():
            super().data_received(data)
            self._watch()

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, and tell the client if it is the last one."""

        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start" and self._still_sends():
                headers = [pair for pair in message["headers"] if pair[0].lower() != b"connection"]
                message = {**message, "headers": [*headers, (b"connection", b"close")]}
            await send(message)

        application = self.application
        if not scope["http_version"].startswith("1."):
            message = f"this server speaks HTTP/1.1, not HTTP/{scope['http_version']}"
            application = failure(505, message, headers=CLOSING)
        await application(scope, receive, sent)

    def _watch(self) -> None:
        """Give the headers some time, however they drip; a request under way has its own end."""
        closing = self.transport.is_closing()
        if closing or (self.cycle is not None and not self.cycle.response_complete):
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
        """Refuse what is no HTTP, in the shape of all errors, unless it has its answer."""
        if self.conn.our_state is h11.SEND_BODY:  # closes when it is sent
            return
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            self.refuse(400, "this is not an HTTP request")
        self.transport.close()

    def refuse(self, status: int, message: str, headers: Mapping[str, str] = CLOSING) -> None:
        """Say why, and close when the client had time to read it."""
        if self.cycle is not None and not self.cycle.response_complete:
            self.cycle.disconnected = True  # what the application still says goes nowhere
            self.cycle.message_event.set()
        response = failure(status, message, headers=headers)
        head = [f"HTTP/1.1 {status} {HTTPStatus(status).phrase}".encode()]
        head += [name + b": " + value for name, value in response.raw_headers]
        self.transport.write(b"\r\n".join([*head, b"", bytes(response.body)]))
        self.lingering.linger()
        self._watch()

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
        self.lingering.lost()
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
