"""How a model makes the vector of a sentence, and how far apart those of unrelated ones are."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from movers.arrays import Singles
from movers.encode.collect import POOLINGS
from movers.runtime.json_text import parse_json

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
    config = parse_json(Path(path).read_text("utf-8"))
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
