"""The vector of a whole sentence, and how far apart those of unrelated sentences are."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from movers.arrays import Singles
from movers.encode.cutting import in_order

if TYPE_CHECKING:
    from torch import Tensor


def _mean(states: Tensor, genuine: Tensor) -> Tensor:
    return in_order(states.masked_fill(~genuine[..., None], 0.0), 1) / genuine.sum(1, keepdim=True)


def _last(states: Tensor, genuine: Tensor) -> Tensor:
    place = (genuine.sum(1) - 1).view(-1, 1, 1).expand(-1, 1, states.shape[2])
    return states.gather(1, place)[:, 0]


POOLINGS: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "mean": _mean,
    "cls": lambda states, genuine: states[:, 0],
    "max": lambda states, genuine: states.masked_fill(~genuine[..., None], -float("inf")).amax(1),
    "lasttoken": _last,
}
"""From the hidden states of all tokens of a batch to one vector for every sentence.

Special tokens are genuine, padding is not.
"""
CONFIG = "1_Pooling/config.json"
"""Where sentence-transformers keeps how a model was trained to be pooled."""


def pooling_of(model: str | Path) -> str:
    """The pooling a model was trained for, as its files tell; the mean where they do not."""
    from huggingface_hub import try_to_load_from_cache
    from huggingface_hub.errors import HFValidationError

    path: Any = Path(model) / CONFIG
    if not Path(model).is_dir():  # a hub model, and the file if it was downloaded with it
        try:
            path = try_to_load_from_cache(str(model), CONFIG)
        except HFValidationError:
            path = None
    if not isinstance(path, str | Path) or not Path(path).is_file():
        return "mean"
    config = json.loads(Path(path).read_text("utf-8"))
    modes = {
        "cls": config.get("pooling_mode_cls_token"),
        "max": config.get("pooling_mode_max_tokens"),
        "lasttoken": config.get("pooling_mode_lasttoken"),
        str(config.get("pooling_mode")): True,
    }
    return next((name for name in POOLINGS if modes.get(name)), "mean")


def unrelated_sentences() -> list[str]:
    """Sentences that have nothing to do with each other, shipped with the package."""
    text = files("movers").joinpath("data", "sentences_english.txt").read_text("utf-8")
    return text.splitlines()


def mean_distance(vectors: Singles) -> float:
    """Mean over all pairs of one minus the cosine of two vectors."""
    units = vectors.astype(np.float64)
    units /= np.linalg.norm(units, axis=1, keepdims=True)
    count = len(units)
    cosines = (np.square(units.sum(axis=0)).sum() - count) / (count * (count - 1))
    return float(1 - cosines)
