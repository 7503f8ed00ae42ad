"""Several references for one text: the nearest counts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from movers.arrays import Floats
from movers.errors import InputError
from movers.scorer import Scorer


def best_of(
    scorer: Scorer,
    candidates: Sequence[str],
    references: Sequence[Sequence[str]],
    *,
    progress: bool = False,
) -> Floats:
    """Return the distance of every candidate to the nearest of its references, under any method.

    Parameters
    ----------
    candidates
        Texts to judge, the sources of the comparison.
    references
        For every candidate the texts it may resemble, at least one.
    progress
        Show progress bars.

    Examples
    --------
    >>> import movers
    >>> from movers.references import best_of
    >>> bags = movers.load("bow")
    >>> best_of(bags, ["a red car"], [["a blue bike", "the car is red"]]).tolist()
    [0.0]
    """
    if len(candidates) != len(references):
        raise InputError(
            f"every candidate needs references: got {len(candidates)} candidates and "
            f"{len(references)} lists of references"
        )
    for place, texts in enumerate(references):
        if isinstance(texts, str) or not len(texts):
            raise InputError(f"references {place} must be a list of texts, got {texts!r}")
    pairs = [(text, one) for text, many in zip(candidates, references, strict=True) for one in many]
    starts = np.cumsum([0, *(len(many) for many in references)])[:-1]
    distances = scorer.distances(pairs, progress=progress)
    return np.asarray(np.fmin.reduceat(distances, starts)) if len(pairs) else distances
