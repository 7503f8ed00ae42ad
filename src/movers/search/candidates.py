"""What movers needs of a vector store: its sentences in order of cosine with a query."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from movers.arrays import Singles


@dataclass(frozen=True)
class Candidate:
    """A sentence of a vector store.

    Parameters
    ----------
    key
        What the store knows it by; of sentences at the same distance the one with the smaller
        number comes first, and those with other keys as they are listed.
    text
        The sentence.
    cosine
        Cosine of its vector with the query's, as the store has it.
    """

    key: Any
    text: str
    cosine: float


@runtime_checkable
class VectorStore(Protocol):
    """A vector store that lists its sentences in order of cosine.

    A certificate is worth what the order is worth: the store must leave out nothing that is
    nearer than what it lists (a flat index, not an approximate one), by more than `tolerance`.
    """

    tolerance: float

    def nearest(self, vector: Singles, count: int) -> list[Candidate]:
        """So many sentences nearest to a vector, nearest first, or all there are."""
        ...
