"""Labelled pairs and a small model to run them with."""

import numpy as np

from movers.evaluate.labelled import Dataset
from tiny_models import PAIRS


def dataset(name="made-up", *, metric="auc", pairs=PAIRS):
    """Pairs with random labels that are not all the same."""
    labels = np.random.default_rng(len(pairs)).permutation(np.arange(len(pairs)) % 2)
    gold = labels.astype(float) if metric == "auc" else np.sin(np.arange(len(pairs)))
    empty = "least" if metric == "auc" else "drop"
    return Dataset(name, name.title(), list(pairs), gold, metric, empty)
