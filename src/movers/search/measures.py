"""What of a scorer an index needs: whether it can be searched, and how to make it again."""

from __future__ import annotations

from typing import Any

from movers.encode.models import EMBEDDED
from movers.errors import InputError
from movers.measure.costs import COSTS
from movers.methods import Method
from movers.scorer import Scorer


def check_method(scorer: Scorer) -> None:
    """Refuse measures that bounds know nothing about."""
    method: Method = scorer.method
    if method.transport is None:
        raise InputError(
            f"{method.name} is not one transport problem, so no bound holds for it; use "
            "Scorer.rank, which compares every sentence, or wmd, wrd, smd, wsmd, lambda"
        )
    if method.transport == "priced":
        raise InputError(
            f"{method.name} has no index; use Scorer.rank, which compares every sentence, or "
            "method='wsmd'"
        )
    if scorer.settings.null is not None:
        raise InputError(
            f"null == {scorer.settings.null:g}: bounds hold where all words move; use Scorer.rank, "
            "which compares every sentence, or null=None"
        )
    if method.cost is not None and COSTS[method.cost].trees:
        raise InputError(
            f"{method.name} needs the dependency trees of every sentence, which an index does not "
            "keep; use Scorer.rank, or synwmd-cos"
        )
    if scorer.settings.empty == "raise":
        raise InputError("an index cannot raise for single pairs; pass empty='nan' or 'keep'")


def describe(scorer: Scorer) -> dict[str, Any]:
    """The arguments of `movers.load` that make a scorer again, statistics and device aside."""
    settings, encoder = scorer.settings, scorer.encoder
    stopwords = None if settings.stopwords is None else sorted(settings.stopwords)
    return {
        "method": settings.method.name,
        "model": _model(scorer),
        "embedding": settings.embedding,
        "layers": sorted({layer for layer, _ in scorer.heads}) or None,
        "heads": sorted({head for _, head in scorer.heads}) or "all",
        "mix": float(settings.mix),
        "recipe": settings.recipe,
        "whitening": settings.whitening,
        "stopwords": stopwords,
        "subwords": settings.subwords,
        "empty": settings.empty,
        "frequencies": None if settings.frequencies is None else str(settings.frequencies),
        "dtype": encoder.dtype,
    }


def _model(scorer: Scorer) -> str:
    """The model by a name that holds wherever the index is opened from."""
    encoder = scorer.encoder
    if encoder.folder is None or encoder.name == EMBEDDED:
        return encoder.name
    return str(encoder.folder.resolve())
