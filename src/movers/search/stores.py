"""Vector stores that propose candidates for `movers.search.rerank`.

Each function takes an index or table of a store as it is, filled with the vectors of
`movers.search.embed` (or any vectors of the same directions). What they list must be the nearest:
use flat, exact search; with an approximate one a certificate is only as good as its recall.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from movers.arrays import Singles
from movers.errors import InputError
from movers.search.reranking import Candidate, VectorStore


def faiss_store(index: Any, sentences: Sequence[str] | Mapping[int, str]) -> VectorStore:
    """Search a FAISS index of inner products over vectors of length 1, such as ``IndexFlatIP``.

    ``sentences`` are those of its numbers.

    Examples
    --------
    >>> import faiss
    >>> from movers.search import embed, rerank
    >>> sentences = ["a cat chases a dog", "a dog runs after a cat"]
    >>> index = faiss.IndexFlatIP(384)
    >>> index.add(embed(sentences))
    >>> found = rerank("a dog chases a cat", faiss_store(index, sentences), top_k=1)
    >>> found[0].text, found.certified
    ('a dog runs after a cat', True)
    """
    inner = 0  # faiss.METRIC_INNER_PRODUCT
    if index.metric_type != inner:
        raise InputError(
            f"the FAISS index has metric {index.metric_type}, expected inner product ({inner});"
            " make it with faiss.IndexFlatIP"
        )

    def nearest(vector: Singles, count: int) -> list[Candidate]:
        cosines, numbers = index.search(vector[None], min(count, index.ntotal))
        return [
            Candidate(number, sentences[number], cosine)
            for number, cosine in zip(numbers[0].tolist(), cosines[0].tolist(), strict=True)
            if number >= 0  # what an approximate index did not find
        ]

    return nearest


def lance_store(
    table: Any, *, key: str = "id", text: str = "text", vector: str = "vector"
) -> VectorStore:
    """Search a table of LanceDB by its columns, whatever approximate index it has."""

    def nearest(query: Singles, count: int) -> list[Candidate]:
        asked = table.search(query, vector_column_name=vector).distance_type("cosine")
        ranked = asked.bypass_vector_index().select([key, text, "_distance"])
        return [
            Candidate(row[key], row[text], 1.0 - row["_distance"])
            for row in ranked.limit(count).to_list()
        ]

    return nearest


def qdrant_store(
    client: Any, collection: str, *, text: str = "text", using: str | None = None
) -> VectorStore:
    """Search a collection of Qdrant with cosine distance, exactly.

    Parameters
    ----------
    client, collection
        A ``qdrant_client.QdrantClient``, and the name of the collection.
    text
        Where the payload of a point has its sentence.
    using
        Name of the vectors, if the collection has several.
    """
    vectors = client.get_collection(collection).config.params.vectors
    distance = (vectors[using] if using else vectors).distance
    if distance.name != "COSINE":
        raise InputError(
            f"the collection {collection!r} has distance {distance.value}, expected Cosine"
        )

    def nearest(query: Singles, count: int) -> list[Candidate]:
        from qdrant_client.models import SearchParams

        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Local mode performs exact")  # as it should
            answer = client.query_points(
                collection,
                query=query.tolist(),
                using=using,
                limit=count,
                with_payload=[text],
                search_params=SearchParams(exact=True),
            )
        return [Candidate(point.id, point.payload[text], point.score) for point in answer.points]

    return nearest
