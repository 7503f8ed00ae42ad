"""A scale people can read: 1 for the same sentence, 0 for sentences that have nothing in common.

    similarity = min(1, max(0, 1 - distance / far))

``far`` is what unrelated sentences are apart. The default measure knows it of every encoder; a fit
measures it for any measure, on random pairs of the sentences at hand.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING

import numpy as np

from movers.arrays import Floats

if TYPE_CHECKING:
    from movers.results import Signature
    from movers.scorer import Scorer


SCALE = "scale"
"""What the names of fitted scales begin with."""
PAIRS = 1000


def similarity_of(distances: Floats | np.float64, far: float) -> Floats:
    """Similarities of distances; NaN stays NaN."""
    return np.asarray(np.clip(1.0 - distances / far, 0.0, 1.0))


def column_names(name: str, scorer: Scorer) -> list[str]:
    """Columns that a scorer fills: its distances, and similarities where it has a scale."""
    return [name] if scorer.far is None else [name, _similarity_name(name)]


def all_columns(scorers: Mapping[str, Scorer]) -> list[str]:
    """Columns that scorers fill, in order."""
    return [column for item in scorers.items() for column in column_names(*item)]


def fill_columns(name: str, scorer: Scorer, distances: Floats) -> dict[str, Floats]:
    """Distances by name of column, and similarities where the scorer has a scale."""
    found, scaled = {name: distances}, scorer.scaled(distances)
    return found if scaled is None else {**found, _similarity_name(name): scaled}


def _similarity_name(name: str) -> str:
    return "similarity" if name == "distance" else f"{name}_similarity"


def scale_key(signature: Signature) -> str:
    """Name of the scale of one measure with all its settings."""
    fields = "|".join(f"{name}:{value}" for name, value in signature.fields if name != "movers")
    return f"{SCALE}.{sha256(fields.encode()).hexdigest()[:8]}"


def random_pairs(sentences: Sequence[str]) -> list[tuple[str, str]]:
    """Pairs of different sentences, the same ones for the same sentences."""
    count = len(sentences)
    if count < 2:
        return []
    rng = np.random.default_rng(0)
    first = rng.integers(count, size=min(PAIRS, count * (count - 1) // 2))
    second = (first + rng.integers(1, count, size=len(first))) % count
    return [(sentences[a], sentences[b]) for a, b in zip(first, second, strict=True)]
