"""Fitting statistics on sentences in one pass over the model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from hashlib import sha256

import numpy as np
from numpy.typing import NDArray

from movers.encode.encodings import Encodings, Request
from movers.encode.tokens import TokenRules
from movers.encode.transformer import TransformerEncoder
from movers.encode.whiten import Moments, Whitening, WhiteningKind
from movers.errors import InputError
from movers.measure.idf import fit_idf, fit_piece_idf
from movers.measure.statistics import Statistics
from movers.measure.structure import attention_variability

Floats = NDArray[np.float64]


def fit_statistics(
    encoder: TransformerEncoder,
    sentences: Iterable[str],
    request: Request,
    *,
    whitening: WhiteningKind | None = "clean",
    variability: bool = False,
    origin: str = "",
    progress: bool = False,
) -> tuple[Statistics, Encodings]:
    """Fit whitening, document frequencies and, if asked, attention variability.

    Parameters
    ----------
    sentences
        The corpus; a repeated sentence counts as often as it occurs.
    request
        What to keep of each sentence; its embedding layers are the ones whitened.
    whitening
        Kind of whitening, or None for none.
    variability
        Also measure BV_A of every head, which takes two more passes.
    origin
        What the sentences are, kept with the statistics.

    Returns
    -------
    The statistics, and the encodings of the distinct sentences, not yet whitened.
    """
    counts = Counter(sentences)
    if not counts:
        raise InputError("fit needs at least one sentence, got none")
    distinct, times = list(counts), list(counts.values())
    ordered = whitening == "as-coded"
    layers = request.embeddings if whitening else ()
    moments = {layer: Moments(encoder.dimension, ordered=ordered) for layer in layers}
    encodings = encoder.encode(distinct, request, moments=moments, counts=times, progress=progress)
    statistics = statistics_of(
        encoder, counts, moments, request.rules, whitening=whitening, origin=origin
    )
    arrays = _variability(encoder, counts) if variability else {}
    return replace(statistics, arrays=arrays), encodings


def statistics_of(
    encoder: TransformerEncoder,
    counts: Mapping[str, int],
    moments: Mapping[int, Moments],
    rules: TokenRules,
    *,
    whitening: WhiteningKind | None = "clean",
    origin: str = "",
) -> Statistics:
    """Make statistics of a corpus whose token vectors have been added up already.

    Parameters
    ----------
    counts
        The sentences and how often each occurs.
    moments
        Moments of their token vectors by embedding layer.
    rules
        Recipe and sub-words; document frequencies are those of all words, whatever they drop.
    whitening, origin
        As in `fit_statistics`.
    """
    distinct, times = list(counts), list(counts.values())
    every = TokenRules(recipe=rules.recipe, subwords=rules.subwords)
    words = encoder.encode(distinct, Request(rules=every))
    return Statistics(
        fingerprint=encoder.fingerprint,
        origin=origin or f"{sum(times)} sentences",
        corpus=corpus_digest(counts),
        whitening={
            layer: Whitening.fit(moment, whitening or "clean") for layer, moment in moments.items()
        },
        tables={
            "idf": fit_idf(words, times, rules.recipe),
            "piece-idf": fit_piece_idf(encoder.pieces(distinct), times),
        },
    )


def corpus_digest(counts: Mapping[str, int]) -> str:
    """Eight hex digits that pin a corpus, whatever the order of its sentences."""
    total = sha256()
    for text, count in sorted(counts.items()):
        total.update(f"{count} {text}\n".encode())
    return total.hexdigest()[:8]


def _variability(encoder: TransformerEncoder, counts: Counter[str]) -> dict[str, Floats]:
    everything = list(counts.elements())
    found = attention_variability(lambda: encoder.attentions(everything))
    return {"variability": found.reshape(encoder.layers, encoder.heads)}
