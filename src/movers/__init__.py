"""Sentence similarity that sees word order and shows its reasons."""

from importlib import import_module

from movers.version import __version__

TYPE_CHECKING = False  # as in typing, which takes longer to import than all of this

if TYPE_CHECKING:
    from movers import cache, solve
    from movers.checks import assert_same
    from movers.client import AsyncClient, Client
    from movers.difference.finder import differences
    from movers.errors import DependencyError, InputError, ModelError, MoversError, StorageError
    from movers.loading import load
    from movers.measures.registry import METHODS
    from movers.results import Comparison, Ranking
    from movers.scorer import Scorer
    from movers.search.index import Index
    from movers.shortcuts import distance, similarity

__all__ = [
    "METHODS",
    "AsyncClient",
    "Client",
    "Comparison",
    "DependencyError",
    "Index",
    "InputError",
    "ModelError",
    "MoversError",
    "Ranking",
    "Scorer",
    "StorageError",
    "__version__",
    "assert_same",
    "cache",
    "differences",
    "distance",
    "load",
    "similarity",
    "solve",
]

_HOMES = {
    **dict.fromkeys(
        ("DependencyError", "InputError", "ModelError", "MoversError", "StorageError"),
        "movers.errors",
    ),
    "METHODS": "movers.measures.registry",
    "AsyncClient": "movers.client",
    "Client": "movers.client",
    "Comparison": "movers.results",
    "Index": "movers.search.index",
    "Ranking": "movers.results",
    "Scorer": "movers.scorer",
    "assert_same": "movers.checks",
    "differences": "movers.difference.finder",
    "distance": "movers.shortcuts",
    "load": "movers.loading",
    "similarity": "movers.shortcuts",
}


def __getattr__(name: str) -> object:
    """Import public names when they are first used, so that ``import movers`` stays quick."""
    if name in ("cache", "errors", "solve"):
        return import_module(f"movers.{name}")
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'movers' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
