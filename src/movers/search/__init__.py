"""Exact search and mining over a corpus: sentences that say the same, not merely mention it."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from movers.search.candidates import Candidate, VectorStore
    from movers.search.reranking import embed, rerank

__all__ = ["Candidate", "VectorStore", "embed", "rerank"]

_HOMES = {
    "Candidate": "movers.search.candidates",
    "VectorStore": "movers.search.candidates",
    "embed": "movers.search.reranking",
    "rerank": "movers.search.reranking",
}


def __getattr__(name: str) -> Any:
    """Import public names when they are first used."""
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'movers.search' has no attribute {name!r}")
