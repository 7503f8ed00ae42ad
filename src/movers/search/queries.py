"""What is asked of a search, checked at the border."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Integral

import numpy as np

from movers.errors import InputError
from movers.io.pairs import check_asked, check_sentence


def check_queries(
    queries: Iterable[str], within: float | None = None, *, top_k: int
) -> tuple[list[str], float]:
    """Refuse what cannot be searched for; the queries, and the largest distance."""
    texts = [check_asked(check_sentence(query, "query"), "query") for query in queries]
    check_count("top_k", top_k)
    limit = np.inf if within is None else within
    if not limit >= 0:
        raise InputError(f"within must be a distance of at least 0, got {within}")
    return texts, limit


def check_count(name: str, value: object) -> None:
    """Refuse a number of sentences that is none."""
    if not isinstance(value, Integral) or value < 1:
        raise InputError(f"{name} must be at least 1, a whole number, got {value!r}")
