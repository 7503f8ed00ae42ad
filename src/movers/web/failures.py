"""Errors as clients see them: one shape, a status that fits, a message that helps."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from functools import reduce
from http import HTTPStatus
from traceback import format_tb
from typing import Any, ClassVar

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from movers.errors import Choose, MoversError, Wording
from movers.search.manifest import FolderError
from movers.settings import HttpField, table

logger = logging.getLogger("movers")

SHOWN = 600
"""Characters of a message; some quote a sentence."""
INTERNAL = "something went wrong inside the server; its log has the details"
COMPLAINTS, QUOTED = 3, 200
"""Complaints about the shape of a request: how many, and characters of each."""


class OverHttp(Wording):
    """Remedies for clients: what a request may choose, or whoever starts the server."""

    acts: ClassVar = {
        "fit": (Choose("statistics", then="with a file made by movers fit"),),
        "learn": (),
        "rank": (),
    }

    def choose(self, remedy: Choose) -> tuple[str, str] | None:
        """Return a field of a request, or an option of the server."""
        facts = table().get(remedy.name)
        if remedy.name == "method" or (facts and facts.http):
            value = "none" if remedy.value is None else remedy.value
            return "pass", f'"{remedy.name}": {json.dumps(value)}'
        if facts is None:
            return None
        value = "" if remedy.value is ... else f" {remedy.value}"
        return "start the server with", f"--{remedy.name}{value}"


class OnPage(Wording):
    """Remedies for readers of the page: what its controls can do about it."""

    acts: ClassVar = {"fit": (), "learn": (), "name layers": (Choose("layers"),), "rank": ()}

    def choose(self, remedy: Choose) -> tuple[str, str] | None:
        """Return a control, and what it calls the value."""
        facts = table().get(remedy.name)
        field = METHOD if remedy.name == "method" else facts.http if facts else None
        if field is None or not field.control:
            return None
        if remedy.value is ...:
            return "change", field.control
        value = "none" if remedy.value is None else str(remedy.value)
        return "set", f"{field.control} to {field.options.get(value, value)}"

    def name(self, message: str) -> str:
        """Return a message with sentences called as they are on the page."""
        return reduce(lambda text, names: text.replace(*names), LETTERS.items(), message)


HTTP, PAGE, METHOD = OverHttp(), OnPage(), HttpField(control="Method")
LETTERS = {"the source": "A", "the target": "B", "the other sentence": "C"}
"""What messages call sentences, and what the page does."""
CLOSING = {"Connection": "close"}


def sendable(message: str) -> str:
    """Return a message as text that can be sent."""
    message = message.encode("utf-8", "backslashreplace").decode()
    return message if len(message) <= SHOWN else f"{message[:SHOWN]} …"


def failure(
    status: int, message: str, *, spoken: str = "", headers: Mapping[str, str] | None = None
) -> JSONResponse:
    """Say what went wrong, as every route does; ``spoken`` is how the page says it."""
    kind = HTTPStatus(status).phrase.lower().replace(" ", "_")
    said = {"message": sendable(message), "spoken": sendable(PAGE.name(spoken or message))}
    return JSONResponse({"error": {**said, "type": kind}}, status, headers)


def handle_failures(app: FastAPI) -> None:
    """Turn what routes raise on purpose into answers of the one shape."""
    for kind in (MoversError, RequestValidationError, HTTPException):
        app.add_exception_handler(kind, _answered)


async def _answered(request: Request, error: Exception) -> JSONResponse:
    if isinstance(error, RequestValidationError):
        complaints = error.errors()[:COMPLAINTS]
        status = 400 if complaints[0]["type"] == "json_invalid" else 422
        message = "; ".join(_complaint(complaint)[:QUOTED] for complaint in complaints)
        return failure(status, message)
    if isinstance(error, FolderError):  # nothing a client could do about, nor need know
        logger.error("%s", error)
        return failure(500, INTERNAL)
    if isinstance(error, MoversError):
        return failure(422, error.worded(HTTP), spoken=error.worded(PAGE))
    assert isinstance(error, HTTPException)
    if isinstance(error.__cause__, RecursionError) and error.status_code == 400:
        return failure(400, "the body is not JSON that can be read: it is nested too deep")
    return failure(error.status_code, error.detail, headers=error.headers)


def log_failure(path: str, error: BaseException) -> None:
    """Log where an error comes from, without its message, which may quote a sentence."""
    frames = "".join(format_tb(error.__traceback__))
    logger.error("%s failed with %s\n%s", path, type(error).__name__, frames)


def _complaint(error: Any) -> str:
    """Return what is wrong where; the offending value, perhaps large or no JSON, is left out."""
    place = error["loc"][1:]
    if error["type"] == "json_invalid":
        return f"the body is not valid JSON: {error['ctx']['error']} at {place[0]}"
    if not place:
        return "the body must be a JSON object, sent as application/json"
    return f"{'.'.join(map(str, place))}: {error['msg']}"
