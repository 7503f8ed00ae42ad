"""Middleware around every route: who is meant, who asks, what is counted, bodies read whole."""

from __future__ import annotations

import asyncio
import hmac
import re
import time
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from fastapi.responses import JSONResponse
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from movers.errors import InputError
from movers.web.counters import Counters
from movers.web.failures import CLOSING, INTERNAL, failure, log_failure
from movers.web.limits import Limits

GUARDED = ("/v1/", "/metrics", "/openapi.json")
"""Where a token is needed if there is one; the page itself holds nothing."""
LOOPBACK = ("127.0.0.1", "::1", "localhost")
_PORT = re.compile(r":\d*$")
LEFT = 499
"""What is counted where nothing was answered, for the client had left."""
BODIES_HELD = 64
"""Full-size bodies the server holds at a time, over all connections."""
UNKNOWN = "this server needs its token: Authorization: Bearer TOKEN", "Bearer"
WRONG = "this is not the token of this server", 'Bearer error="invalid_token"'
"""What is said without a token and with another, and what the header asks for."""
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


def check_token(token: str | None) -> None:
    """Refuse a token that no client could send; None is no token."""
    if token is not None and token.split() != [token]:
        what = "has blanks in it" if token.strip() else "is empty"
        raise InputError(f"the token {what}; set MOVERS_TOKEN to one without, or unset it")


def guarded(
    app: ASGIApp,
    *,
    counters: Counters,
    token: str | None = None,
    hosts: Collection[str] | None = None,
) -> ASGIApp:
    """Return an application that gets only requests that `refusal` has nothing against.

    All are counted and timed, and what nobody expected is logged. Answers forbid browsers
    everything the page does not need; HEAD is answered as GET, without the body.
    """

    async def answered(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await app(scope, receive, send)
        if head := scope["method"] == "HEAD":
            scope = {**scope, "method": "GET"}
        status, started = LEFT, time.perf_counter()

        async def sent(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message.get("headers", ()), *HEADERS]
            elif message["type"] == "http.response.body" and head:
                message = {**message, "body": b""}
            await send(message)

        refused = refusal(Headers(scope=scope), scope["path"], token, hosts)
        try:
            await (refused or app)(scope, receive, sent)
        except Exception as error:
            log_failure(scope["path"], error)
            if status == LEFT:
                await failure(500, INTERNAL)(scope, receive, sent)
        finally:
            # Only routes that exist become labels: paths are the client's to choose.
            route = getattr(scope.get("route"), "path", "other")
            counters.observe_request(route, status, time.perf_counter() - started)

    return answered


def refusal(
    headers: Headers, path: str, token: str | None, hosts: Collection[str] | None
) -> JSONResponse | None:
    """Return what to answer to a request that goes no further; None for all others.

    It is 400 for a body whose length is told in two ways: servers and proxies differ in which they
    believe, and a second request can hide between. It is 421 for what is not meant for this server
    by name: else any page could have its own name point to this machine and read answers as its
    own. It is 401 without the token.
    """
    if {"content-length", "transfer-encoding"} <= set(headers):
        why = "a request has Content-Length or Transfer-Encoding, not both"
        return failure(400, why, headers=CLOSING)
    if hosts is not None:
        name = _PORT.sub("", headers.get("host", "")).strip("[]").lower()
        ours = sorted({host.lower() for host in hosts})
        if name and name not in ours:
            why = f"this server is not {name!r} but {', '.join(ours)}; start it with --name if a "
            return failure(421, f"{why}proxy calls it so")
    if token is not None and path.startswith(GUARDED):
        scheme, _, given = headers.get("authorization", "").partition(" ")
        known = scheme.lower() == "bearer" and given
        if not known or not hmac.compare_digest(given.strip().encode("latin-1"), token.encode()):
            message, asked = WRONG if known else UNKNOWN
            return failure(401, message, headers={"WWW-Authenticate": asked})
    return None


@dataclass(eq=False)
class BodyReader:
    """Reads a body before the application does: at most so many bytes in so many seconds.

    Whoever leaves before the answer is there is not waited for: the application is cancelled.
    """

    app: ASGIApp
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
            message = f"bodies are taken as they are, not in the encoding {encoding!r}"
            return failure(415, message, headers={"Accept-Encoding": "identity"})
        size = int(headers.get("content-length") or 0)
        try:
            async with asyncio.timeout(limits.timeout):
                while size <= limits.max_body:
                    part = await receive()
                    if part["type"] != "http.request":
                        return failure(400, "the connection closed before the request was complete")
                    chunk = part.get("body", b"")
                    body += chunk
                    self.held += len(chunk)
                    size = max(size, len(body))
                    if self.held > BODIES_HELD * limits.max_body:
                        message = "too many requests are arriving at once"
                        return failure(429, message, headers={"Retry-After": "1"})
                    if size <= limits.max_body and not part.get("more_body", False):
                        return None
        except TimeoutError:
            late = f"{len(body)} bytes of the request arrived within {limits.timeout:g} s"
            return failure(408, late, headers=CLOSING)
        return failure(
            413,
            f"the request has {size} bytes or more and this server takes {limits.max_body}; "
            "send fewer pairs at a time, or start the server with --max-body",
        )


async def _left(receive: Receive) -> None:
    """Wait until the client leaves, or has its answer."""
    while (await receive())["type"] != "http.disconnect":
        pass
