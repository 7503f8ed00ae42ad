"""FAISS: an index of inner products in memory, and the sentences beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from movers.arrays import Singles
from movers.errors import InputError
from movers.search.reranking import TOLERANCE, Candidate


class FaissStore:
    """Sentences in a FAISS index.

    Parameters
    ----------
    index
        An index of the metric inner product over vectors of length 1, such as ``IndexFlatIP``.
    sentences
        The sentences by the numbers of the index.
    tolerance
        What its cosines may be off.

    Examples
    --------
    >>> import faiss
    >>> from movers.search import embed, rerank
    >>> sentences = ["a cat chases a dog", "a dog runs after a cat"]
    >>> index = faiss.IndexFlatIP(384)
    >>> index.add(embed(sentences))
    >>> found = rerank("a dog chases a cat", FaissStore(index, sentences), top_k=1)
    >>> found[0].text, found.certified
    ('a dog runs after a cat', True)
    """

    def __init__(
        self,
        index: Any,
        sentences: Sequence[str] | Mapping[int, str],
        *,
        tolerance: float = TOLERANCE,
    ) -> None:
        inner = 0  # faiss.METRIC_INNER_PRODUCT
        if index.metric_type != inner:
            raise InputError(
                f"the FAISS index has metric {index.metric_type}, expected inner product ({inner});"
                " make it with faiss.IndexFlatIP"
            )
        self.index, self.sentences, self.tolerance = index, sentences, tolerance

    def nearest(self, vector: Singles, count: int) -> list[Candidate]:
        """So many sentences nearest to a vector, nearest first, or all there are."""
        cosines, numbers = self.index.search(vector[None], min(count, self.index.ntotal))
        return [
            Candidate(number, self.sentences[number], cosine)
            for number, cosine in zip(numbers[0].tolist(), cosines[0].tolist(), strict=True)
            if number >= 0  # what an approximate index did not find
        ]
