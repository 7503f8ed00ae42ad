"""What stands before every route: the size and pace of a body, the token, safe headers."""

from __future__ import annotations

import asyncio
import hmac
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from movers.web.failures import failure
from movers.web.limits import Limits

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

GUARDED = ("/v1/", "/metrics", "/openapi.json")
"""Where a token is needed if there is one; the page itself holds nothing."""
BODIES_HELD = 64
"""Full-size bodies the server holds at a time, over all connections."""


class BodyGate:
    """Reads a body before the application does: at most so many bytes in so many seconds."""

    def __init__(self, app: Application, limits: Limits) -> None:
        self.app = app
        self.limits = limits
        self.held = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on with its body complete, or answer 408, 413 or 429."""
        if scope["type"] != "http" or scope["method"] in ("GET", "HEAD"):
            await self.app(scope, receive, send)
            return
        body = bytearray()
        try:
            refusal = await self._read(scope, receive, body)
            if refusal is not None:
                await refusal(scope, receive, send)
                return
            await self.app(scope, _replay(bytes(body), receive), send)
        finally:
            self.held -= len(body)

    async def _read(self, scope: Scope, receive: Receive, body: bytearray) -> Any:
        """Fill `body`; the return value is the refusal, if there is one."""
        limit = self.limits.max_body
        declared = next((int(v) for k, v in scope["headers"] if k == b"content-length"), 0)
        if declared > limit:
            return self._too_large(declared)
        try:
            async with asyncio.timeout(self.limits.timeout):
                while (message := await receive())["type"] == "http.request":
                    chunk = message.get("body", b"")
                    body += chunk
                    self.held += len(chunk)
                    if len(body) > limit:
                        return self._too_large(len(body))
                    if self.held > BODIES_HELD * limit:
                        return failure(429, "too many requests are arriving at once", retry_after=1)
                    if not message.get("more_body", False):
                        return None
        except TimeoutError:
            return failure(
                408,
                f"{len(body)} bytes of the request arrived within {self.limits.timeout:g} s",
                close=True,
            )
        return failure(400, "the connection closed before the request was complete")

    def _too_large(self, size: int) -> Any:
        return failure(
            413,
            f"the request has {size} bytes or more and this server takes {self.limits.max_body}; "
            "send fewer pairs at a time, or start the server with --max-body",
        )


def _replay(body: bytes, receive: Receive) -> Receive:
    """A channel that gives the whole body at once, then whatever else comes."""
    messages = [{"type": "http.request", "body": body, "more_body": False}]

    async def replayed() -> Message:
        return messages.pop() if messages else await receive()

    return replayed


class TokenGate:
    """Lets only those in who know the token."""

    def __init__(self, app: Application, token: str) -> None:
        self.app = app
        self.expected = f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or answer 401."""
        if scope["type"] == "http" and scope["path"].startswith(GUARDED):
            given = next((v for k, v in scope["headers"] if k == b"authorization"), b"")
            if not hmac.compare_digest(given, self.expected):
                refusal = failure(401, "this server needs its token: Authorization: Bearer TOKEN")
                refusal.headers["WWW-Authenticate"] = "Bearer"
                await refusal(scope, receive, send)
                return
        await self.app(scope, receive, send)


POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
)
HEADERS = tuple(
    (name.encode(), value.encode())
    for name, value in {
        "content-security-policy": POLICY,
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-resource-policy": "same-origin",
        "cache-control": "no-cache",
    }.items()
)


class SafeHeaders:
    """Forbids browsers everything the page does not need."""

    def __init__(self, app: Application) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Add the headers to whatever is answered."""

        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), *HEADERS]
            await send(message)

        await self.app(scope, receive, sent)
