"""What a scorer learns: statistics and a scale from sentences, a judge from labelled pairs."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

import numpy as np

from movers.arrays import Floats
from movers.distances import Distances
from movers.encode.encodings import Store
from movers.errors import Choose, Do, InputError
from movers.explain.compared import Judged
from movers.judge import learning
from movers.measures.evidence import names_of
from movers.measures.judge import SAME, SHIPPED, Judge, judge_of
from movers.measures.parts.statistics import fit_statistics
from movers.measures.sentences import FitCorpus
from movers.runtime.notices import UndefinedWarning
from movers.scale import random_pairs

Kind = TypeVar("Kind", bound=Distances)


def fit(scorer: Distances, corpus: Sequence[str], origin: str, *, progress: bool) -> None:
    """Fit what all measures use, what this one learns, and what unrelated sentences are apart."""
    counts, settings = Counter(corpus), scorer.settings
    how = scorer.embedding, settings.whitening_to_fit, settings.recipe
    if settings.by_variability or not scorer.statistics.fitted_on(counts, *how):
        _fit_common(scorer, corpus, origin, progress=progress)
    learned = scorer.measure.fit(FitCorpus(counts, partial(scorer.weigh, progress=progress)))
    if learned is not scorer.statistics:
        scorer.adopt(learned)
    _fit_scale(scorer, list(counts))


def _fit_common(scorer: Distances, corpus: Sequence[str], origin: str, *, progress: bool) -> None:
    """Fit what any measure may need, and keep the sentences encoded on the way."""
    request = scorer.measure.fit_request((scorer.embedding,))
    statistics, fresh = fit_statistics(
        scorer.encoder,
        corpus,
        request,
        whitening=scorer.settings.whitening_to_fit,
        variability=scorer.settings.by_variability,
        origin=origin,
        progress=progress,
    )
    scorer.adopt(statistics)
    if scorer.measure.requirements.union(request) == request:
        scorer.measure.whiten(fresh)
        # In place: scorers that share the cache and get these statistics find it there.
        store = Store(request, scorer.measure.whitening_key, blocks=[fresh])
        scorer.cache.insert(0, store)


def _fit_scale(scorer: Distances, sentences: Sequence[str]) -> None:
    """Measure what unrelated sentences are apart, on random pairs."""
    pairs = random_pairs([text for text in sentences if text.strip()])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedWarning)
        distances = scorer.distances(pairs)
    if np.isfinite(distances).any():
        far = np.median(distances[np.isfinite(distances)])
        arrays = {**scorer.statistics.arrays, scorer.scale_key: np.array([far])}
        scorer.adopt(replace(scorer.statistics, arrays=arrays))


def learn(
    scorer: Kind,
    texts: Sequence[tuple[str, str]],
    labels: Sequence[Any],
    *,
    report: bool,
    progress: bool,
) -> Kind:
    """Learn a judge from labelled pairs, starting from the one in use or from "same"."""
    measure = scorer.measure
    before = scorer if isinstance(measure, Judge) else scorer.using(judge=SAME)
    seen, others = evidence(before, texts, progress=progress), None
    if report:
        others = {"cosine": seen[:, 0], measure.name: scorer.distances(texts)}
    given, known = np.array(labels), judge_in(before).knowledge
    learned, tested = learning.learn(texts, given, seen, known, others=others)
    judge = before.using(judge=judge_of(learned))
    judge.report = tested
    return judge


def evidence(
    scorer: Distances, texts: Sequence[tuple[str, str]], *, progress: bool = False
) -> Floats:
    """Return numbers that a judge looks at, ``(pairs, columns)``; refuses empty sides."""
    judge = judge_in(scorer)
    return scorer.table(texts, judge.evidence, len(names_of(judge)), "raise", progress=progress)


def judge_in(scorer: Distances) -> Judge:
    """Return the judge that a scorer asks; refuses another measure."""
    if not isinstance(scorer.measure, Judge):
        raise InputError(
            f"{scorer.measure.name} is no judge", Choose("judge", SAME.name), Do("learn")
        )
    return scorer.measure


def judged(scorer: Distances, source: str, target: str) -> Judged | None:
    """Return what the shipped judge says beside the default measure."""
    if not scorer.measure.asks_judge or scorer.encoder.fingerprint not in SHIPPED:
        return None
    judge = scorer.using(judge=SAME)
    sentences = judge.weigh([source, target])
    rows = sentences.numbers([source, target])[None]
    measure = judge_in(judge)
    return None if measure.undefined(sentences, rows)[0] else measure.judge(sentences, rows)
