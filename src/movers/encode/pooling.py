"""The vector of a whole sentence, and how far apart those of unrelated sentences are."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from movers.arrays import Ints, Singles


def _mean(states: Singles, first: Ints, lengths: Ints) -> Singles:
    """Term after term, so that no bit depends on the company of a sentence."""
    total = np.zeros((len(first), states.shape[1]), np.float32)
    for place in range(lengths.max(initial=0)):
        longer = np.flatnonzero(lengths > place)
        total[longer] += states[first[longer] + place]
    return np.asarray(total / lengths[:, None].astype(np.float32))


def _max(states: Singles, first: Ints, lengths: Ints) -> Singles:
    ranges = zip(first, first + lengths, strict=True)
    return np.stack([states[low:high].max(axis=0) for low, high in ranges])


POOLINGS: dict[str, Callable[[Singles, Ints, Ints], Singles]] = {
    "mean": _mean,
    "cls": lambda states, first, lengths: states[first],
    "max": _max,
    "lasttoken": lambda states, first, lengths: states[first + lengths - 1],
}
"""From the hidden states of the tokens of a batch to one vector for every sentence.

They take a matrix of states, the row of every sentence's first token, and its number of tokens,
special ones included. `movers.encode.device_pooling` does the same on a GPU.
"""
CONFIG = "1_Pooling/config.json"
"""Where sentence-transformers keeps how a model was trained to be pooled."""


def pooling_of(model: str | Path) -> str:
    """Return the pooling a model was trained for, as its files tell; the mean where they do not."""
    path: Any = Path(model) / CONFIG
    if not Path(model).is_dir():  # a hub model, and the file if it was downloaded with it
        from huggingface_hub import try_to_load_from_cache
        from huggingface_hub.errors import HFValidationError

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
    """Return sentences that have nothing to do with each other, shipped with the package."""
    text = files("movers").joinpath("data", "sentences_english.txt").read_text("utf-8")
    return text.splitlines()


def mean_distance(vectors: Singles) -> float:
    """Return mean over all pairs of one minus the cosine of two vectors."""
    units = vectors.astype(np.float64)
    units /= np.linalg.norm(units, axis=1, keepdims=True)
    count = len(units)
    cosines = (np.square(units.sum(axis=0)).sum() - count) / (count * (count - 1))
    return float(1 - cosines)
