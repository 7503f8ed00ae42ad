"""An index behind one address, on as many machines of a Ray cluster as hold its shares.

Every node sees the folder under the same path. Each share of the files is searched by a deployment
of its own, which maps these files alone; the front asks them all and merges. An answer is exact,
and of one state of the folder: shares that answer from different states are asked again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from movers.errors import DependencyError, InputError
from movers.io.pairs import check_queries
from movers.search.index import Index
from movers.search.manifest import Manifest
from movers.search.search_ranking import STAGES, Pruning, SearchRanking

PAUSE = 0.05
"""Seconds until shares are asked again that answered from different states."""


class Share:
    """Searches some of the files of an index."""

    def __init__(self, folder: str, number: int, count: int) -> None:
        self.index, self.number, self.count = Index.open(folder), number, count

    def search(self, query: str, top_k: int, within: float) -> dict[str, Any]:
        """The nearest sentences of this share, by their numbers in it."""
        self.index.refresh()
        parts = self.index.parts
        low, high = (round(parts * one / self.count) for one in (self.number, self.number + 1))
        corpus, _ = self.index.some(low, high)
        found: dict[str, Any] = {"state": self.index.state, "sentences": len(corpus)}
        if not len(corpus):
            return {**found, "numbers": [], "distances": [], "texts": [], "pruning": {}}
        (one,) = self.index.layout.search(
            self.index.scorer, corpus, [query], top_k=top_k, within=within
        )
        return {
            **found,
            "numbers": corpus.numbers(one.rows).tolist(),
            "distances": one.distances.tolist(),
            "texts": [corpus.text(row) for row in one.rows.tolist()],
            "pruning": asdict(one.pruning),
        }


class Front:
    """Asks all shares, and merges what they find."""

    def __init__(self, folder: str, *shares: Any) -> None:
        self.scorer, self.shares = Index.open(folder).scorer, shares

    async def search(
        self, query: str, top_k: int = 10, within: float | None = None, align: int = 0
    ) -> dict[str, Any]:
        """The nearest sentences of the whole index, as ``/v1/search`` of a server tells them."""
        (text,), limit = check_queries([query], within, top_k=top_k)
        while True:
            asked = (share.search.remote(text, top_k, limit) for share in self.shares)
            found = await asyncio.gather(*asked)
            if len({one["state"] for one in found}) == 1:
                break
            await asyncio.sleep(PAUSE)
        ranking = self._merged(text, found, top_k, align)
        facts = {"state": found[0]["state"], "sentences": sum(one["sentences"] for one in found)}
        return {**ranking.to_dict(), **facts}

    def _merged(
        self, query: str, found: Sequence[dict[str, Any]], top_k: int, align: int
    ) -> SearchRanking:
        """The best of all shares, ties in the order of the index."""
        before = np.cumsum([0, *(one["sentences"] for one in found)])
        every = [
            (distance, int(first) + number, text)
            for first, one in zip(before, found, strict=False)
            for number, distance, text in zip(
                one["numbers"], one["distances"], one["texts"], strict=True
            )
        ]
        best = sorted(every, key=lambda one: (np.nan_to_num(one[0], nan=np.inf), one[1]))[:top_k]
        texts = {number: text for _, number, text in best}
        numbers = np.array([*texts], np.int64)
        distances = np.array([distance for distance, _, _ in best], np.float64)
        matches = self.scorer.matches(numbers, distances, texts.__getitem__)
        names = ("corpus", *STAGES, "seconds")
        pruned = {name: sum(one["pruning"].get(name, 0) for one in found) for name in names}
        compared = tuple(self.scorer.compare(query, match.text) for match in matches[:align])
        return SearchRanking(query, matches, self.scorer.signature, Pruning(**pruned), compared)

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
