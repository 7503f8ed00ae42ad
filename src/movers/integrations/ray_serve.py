"""An index behind one address, on as many machines of a Ray cluster as hold its shares.

Every node sees the folder under the same path. Each share of the files is searched by a deployment
of its own, which maps these files alone; the front asks them all and merges. An answer is exact,
and of one state of the folder: shares that answer from different states are asked again.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from movers.errors import DependencyError, InputError
from movers.integrations.ray_search import Share, merge
from movers.io.pairs import check_queries
from movers.search.index import Index
from movers.search.manifest import Manifest

PAUSE = 0.05
"""Seconds until shares are asked again that answered from different states."""


class Front:
    """The deployment that asks all shares and merges what they find."""

    def __init__(self, folder: str, *shares: Any) -> None:
        self.scorer, self.shares = Index.open(folder).scorer, shares

    async def search(
        self, query: str, top_k: int = 10, within: float | None = None, align: int = 0
    ) -> dict[str, Any]:
        """Return the nearest sentences of the whole index, as ``/v1/search`` of a server does."""
        texts, limit = check_queries([query], within, top_k=top_k)
        while True:
            asked = (share.search.remote(texts, top_k, limit) for share in self.shares)
            shares = await asyncio.gather(*asked)
            if len({share["state"] for share in shares}) == 1:
                break
            await asyncio.sleep(PAUSE)
        (ranking,) = merge(self.scorer, texts, shares, top_k, align)
        sentences = sum(share["sentences"] for share in shares)
        return {**ranking.to_dict(), "state": shares[0]["state"], "sentences": sentences}

    async def __call__(self, request: Any) -> dict[str, Any]:
        """Answer over HTTP: ``query``, ``top_k``, ``within`` and ``align`` in a JSON body."""
        return await self.search(**await request.json())


def serve_index(
    folder: str | Path,
    *,
    shares: int = 2,
    replicas: int = 1,
    cpus: float = 1.0,
    name: str = "movers",
    route: str = "/v1/search",
) -> Any:
    """Deploy an index on the cluster that is connected; the handle of its front.

    Parameters
    ----------
    folder
        The index, under the same path on every node.
    shares
        Deployments that the files are shared out to.
    replicas
        Copies of each, for more queries at a time.
    cpus
        Processors of each copy.
    name, route
        What Ray Serve calls the application, and its path.
    """
    try:
        from ray import serve
    except ImportError as error:
        raise DependencyError(
            f"Ray Serve is not installed ({error}): pip install 'movers[ray-serve]'"
        ) from error
    if Manifest.read(Path(folder)).texts is not None:
        raise InputError(
            f"the index {str(folder)!r} holds texts by their sentences, which shares cannot tell "
            "apart; serve it with movers serve, or search it with --engine ray"
        )
    place = str(Path(folder).resolve())
    options: Any = {"num_replicas": replicas, "ray_actor_options": {"num_cpus": cpus}}
    parts = [
        serve.deployment(name=f"share-{number}", **options)(Share).bind(place, number, shares)
        for number in range(shares)
    ]
    front = serve.deployment(name="front", ray_actor_options={"num_cpus": 0})(Front)
    return serve.run(front.bind(place, *parts), name=name, route_prefix=route)
