"""How an index keeps the sentences of a measure, and what makes the measure again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from movers.encode.models import EMBEDDED
from movers.errors import Choose, InputError
from movers.measures.bounds import CosineBound, FeatureBound
from movers.scorer import Scorer
from movers.search import bounded
from movers.search.bounded import BoundedLayout
from movers.search.cosine import CosineLayout, Keep
from movers.search.vectors import Precision
from movers.settings import table

Layout = CosineLayout | BoundedLayout

LAYOUTS: dict[str, Callable[[], Layout]] = {
    "transport": lambda: bounded.WORDS,
    "cosine-text-float32": CosineLayout,
    "cosine-text-int8": lambda: CosineLayout(precision="int8"),
    "cosine-words-float32": lambda: CosineLayout("words"),
    "features": lambda: bounded.FEATURES,
}


def make_layout(scorer: Scorer, keep: Keep | None, vectors: Precision | None) -> Layout:
    """Return the layout for the measure of a scorer; one without a bound is refused."""
    bound = scorer.measure.bound
    if scorer.settings.empty == "raise":
        raise InputError(
            "an index cannot raise for single pairs",
            Choose("empty", "nan"),
            Choose("empty", "keep"),
        )
    if isinstance(bound, CosineBound):
        return CosineLayout(keep or "text", vectors or "float32")
    if keep not in (None, "words") or vectors is not None:
        raise InputError(
            f"an index of {scorer.measure.name} keeps the words of every sentence; keep= and "
            "vectors= are for method='movers'"
        )
    return bounded.FEATURES if isinstance(bound, FeatureBound) else bounded.WORDS


def find_layout(name: Any) -> Layout:
    """Return the layout that a manifest names."""
    if name not in LAYOUTS:
        raise InputError(
            f"the index has the layout {name!r}, which this version does not know; build it again"
        )
    return LAYOUTS[name]()


def load_arguments(scorer: Scorer) -> dict[str, Any]:
    """Return settings of `movers.load` that make a scorer again, statistics and device aside."""
    settings, encoder = scorer.settings, scorer.encoder
    folder = None if encoder.name == EMBEDDED else encoder.folder
    pinned = {  # what was asked for loosely, as it was found to be
        "model": encoder.name if folder is None else str(folder.resolve()),
        **scorer.measure.pinned_heads,
        "dtype": encoder.dtype,
    }
    return {
        name: facts.write(pinned.get(name, getattr(settings, name)))
        for name, facts in table(type(settings)).items()
        if facts.write is not None
    }
