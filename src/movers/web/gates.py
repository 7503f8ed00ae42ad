"""What stands before every route: who is meant, who asks, the size and pace of a body."""

from __future__ import annotations

import asyncio
import hmac
import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from fastapi.responses import JSONResponse
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from movers.errors import InputError
from movers.web.failures import CLOSING, failure
from movers.web.limits import Limits

GUARDED = ("/v1/", "/metrics", "/openapi.json")
"""Where a token is needed if there is one; the page itself holds nothing."""
LOOPBACK = ("127.0.0.1", "::1", "localhost")
_PORT = re.compile(r":\d*$")
BODIES_HELD = 64
"""Full-size bodies the server holds at a time, over all connections."""


@dataclass(eq=False)
class Gate:
    """What stands before an application; here, to refuse some requests."""

    app: ASGIApp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or answer it with the refusal."""
        refusal = self.refusal(scope) if scope["type"] == "http" else None
        await (refusal or self.app)(scope, receive, send)

    def refusal(self, scope: Scope) -> JSONResponse | None:
        """What to answer to a request that goes no further."""


class FramingGate(Gate):
    """Refuses a body whose length is told in two ways.

    Servers and proxies differ in which they believe, and a second request can hide between.
    """

    def refusal(self, scope: Scope) -> JSONResponse | None:
        """Answer 400 to both headers at once, and close."""
        if not {"content-length", "transfer-encoding"} <= set(Headers(scope=scope)):
            return None
        told = "a request has Content-Length or Transfer-Encoding, not both"
        return failure(400, told, headers=CLOSING)


@dataclass(eq=False)
class BodyGate(Gate):
    """Reads a body before the application does: at most so many bytes in so many seconds.

    Whoever leaves before the answer is there is not waited for: the application is cancelled.
    """

    limits: Limits
    held: int = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on with its body complete, or answer 408, 413, 415 or 429."""
        if scope["type"] != "http" or scope["method"] in ("GET", "HEAD"):
            return await self.app(scope, receive, send)
        body = bytearray()

        async def replayed() -> Message:
            return {"type": "http.request", "body": bytes(body), "more_body": False}

        try:
            if refusal := await self._read(scope, receive, body):
                await refusal(scope, receive, send)
                return
            answer = asyncio.ensure_future(self.app(scope, replayed, send))
            end = asyncio.ensure_future(_left(receive))
            try:
                await asyncio.wait((answer, end), return_when=asyncio.FIRST_COMPLETED)
                if answer.done():
                    answer.result()
            finally:
                answer.cancel()
                end.cancel()
        finally:
            self.held -= len(body)

    async def _read(self, scope: Scope, receive: Receive, body: bytearray) -> Any:
        """Fill `body`; the return value is the refusal, if there is one."""
        headers, limits = Headers(scope=scope), self.limits
        encoding = headers.get("content-encoding", "")
        if encoding.lower() not in ("", "identity"):
            told = f"bodies are taken as they are, not in the encoding {encoding!r}"
            return failure(415, told, headers={"Accept-Encoding": "identity"})
        declared = int(headers.get("content-length") or 0)
        if declared > limits.max_body:
            return self._too_large(declared)
        try:
            async with asyncio.timeout(limits.timeout):
                while (message := await receive())["type"] == "http.request":
                    chunk = message.get("body", b"")
                    body += chunk
                    self.held += len(chunk)
                    if len(body) > limits.max_body:
                        return self._too_large(len(body))
                    if self.held > BODIES_HELD * limits.max_body:
                        told = "too many requests are arriving at once"
                        return failure(429, told, headers={"Retry-After": "1"})
                    if not message.get("more_body", False):
                        return None
        except TimeoutError:
            told = f"{len(body)} bytes of the request arrived within {limits.timeout:g} s"
            return failure(408, told, headers=CLOSING)
        return failure(400, "the connection closed before the request was complete")

    def _too_large(self, size: int) -> Any:
        return failure(
            413,
            f"the request has {size} bytes or more and this server takes {self.limits.max_body}; "
            "send fewer pairs at a time, or start the server with --max-body",
        )


async def _left(receive: Receive) -> None:
    """Wait until the client leaves, or has its answer."""
    while (await receive())["type"] != "http.disconnect":
        pass


def check_token(token: str | None) -> None:
    """Refuse a token that no client could send; None is no token."""
    if token is not None and token.split() != [token]:
        what = "has blanks in it" if token.strip() else "is empty"
        raise InputError(f"the token {what}; set MOVERS_TOKEN to one without, or unset it")


UNKNOWN = "this server needs its token: Authorization: Bearer TOKEN", "Bearer"
WRONG = "this is not the token of this server", 'Bearer error="invalid_token"'
"""What is said without a token and with another, and what the header asks for."""


@dataclass(eq=False)
class TokenGate(Gate):
    """Lets only those in who know the token."""

    token: str

    def refusal(self, scope: Scope) -> JSONResponse | None:
        """Answer 401 unless the token is there."""
        scheme, _, token = Headers(scope=scope).get("authorization", "").partition(" ")
        known = scheme.lower() == "bearer" and token
        right = known and hmac.compare_digest(token.strip().encode("latin-1"), self.token.encode())
        if right or not scope["path"].startswith(GUARDED):
            return None
        message, wanted = WRONG if known else UNKNOWN
        return failure(401, message, headers={"WWW-Authenticate": wanted})


@dataclass(eq=False)
class HostGate(Gate):
    """Takes only requests that are meant for this server by name.

    Without it, any page could have its own name point to this machine and read answers as its own.
    """

    hosts: Collection[str]

    def refusal(self, scope: Scope) -> JSONResponse | None:
        """Answer 421 to what is meant for others."""
        name = _PORT.sub("", Headers(scope=scope).get("host", "")).strip("[]").lower()
        hosts = sorted({host.lower() for host in self.hosts})
        if not name or name in hosts:
            return None
        return failure(
            421,
            f"this server is not {name!r} but {', '.join(hosts)}; start it with --name if a proxy "
            "calls it so",
        )


HEADERS = (
    (
        b"content-security-policy",
        b"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
        b"connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-cache"),
)


class SafeAnswers(Gate):
    """Forbids browsers everything the page does not need; answers HEAD as GET, without the body."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and add the headers to whatever is answered."""
        head = scope["type"] == "http" and scope["method"] == "HEAD"

        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), *HEADERS]
            elif message["type"] == "http.response.body" and head:
                message = {**message, "body": b""}
            await send(message)

        await self.app({**scope, "method": "GET"} if head else scope, receive, sent)
