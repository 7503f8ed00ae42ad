"""Exact search and mining over a corpus: sentences that say the same, not merely mention it."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from movers.search.reranking import Candidate, VectorStore, embed, rerank

__all__ = ["Candidate", "VectorStore", "embed", "rerank"]


def __getattr__(name: str) -> Any:
    """Import public names when they are first used."""
    if name in __all__:
        return getattr(import_module("movers.search.reranking"), name)
    raise AttributeError(f"module 'movers.search' has no attribute {name!r}")
