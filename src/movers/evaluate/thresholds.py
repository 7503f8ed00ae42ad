"""Where to cut: what lies within a distance, and how much of it is meant."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from movers.arrays import Floats
from movers.errors import InputError
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


@dataclass(frozen=True)
class Cut:
    """What lies within a threshold.

    Parameters
    ----------
    threshold
        Largest distance that counts.
    share, pairs
        How much lies within it: of the labelled pairs, or of the sentences of a sample that have
        another so near.
    precision, recall
        Share of paraphrases among what lies within, and of all paraphrases that do; None without
        labels.
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
    """Possible cuts, the one that is recommended, and what lies around it.

    Parameters
    ----------
    about
        What was compared.
    cuts
        Possible cuts, nearest first.
    recommended
        The largest cut whose precision is what was asked for; None without labels, or if no cut
        has it.
    best
        The highest precision of any cut, where there are labels.
    cut
        The cut that ``around`` looks at: the one named, recommended, or the middle of the list.
    around
        The pairs next to that cut, nearest first.
    signature
        All settings that change a distance.
    """

    about: str
    cuts: tuple[Cut, ...]
    recommended: float | None
    best: float | None
    cut: float
    around: tuple[Near, ...]
    signature: str

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return asdict(self)


def thresholds_of_pairs(
    scorer: Scorer,
    pairs: Pairs,
    labels: Sequence[float] | None = None,
    *,
    cut: float | None = None,
    precision: float = PRECISION,
    progress: bool = False,
) -> Thresholds:
    """Possible cuts for pairs, with their precision where the pairs are labelled.

    Parameters
    ----------
    scorer
        The measure.
    pairs, labels
        Sentences, and 1 for each pair that should lie within the threshold, 0 for others.
    cut
        A threshold to look at closely.
    precision
        Share of right pairs that the recommended threshold should have.
    progress
        Show progress bars.

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
    gold = None if labels is None else np.asarray(labels, dtype=np.float64)
    if gold is not None and not np.isin(gold, (0.0, 1.0)).all():
        odd = gold[~np.isin(gold, (0.0, 1.0))][0]
        raise InputError(f"labels must be 0 or 1, yes or no, to tell a precision; found {odd:g}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedWarning)
        found = scorer.distances(pairs, progress=progress)
    known = np.flatnonzero(np.isfinite(found))
    if not len(known):
        raise InputError("none of the pairs has a distance; there is nothing to cut")
    order = known[np.argsort(found[known], kind="stable")]
    ranked = _Ranked(
        found[order], [pairs[row] for row in order], None if gold is None else gold[order]
    )
    wanted = None if gold is None else _recommended(ranked, precision)
    best = None if gold is None else float(_precisions(ranked).max())
    return _thresholds(f"{len(order):,} pairs", scorer, ranked, ranked.distances, cut, wanted, best)


def thresholds_of_corpus(
    scorer: Scorer,
    sentences: Sequence[str],
    *,
    cut: float | None = None,
    sample: int = SAMPLE,
    progress: bool = False,
) -> Thresholds:
    """Possible cuts for the sentences of a corpus: how near the nearest other ones are.

    All distances among a random sample, always the same for the same sentences, are computed.

    Parameters
    ----------
    scorer
        The measure.
    sentences
        The corpus; repeated sentences count once.
    cut
        A threshold to look at closely.
    sample
        How many sentences to compare with one another.
    progress
        Show progress bars.
    """
    texts = list(dict.fromkeys(sentences))
    if len(texts) < 2 or sample < 2:
        raise InputError("it takes two different sentences at least to choose a threshold")
    if len(texts) > sample:
        picked = np.random.default_rng(0).choice(len(texts), sample, replace=False)
        texts = [texts[row] for row in np.sort(picked)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedWarning)
        matrix = scorer.matrix(texts, progress=progress)
    first, second = np.triu_indices(len(texts), 1)
    distances = matrix[first, second]
    order = np.argsort(distances, kind="stable")[: np.isfinite(distances).sum()]
    ranked = _Ranked(
        distances[order],
        [(texts[i], texts[j]) for i, j in zip(first[order], second[order], strict=True)],
        None,
    )
    np.fill_diagonal(matrix, np.inf)
    nearest = np.where(np.isnan(matrix), np.inf, matrix).min(axis=1)
    about = f"{len(texts):,} of {len(dict.fromkeys(sentences)):,} sentences"
    return _thresholds(about, scorer, ranked, np.sort(nearest[np.isfinite(nearest)]), cut)


@dataclass(frozen=True)
class _Ranked:
    """Pairs in order of their distances."""

    distances: Floats
    pairs: Pairs
    gold: Floats | None


def _precisions(ranked: _Ranked) -> Floats:
    """Precision of the cut at each pair's distance, those of ties being that of the last."""
    assert ranked.gold is not None
    inside = np.searchsorted(ranked.distances, ranked.distances, side="right")
    return np.asarray(np.cumsum(ranked.gold)[inside - 1] / inside)


def _recommended(ranked: _Ranked, precision: float) -> float | None:
    good = np.flatnonzero(_precisions(ranked) >= precision)
    return float(ranked.distances[good[-1]]) if len(good) else None


def _thresholds(
    about: str,
    scorer: Scorer,
    ranked: _Ranked,
    quantiles: Floats,
    cut: float | None,
    recommended: float | None = None,
    best: float | None = None,
) -> Thresholds:
    named = [value for value in (cut, recommended) if value is not None]
    values = sorted({*named, *np.quantile(quantiles, SHARES).tolist()})
    middle = values[len(values) // 2] if cut is None and recommended is None else named[0]
    return Thresholds(
        about,
        tuple(_cut(value, ranked, quantiles) for value in values),
        recommended,
        best,
        middle,
        _around(middle, ranked),
        str(scorer.signature),
    )


def _cut(threshold: float, ranked: _Ranked, quantiles: Floats) -> Cut:
    inside = int(np.searchsorted(ranked.distances, threshold, side="right"))
    share = float(np.searchsorted(quantiles, threshold, side="right") / len(quantiles))
    if ranked.gold is None or not inside:
        return Cut(threshold, share, inside)
    right, every = ranked.gold[:inside].sum(), ranked.gold.sum()
    recall = float(right / every) if every else None
    return Cut(threshold, share, inside, float(right / inside), recall)


def _around(cut: float, ranked: _Ranked) -> tuple[Near, ...]:
    place = int(np.searchsorted(ranked.distances, cut, side="right"))
    rows = range(max(0, place - AROUND), min(len(ranked.pairs), place + AROUND))
    return tuple(
        Near(
            float(ranked.distances[row]),
            *ranked.pairs[row],
            None if ranked.gold is None else bool(ranked.gold[row]),
        )
        for row in rows
    )
