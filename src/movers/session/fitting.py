"""Fitting a session: whitening, document frequencies, what a measure learns, and its scale."""

from __future__ import annotations

import warnings
from collections import Counter
from dataclasses import replace

import numpy as np

from movers.arrays import Floats
from movers.baselines import Blocks, find_baseline
from movers.encode.encodings import Request
from movers.measure.fitting import corpus_digest, fit_statistics
from movers.measure.syntax import fit_swf
from movers.runtime.notices import UndefinedWarning
from movers.scale import random_pairs
from movers.session.blocks import CHUNK, fill_distances
from movers.session.session import Session
from movers.session.signature import scale_key


def fit_session(session: Session, corpus: list[str], origin: str, *, progress: bool) -> None:
    """Replace the statistics of a session by those of a corpus, and add what its measure learns."""
    counts = Counter(corpus)
    if not _fitted_on(session, counts):
        _fit_common(session, corpus, origin, progress=progress)
    if session.method.weights == "swf":  # from the trees of the sentences
        encodings = session.encoder.encode(list(counts), Request(rules=session.settings.rules))
        trees = session.context.trees(encodings.sentences)
        times = [counts[text] for text in encodings.sentences]
        table = fit_swf(encodings, times, trees, session.settings.recipe)
        tables = {**session.statistics.tables, "swf": table}
        session.adopt(replace(session.statistics, tables=tables))
    baseline = session.method.baseline and find_baseline(session.method.baseline)
    if baseline and hasattr(baseline, "fit"):
        blocks = _blocks(session, counts, progress=progress)
        _add_arrays(session, baseline.fit(blocks, session.context, session.embedding))
    _fit_scale(session, list(counts))


def _add_arrays(session: Session, fitted: dict[str, Floats]) -> None:
    arrays = {**session.statistics.arrays, **fitted}
    session.replace_statistics(replace(session.statistics, arrays=arrays))


def _fit_scale(session: Session, sentences: list[str]) -> None:
    """Measure what unrelated sentences are apart, on random pairs."""
    pairs = random_pairs([text for text in sentences if text.strip()])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedWarning)
        found = fill_distances(session, np.zeros(len(pairs)), pairs, progress=False)
    if np.isfinite(found).any():
        far = np.median(found[np.isfinite(found)])
        _add_arrays(session, {scale_key(session): np.array([far])})


def _fitted_on(session: Session, counts: Counter[str]) -> bool:
    """Whether whitening and idf were fitted on just these sentences, in the same way."""
    statistics, kind = session.statistics, session.settings.whitening_to_fit
    whitening = statistics.whitening.get(session.embedding)
    idf = statistics.tables.get("idf")
    return (
        statistics.corpus == corpus_digest(counts)
        and (whitening and whitening.kind) == kind
        and idf is not None
        and idf.recipe == session.settings.recipe
        and not session.settings.by_variability
    )


def _fit_common(session: Session, corpus: list[str], origin: str, *, progress: bool) -> None:
    settings, request = session.settings, session.fit_request((session.embedding,))
    statistics, fresh = fit_statistics(
        session.encoder,
        corpus,
        request,
        whitening=settings.whitening_to_fit,
        variability=settings.by_variability,
        origin=origin,
        progress=progress,
    )
    session.adopt(statistics)
    if session.request.union(request) == request:
        session.keep(request, fresh)


def _blocks(session: Session, counts: Counter[str], *, progress: bool) -> Blocks:
    """The corpus encoded and weighed, a few sentences at a time."""
    every = list(counts)
    for start in range(0, len(every), CHUNK):
        texts = every[start : start + CHUNK]
        measured = session._encoded(texts, progress=progress)
        rows = measured.encodings.numbers(texts)
        yield measured, rows, np.array([counts[text] for text in texts], np.int64)
