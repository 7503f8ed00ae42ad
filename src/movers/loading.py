"""`load`: from a method and a model to a scorer."""

from __future__ import annotations

import gc
import inspect
from collections.abc import Callable
from functools import lru_cache, partial
from pathlib import Path
from textwrap import indent, wrap
from typing import Any, ParamSpec

from movers.encode.encoder import Encoder
from movers.encode.engines import Engine, make_encoder
from movers.measures.default import learned_before
from movers.measures.parts.statistics import Statistics
from movers.scorer import Scorer
from movers.settings import Settings, check_names, table

Choices = ParamSpec("Choices")

EXAMPLE = """Examples
--------
>>> import movers
>>> scorer = movers.load()
>>> sentence, paraphrase = "a dog chases a cat", "a dog runs after a cat"
>>> scorer.rank(sentence, [paraphrase, "a cat chases a dog"], top_k=1)[0].text
'a dog runs after a cat'
"""


def loader(settings: Callable[Choices, Settings]) -> Callable[Choices, Scorer]:
    """Return a function that takes what a table of settings takes, and makes a scorer of it."""
    assert isinstance(settings, type)

    def load(*args: Choices.args, **kwargs: Choices.kwargs) -> Scorer:
        check_names(kwargs, settings)
        chosen = settings(*args, **kwargs)
        of_model = chosen.model, chosen.device, chosen.dtype, chosen.engine
        source = partial(load_encoder, *of_model)
        return Scorer(chosen, source)

    taken = inspect.signature(settings).replace(return_annotation="Scorer")
    load.__signature__ = taken  # type: ignore[attr-defined]
    load.__qualname__, load.__doc__ = "load", _explained(settings)
    return load


def _explained(settings: type[Settings]) -> str:
    """Return the documentation of a function that takes settings."""
    said = []
    for name, facts in table(settings).items():
        said += [name, indent("\n".join(wrap(f"{facts.help} {facts.python}", 90)), "    ")]
    first = "Make a scorer. The model itself is loaded when first needed, once per process."
    return "\n".join([first, "", "Parameters", "----------", *said, "", EXAMPLE])


load = loader(Settings)
"""Make a scorer: takes the fields of `movers.settings.Settings`, the table that explains them."""


def load_encoder(
    model: str | Path | None = None,
    device: str = "auto",
    dtype: str = "float32",
    engine: Engine = "auto",
) -> Encoder:
    """Load an encoder, or return the one loaded earlier in this process.

    Parameters
    ----------
    model, device, dtype, engine
        As in `movers.load`.
    """
    return _encoder(model, device, dtype, engine)  # the cache tells given defaults from missing


@lru_cache(maxsize=4)
def _encoder(model: str | Path | None, device: str, dtype: str, engine: Engine) -> Encoder:
    # Torch, transformers and a model are some 400,000 objects that stay; to look through them again
    # and again for garbage while they come takes a seventh of the time to load.
    collecting = gc.isenabled()
    gc.disable()
    try:
        return make_encoder(model, device, dtype, engine)
    finally:
        if collecting:
            gc.enable()


def describe_model(model: str | Path | None = None, device: str = "auto") -> dict[str, Any]:
    """Return facts about a model: size, limits, statistics, and the layers used by default."""
    encoder = load_encoder(model, device)
    shipped = Statistics.shipped(encoder.fingerprint)
    variability = shipped.variability if shipped else None
    known = learned_before(encoder)
    return {
        **encoder.describe(),
        "default_layers": encoder.default_layers,
        "statistics": shipped.origin if shipped else None,
        "variability": None if variability is None else variability.mean(axis=1).round(4).tolist(),
        "calibration": known.digest if known else None,
        "contrasts_told_apart": known.apart if known else None,
        "heads_that_follow": known.describe() if known else None,
    }
