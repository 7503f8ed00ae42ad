"""Two sentences, one number: what most people type first."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from movers.loading import load
from movers.scorer import Scorer


def distance(source: str, target: str, method: str = "movers", **settings: Any) -> float:
    """Return how far apart two sentences are; 0 is the same.

    Parameters
    ----------
    source, target
        The sentences.
    method, settings
        As in `movers.load`; the scorer they stand for is kept for the next call.

    Examples
    --------
    >>> import movers
    >>> movers.distance("a dog chases a cat", "a dog chases a cat")
    0.0
    """
    return float(_scorer(method, settings).distances([(source, target)])[0])


def similarity(source: str, target: str, method: str = "movers", **settings: Any) -> float:
    """Return how similar two sentences are, from 0, unrelated, to 1, the same.

    Parameters
    ----------
    source, target, method, settings
        As in `distance`.

    Examples
    --------
    >>> import movers
    >>> reworded = movers.similarity("a dog chases a cat", "a dog runs after a cat")
    >>> swapped = movers.similarity("a dog chases a cat", "a cat chases a dog")
    >>> reworded > swapped
    True
    """
    return float(_scorer(method, settings).similarities([(source, target)])[0])


def kept_scorer(method: str = "movers") -> Scorer:
    """Return the scorer that `distance` and `similarity` use."""
    return _kept(method)


def _scorer(method: str, settings: dict[str, Any]) -> Scorer:
    try:
        return _kept(method, *sorted(settings.items()))
    except TypeError:  # a list of words, say, cannot be remembered
        return load(method, **settings)


@lru_cache(maxsize=8)
def _kept(method: str, *settings: tuple[str, Any]) -> Scorer:
    return load(method, **dict(settings))
