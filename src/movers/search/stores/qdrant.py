"""Qdrant: a collection in this process, on disk, or on a server."""

from __future__ import annotations

import warnings
from typing import Any

from movers.arrays import Singles
from movers.errors import InputError
from movers.search.reranking import TOLERANCE, Candidate


class QdrantStore:
    """Sentences in a collection of Qdrant.

    Asks for exact search, which the local mode does anyway.

    Parameters
    ----------
    client
        A ``qdrant_client.QdrantClient``.
    collection
        Name of a collection with cosine distance.
    text
        Where the payload of a point has its sentence.
    using
        Name of the vectors, if the collection has several.
    tolerance
        What its cosines may be off.
    """

    def __init__(
        self,
        client: Any,
        collection: str,
        *,
        text: str = "text",
        using: str | None = None,
        tolerance: float = TOLERANCE,
    ) -> None:
        self.client, self.collection = client, collection
        self.text, self.using, self.tolerance = text, using, tolerance
        vectors = client.get_collection(collection).config.params.vectors
        distance = (vectors[using] if using else vectors).distance
        if distance.name != "COSINE":
            raise InputError(
                f"the collection {collection!r} has distance {distance.value}, expected Cosine"
            )

    def nearest(self, vector: Singles, count: int) -> list[Candidate]:
        """So many sentences nearest to a vector, nearest first, or all there are."""
        from qdrant_client.models import SearchParams

        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Local mode performs exact")  # as it should
            found = self.client.query_points(
                self.collection,
                query=vector.tolist(),
                using=self.using,
                limit=count,
                with_payload=[self.text],
                search_params=SearchParams(exact=True),
            )
        return [Candidate(one.id, one.payload[self.text], one.score) for one in found.points]
