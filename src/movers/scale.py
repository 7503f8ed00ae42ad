"""A scale people can read: 1 for the same sentence, 0 for sentences that have nothing in common.

    similarity = min(1, max(0, 1 - distance / far))

``far`` is what unrelated sentences are apart. The default measure knows it of every encoder; a fit
measures it for any measure, on random pairs of the sentences at hand.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from movers.arrays import Floats

PAIRS = 1000


def similarity_of(distances: Floats | np.float64, far: float) -> Floats:
    """Return similarities of distances; NaN stays NaN."""
    return np.asarray(np.clip(1.0 - distances / far, 0.0, 1.0))


def random_pairs(sentences: Sequence[str]) -> list[tuple[str, str]]:
    """Return pairs of different sentences, the same ones for the same sentences."""
    count = len(sentences)
    if count < 2:
        return []
    rng = np.random.default_rng(0)
    first = rng.integers(count, size=min(PAIRS, count * (count - 1) // 2))
    second = (first + rng.integers(1, count, size=len(first))) % count
    return [(sentences[a], sentences[b]) for a, b in zip(first, second, strict=True)]
