"""What every aligner starts from, cosines between words, and what it gives: links."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from movers.align.reading import Span, Words
from movers.arrays import Floats

SHRINKAGE = 60.0
"""Words that the model's own mean counts for beside those of the two sentences."""


@dataclass(frozen=True)
class Link:
    """Two words that go together.

    Parameters
    ----------
    source_index, target_index
        Which words of their sentences these are, counted from 0.
    source, target
        The words.
    source_span, target_span
        Their character ranges in the texts.
    mass
        How much of the two words goes to each other, from 0 to 1: the geometric mean of either's
        share in the other.
    cost
        One minus the cosine of the two words.
    confidence
        From 0 to 1, how sure the link is. For the default aligner about how often people agree.
    """

    source_index: int
    target_index: int
    source: str
    target: str
    source_span: Span
    target_span: Span
    mass: float
    cost: float
    confidence: float

    def __str__(self) -> str:
        return f"{self.source} → {self.target}  {self.confidence:.2f}"


@dataclass(frozen=True, eq=False)
class LinkScores:
    """How words of two sentences go together, all arrays ``(n, m)``: what a `Link` has of each.

    Links whose strength is above the aligner's threshold are made with that confidence.
    """

    strength: Floats
    share: Floats
    cost: Floats


def centred_cosines(source: Words, target: Words, typical: Floats) -> Floats:
    """Return cosines between words, centred at the mean of both, shrunk to the model's own mean.

    One word has no mean worth the name; sentences of a usual length have.
    """
    own = (source.vectors.mean(axis=0) + target.vectors.mean(axis=0)) / 2
    count = len(source) + len(target)
    centre = (count * own + SHRINKAGE * typical) / (count + SHRINKAGE)
    return cosines(source.vectors - centre, target.vectors - centre)


def cosines(source: Floats, target: Floats) -> Floats:
    """Return cosines of all vectors of one side with all of the other; 0 for a zero vector."""
    one, other = (
        side / np.maximum(np.linalg.norm(side, axis=1, keepdims=True), 1e-12)
        for side in (source, target)
    )
    return np.asarray(one @ other.T)
