"""Aligners held against the links people made."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from movers.agreement import draw_weights
from movers.align.align_texts import align_with
from movers.align.reading import join_words
from movers.arrays import Floats
from movers.errors import InputError
from movers.evaluate.metrics import Estimate, interval
from movers.scorer import Scorer
from movers_research.gold_links import GoldPair, Pairs

RESAMPLES, SEED = 2000, 0

KINDS = ("all", "sure", "identical", "other", "null", "exact")
"""What is counted of every pair: right, made, and in the gold."""
ALL, SURE, IDENTICAL, OTHER, NULL, EXACT = range(len(KINDS))
IDENTICAL_WORDS = "identical words"
"""The row that links equal words and looks at nothing else."""
PLAN = "plan:"
"""Begins the name of a row with the links of a measure's own plan, as `Comparison.links` has."""


def _f1(kind: int) -> Callable[[Floats], Floats]:
    def f1(counts: Floats) -> Floats:
        right, made, gold = counts[..., kind, :].T
        return np.asarray(2.0 * right / np.maximum(made + gold, 1.0))

    return f1


def _error_rate(counts: Floats) -> Floats:
    right = counts[..., SURE, 0] + counts[..., ALL, 0]
    total = counts[..., ALL, 1] + counts[..., SURE, 2]
    return np.asarray(1.0 - right / np.maximum(total, 1.0))


METRICS: dict[str, tuple[str, Callable[[Floats], Floats]]] = {
    "f1": ("F1", _f1(ALL)),
    "precision": ("P", lambda c: np.asarray(c[..., ALL, 0] / np.maximum(c[..., ALL, 1], 1.0))),
    "recall": ("R", lambda c: np.asarray(c[..., ALL, 0] / np.maximum(c[..., ALL, 2], 1.0))),
    "f1_identical": ("identical", _f1(IDENTICAL)),
    "f1_other": ("other", _f1(OTHER)),
    "f1_null": ("null", _f1(NULL)),
    "exact": ("exact", _f1(EXACT)),
    "f1_sure": ("F1 sure", _f1(SURE)),
    "aer": ("AER", _error_rate),
}
"""Heading and value of every metric, from counts ``(…, kinds, 3)``."""


@dataclass(frozen=True)
class AlignmentReport:
    """Aligners held against one set of gold links: by aligner every metric, from 0 to 1."""

    name: str
    pairs: int
    sure: int
    possible: int
    model: str
    scores: dict[str, dict[str, Estimate]]

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return asdict(self)

    def __str__(self) -> str:
        """A table in Markdown, values times 100."""
        titles = [METRICS[name][0] for name in next(iter(self.scores.values()))]
        lines = [
            f"{self.name}: {self.pairs} pairs, {self.sure} sure and {self.possible} possible "
            f"links; {self.model}",
            "",
            f"| aligner | {titles[0]} | 95 % | {' | '.join(titles[1:])} |",
            "|---" * (len(titles) + 2) + "|",
        ]
        for aligner, metrics in self.scores.items():
            first, *others = metrics.values()
            cells = [f"{100 * one.value:.2f}" for one in others]
            interval = f"{100 * first.low:.1f}–{100 * first.high:.1f}"
            cells = [aligner, f"**{100 * first.value:.2f}**", interval, *cells]
            lines.append(f"| {' | '.join(cells)} |")
        return "\n".join(lines)


def evaluate_alignment(
    scorer: Scorer,
    gold: Sequence[GoldPair],
    aligners: Sequence[str],
    *,
    name: str = "gold",
    progress: bool = False,
) -> AlignmentReport:
    """Hold aligners against gold links.

    They are rows of `movers.align.aligners.ALIGNERS`, ``"identical words"``, or ``"plan:METHOD"``.
    """
    if not gold:
        raise InputError("no pairs to evaluate on")
    read = [row for row in aligners if row != IDENTICAL_WORDS and not row.startswith(PLAN)]
    pairs = [(list(pair.source), list(pair.target)) for pair in gold]
    found: dict[str, list[Pairs]] = {row: [] for row in aligners}
    for alignments in align_with(scorer.encoder, pairs, read, progress=progress) if read else ():
        for row, alignment in zip(read, alignments, strict=True):
            found[row].append(alignment.pairs)
    for row in aligners:
        if row == IDENTICAL_WORDS:
            found[row] = [_identical(pair) for pair in gold]
        elif row.startswith(PLAN):
            own = scorer.using(row.removeprefix(PLAN), stopwords=None, subwords="mean")
            found[row] = [_planned(own, pair) for pair in gold]
    scores = {row: score_links(gold, links) for row, links in found.items()}
    sure, possible = (sum(len(getattr(pair, of)) for pair in gold) for of in ("sure", "possible"))
    model = f"{scorer.encoder.name}@{scorer.encoder.fingerprint}"
    return AlignmentReport(name, len(gold), sure, possible, model, scores)


def _identical(pair: GoldPair) -> Pairs:
    return frozenset(
        (i, j)
        for i, one in enumerate(pair.source)
        for j, other in enumerate(pair.target)
        if one.lower() == other.lower()
    )


def _planned(scorer: Scorer, pair: GoldPair) -> Pairs:
    """Links of a comparison, from its own words to the gold's."""
    texts, words = zip(*map(join_words, (pair.source, pair.target)), strict=True)
    if not all(words):
        return frozenset()
    spans = [(link.source_span, link.target_span) for link in scorer.compare(*texts).links]
    source, target = ([start for start, _ in side] for side in words)
    return frozenset(
        (bisect_right(source, a) - 1, bisect_right(target, b) - 1) for (a, _), (b, _) in spans
    )


def score_links(gold: Sequence[GoldPair], found: Sequence[Pairs]) -> dict[str, Estimate]:
    """Every metric of some links, with a bootstrap over pairs.

    The error rate is there only where the gold has possible links.
    """
    counts = np.array(
        [count_links(pair, links) for pair, links in zip(gold, found, strict=True)], np.float64
    )
    weights = draw_weights(len(gold), RESAMPLES, SEED).astype(np.float64)
    drawn = np.tensordot(weights, counts, axes=1)
    names = [name for name in METRICS if name != "aer" or any(pair.possible for pair in gold)]
    metrics = {name: METRICS[name][1] for name in names}
    return {
        name: Estimate(float(metric(counts.sum(axis=0))), *interval(metric(drawn)))
        for name, metric in metrics.items()
    }


def count_links(pair: GoldPair, found: Iterable[tuple[int, int]]) -> list[tuple[int, int, int]]:
    """Links right, made and in the gold, for every kind of `KINDS`."""
    made, gold = frozenset(found), pair.links
    same = _identical(pair)
    compared = {
        ALL: (made, gold),
        SURE: (made, pair.sure),
        IDENTICAL: (made & same, gold & same),
        OTHER: (made - same, gold - same),
        NULL: (_unlinked(pair, made), _unlinked(pair, gold)),
    }
    counts = [(len(a & b), len(a), len(b)) for a, b in compared.values()]
    return [*counts, (int(made == gold), 1, 1)]


def _unlinked(pair: GoldPair, links: Pairs) -> frozenset[tuple[int, int]]:
    """Words of either side without a link, as side and index."""
    return frozenset(
        (side, number)
        for side, words in enumerate((pair.source, pair.target))
        for number in set(range(len(words))) - {link[side] for link in links}
    )
