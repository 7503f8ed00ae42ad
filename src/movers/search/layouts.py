"""How sentences lie in an index, by name: one table, so that a manifest can name its row."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from movers.errors import InputError
from movers.scorer import Scorer
from movers.search.cosine import CosineLayout, Keep
from movers.search.transport import TransportLayout
from movers.search.vectors import Precision

Layout = TransportLayout | CosineLayout

LAYOUTS: dict[str, Callable[[], Layout]] = {
    "transport": TransportLayout,
    "cosine-text-float32": CosineLayout,
    "cosine-text-int8": lambda: CosineLayout(precision="int8"),
    "cosine-words-float32": lambda: CosineLayout("words"),
}


def make_layout(scorer: Scorer, keep: Keep | None, vectors: Precision | None) -> Layout:
    """The layout for the measure of a scorer."""
    if scorer.method.needs_pooled:
        return CosineLayout(keep or "text", vectors or "float32")
    if keep not in (None, "words") or vectors is not None:
        raise InputError(
            f"an index of {scorer.method.name} keeps the words of every sentence; keep= and "
            "vectors= are for method='movers'"
        )
    return TransportLayout()


def find_layout(name: Any) -> Layout:
    """The layout that a manifest names."""
    if name not in LAYOUTS:
        raise InputError(
            f"the index has the layout {name!r}, which this version does not know; build it again"
        )
    return LAYOUTS[name]()
