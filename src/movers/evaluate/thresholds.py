"""Where to cut: what lies within a distance, and how much of it is meant."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import repeat
from typing import Any

import numpy as np

from movers.arrays import Floats
from movers.errors import InputError
from movers.io.labels import read_labels
from movers.io.pairs import check_sentences
from movers.runtime.notices import UndefinedWarning
from movers.scorer import Scorer

Pairs = Sequence[tuple[str, str]]

SHARES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.75)
"""Shares of the distances whose quantiles are shown as possible cuts."""
AROUND = 5
"""Pairs shown on either side of a cut."""
SAMPLE = 400
"""Sentences of a corpus that are compared with one another."""
PRECISION = 0.9
FEW = 0.2
"""A threshold that finds a smaller share of what it should is of little use."""


@dataclass(frozen=True)
class Cut:
    """A threshold, and what lies within it: pairs, and the share of all pairs.

    Without labels, the share is that of the sentences which have another so near. Precision is the
    share of paraphrases among what lies within, recall that of all paraphrases that do.
    """

    threshold: float
    share: float
    pairs: int
    precision: float | None = None
    recall: float | None = None


@dataclass(frozen=True)
class Near:
    """A pair near a cut; ``label`` is None where nobody labelled it."""

    distance: float
    source: str
    target: str
    label: bool | None = None


@dataclass(frozen=True)
class Thresholds:
    """Possible cuts, nearest first, and the pairs around one of them.

    ``recommended`` is the largest cut with the precision that was asked for, ``recall`` what it
    finds of the pairs that are right, and ``best`` the highest precision of any; None without
    labels. ``around`` looks at ``cut``: the one named, else the recommended one, else the middle
    of the list.
    """

    about: str
    cuts: tuple[Cut, ...]
    recommended: float | None
    recall: float | None
    best: float | None
    cut: float
    around: tuple[Near, ...]
    signature: str

    @property
    def fails(self) -> bool:
        """Whether labelled pairs show that the measure hardly tells right from wrong ones."""
        return self.best is not None and (self.recall is None or self.recall < FEW)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {**asdict(self), "fails": self.fails}


def thresholds_of_pairs(
    scorer: Scorer,
    pairs: Pairs,
    labels: Sequence[Any] | None = None,
    *,
    cut: float | None = None,
    precision: float = PRECISION,
    progress: bool = False,
) -> Thresholds:
    """Return possible cuts for pairs, with their precision where the pairs are labelled.

    Parameters
    ----------
    pairs, labels
        Sentences, and 1 or yes for each pair that should lie within the threshold, 0 or no for
        others.
    cut
        A threshold to look at closely.
    precision
        Share of right pairs that the recommended threshold should have.

    Examples
    --------
    >>> import movers
    >>> from movers.evaluate.thresholds import thresholds_of_pairs
    >>> pairs = [("a red car", "a red car"), ("a red car", "the car is blue")]
    >>> thresholds_of_pairs(movers.load("bow"), pairs, [1, 0]).recommended
    0.0
    """
    if not 0 < precision <= 1:
        raise InputError(f"precision must lie between 0 and 1, got {precision}")
    gold = None if labels is None else np.array(read_labels(labels))
    if gold is not None and len(gold) != len(pairs):
        raise InputError(f"there are {len(gold)} labels while there are {len(pairs)} pairs")
    if gold is not None and not np.isin(gold, (0.0, 1.0)).all():
        odd = gold[~np.isin(gold, (0.0, 1.0))][0]
        raise InputError(f"labels must be 0 or 1, yes or no, to tell a precision; found {odd:g}")
    with warnings.catch_warnings(action="ignore", category=UndefinedWarning):
        distances = scorer.distances(pairs, progress=progress)
    known = np.flatnonzero(np.isfinite(distances))
    if not len(known):
        raise InputError("none of the pairs has a distance; there is nothing to cut")
    order = known[np.argsort(distances[known], kind="stable")]
    return _thresholds(
        f"{len(order):,} pairs",
        str(scorer.signature),
        distances[order],
        [pairs[row] for row in order],
        cut,
        gold=None if gold is None else gold[order],
        precision=precision,
    )


def thresholds_of_corpus(
    scorer: Scorer,
    sentences: Sequence[str],
    *,
    cut: float | None = None,
    sample: int = SAMPLE,
    progress: bool = False,
) -> Thresholds:
    """Return possible cuts for the sentences of a corpus: how near the nearest other ones are.

    All distances among a random sample, always the same for the same sentences, are computed.

    Parameters
    ----------
    sentences
        The corpus; repeated sentences count once.
    cut
        A threshold to look at closely.
    sample
        How many sentences to compare with one another.
    """
    given = check_sentences(sentences, "sentence")
    texts = list(dict.fromkeys(given))
    if len(texts) < 2 or sample < 2:
        raise InputError("it takes two different sentences at least to choose a threshold")
    if len(texts) > sample:
        picked = np.random.default_rng(0).choice(len(texts), sample, replace=False)
        texts = [texts[row] for row in np.sort(picked)]
    with warnings.catch_warnings(action="ignore", category=UndefinedWarning):
        matrix = scorer.matrix(texts, progress=progress)
    first, second = np.triu_indices(len(texts), 1)
    distances = matrix[first, second]
    order = np.argsort(distances, kind="stable")[: np.isfinite(distances).sum()]
    ranked = [(texts[i], texts[j]) for i, j in zip(first[order], second[order], strict=True)]
    np.fill_diagonal(matrix, np.inf)
    nearest = np.where(np.isnan(matrix), np.inf, matrix).min(axis=1)
    about = f"{len(texts):,} of {len(dict.fromkeys(given)):,} sentences"
    counted = np.sort(nearest[np.isfinite(nearest)])
    return _thresholds(about, str(scorer.signature), distances[order], ranked, cut, counted=counted)


def _thresholds(
    about: str,
    signature: str,
    distances: Floats,
    pairs: Pairs,
    cut: float | None,
    *,
    gold: Floats | None = None,
    precision: float = PRECISION,
    counted: Floats | None = None,
) -> Thresholds:
    """Return cuts of pairs in order of their distances, and of what else is ``counted``."""
    recommended = recall = best = None
    if gold is not None:
        inside = np.searchsorted(distances, distances, side="right")  # ties go together
        precisions = np.cumsum(gold)[inside - 1] / inside
        good = distances[precisions >= precision]
        best = float(precisions.max())
        if len(good):
            recommended = float(good[-1])
            recall = _cut(recommended, distances, gold, distances).recall
    counted = distances if counted is None else counted
    named = [value for value in (cut, recommended) if value is not None]
    values = sorted({*named, *np.quantile(counted, SHARES).tolist()})
    cuts = tuple(_cut(value, distances, gold, counted) for value in values)
    middle = named[0] if named else values[len(values) // 2]
    place = int(np.searchsorted(distances, middle, side="right"))
    rows = slice(max(0, place - AROUND), place + AROUND)
    labels = repeat(None) if gold is None else map(bool, gold[rows])
    near = zip(distances[rows].tolist(), pairs[rows], labels, strict=False)
    around = tuple(Near(distance, *pair, label) for distance, pair, label in near)
    return Thresholds(about, cuts, recommended, recall, best, middle, around, signature)


def _cut(threshold: float, distances: Floats, gold: Floats | None, counted: Floats) -> Cut:
    inside = int(np.searchsorted(distances, threshold, side="right"))
    share = float(np.searchsorted(counted, threshold, side="right") / len(counted))
    if gold is None or not inside:
        return Cut(threshold, share, inside)
    right, every = gold[:inside].sum(), gold.sum()
    recall = float(right / every) if every else None
    return Cut(threshold, share, inside, float(right / inside), recall)
