"""What of a scorer an index needs: whether it can be searched, and how to make it again."""

from __future__ import annotations

from typing import Any

from movers.encode.models import EMBEDDED
from movers.errors import Choose, Do, InputError
from movers.measure.costs import COSTS
from movers.methods import Method
from movers.scorer import Scorer
from movers.settings import table


def check_method(scorer: Scorer) -> None:
    """Refuse measures that bounds know nothing about."""
    method: Method = scorer.method
    if method.transport is None:
        raise InputError(
            f"{method.name} is not one transport problem, so no bound holds for it",
            Do("rank"),
            Do("take movers, wmd, wrd, smd, wsmd, lambda"),
        )
    if scorer.settings.null is not None:
        raise InputError(
            f"null == {scorer.settings.null:g}: bounds hold where all words move",
            Do("rank"),
            Choose("null", None),
        )
    if method.cost is not None and COSTS[method.cost].trees:
        raise InputError(
            f"{method.name} needs the dependency trees of every sentence, which an index does not "
            "keep",
            Do("rank"),
            Choose("method", "synwmd-cos"),
        )
    if scorer.settings.empty == "raise":
        raise InputError(
            "an index cannot raise for single pairs",
            Choose("empty", "nan"),
            Choose("empty", "keep"),
        )


def describe(scorer: Scorer) -> dict[str, Any]:
    """The settings of `movers.load` that make a scorer again, statistics and device aside."""
    settings, found = scorer.settings, _found(scorer)
    return {
        name: about.write(found.get(name, getattr(settings, name)))
        for name, about in table(type(settings)).items()
        if about.write is not None
    }


def _found(scorer: Scorer) -> dict[str, Any]:
    """What was asked for loosely, as it was found to be."""
    return {
        "model": _model(scorer),
        "layers": sorted({layer for layer, _ in scorer.heads}) or None,
        "heads": sorted({head for _, head in scorer.heads}) or "all",
        "dtype": scorer.encoder.dtype,
    }


def _model(scorer: Scorer) -> str:
    """The model by a name that holds wherever the index is opened from."""
    encoder = scorer.encoder
    if encoder.folder is None or encoder.name == EMBEDDED:
        return encoder.name
    return str(encoder.folder.resolve())
