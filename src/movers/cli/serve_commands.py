"""The command that serves the API and the page."""

from __future__ import annotations

from functools import partial
from ipaddress import ip_address
from pathlib import Path
from secrets import token_urlsafe
from typing import Annotated

from movers.cli.messages import say
from movers.cli.options import SERVER_DEFAULTS, ServerOptions
from movers.cli.parameters import Parameter, Section
from movers.errors import DependencyError
from movers.web.limits import Limits

LIMITS = Section("Limits", "How much the server takes on; beyond that it says so.")
Bounds = Annotated[Limits, LIMITS]


def serve(
    *,
    host: str = "127.0.0.1",
    port: int = 8000,
    model: tuple[str, ...] = (),
    token: Annotated[str | None, Parameter(env_var="MOVERS_TOKEN")] = None,
    name: tuple[str, ...] = (),
    index: tuple[str, ...] = (),
    statistics: tuple[Path, ...] = (),
    options: ServerOptions = SERVER_DEFAULTS,
    limits: Bounds = Limits(),  # noqa: B008 (frozen)
) -> None:
    """Serve comparisons and searches over HTTP: a page at /, the API at /v1, its manual at /docs.

    Example: `movers serve --port 8000 --index news=news.index`

    Parameters
    ----------
    host
        Address to listen on; 0.0.0.0 lets other machines in, who need a token.
    port
        Port to listen on; 0 picks a free one.
    model
        Hugging Face name or folder of an encoder; may be given several times. Requests name one
        of these, or get the first. Default: the model installed with movers.
    token
        What clients must send as "Authorization: Bearer TOKEN"; better set in the environment.
        Default: none while only this machine can connect, else one that is made and printed.
    name
        Another name of this machine, such as the one a proxy passes on; may be given several
        times. While only this machine can connect, requests for other names are refused.
    index
        An index to search, as NAME=FOLDER; may be given several times. What is added to the folder
        meanwhile is found at once.
    statistics
        Files made by `movers fit`; each serves the model it was fitted with.
    """
    try:
        from movers.web.middleware import check_token
        from movers.web.models import Models, parse_indexes
        from movers.web.server import bind, run
    except ModuleNotFoundError as error:
        raise DependencyError(
            f"serving needs the package {error.name}: pip install 'movers[web]'"
        ) from None
    check_token(token)
    with bind(host, port) as listener:
        shown = f"[{host}]" if ":" in host else host
        address = f"http://{shown}:{listener.getsockname()[1]}"
        if token is None and not ip_address(listener.getsockname()[0]).is_loopback:
            token = token_urlsafe()
            say(f"other machines reach {host}, so that clients need a token: {token}")
        indexes = parse_indexes(index)
        models = Models.load(model, statistics=statistics, indexes=indexes, **vars(options))
        ready = partial(say, f"serving on {address}")
        run(models, limits, listener, token=token, names=name, ready=ready)
    say("stopped")
