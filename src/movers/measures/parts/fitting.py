"""Fitting statistics on sentences in one pass over the model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from hashlib import sha256

from movers.encode.encoder import Encoder
from movers.encode.encodings import Encodings, Request
from movers.encode.tokens import TokenRules
from movers.encode.whiten import Moments, OrderedMoments, Whitening, WhiteningKind
from movers.errors import InputError
from movers.measures.parts.statistics import Statistics
from movers.measures.parts.structure import attention_variability
from movers.measures.parts.wordtable import count_documents, count_words, idf_table, piece_idf_table


def fit_statistics(
    encoder: Encoder,
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
    encoder
        The model.
    sentences
        A repeated one counts as often as it occurs.
    request
        What to keep of each; its embedding layers are the ones whitened.
    whitening
        Which kind; None for none.
    variability
        Whether to measure BV_A of every head, which takes two more passes.
    origin
        What the sentences are, in words.
    progress
        Show a progress bar.

    Returns
    -------
    The statistics, and the encodings of the distinct sentences, not yet whitened.
    """
    corpus = list(sentences)
    counts = Counter(corpus)
    if not counts:
        raise InputError("fit needs at least one sentence, got none")
    distinct, times = list(counts), list(counts.values())
    layers = request.embeddings if whitening else ()
    kind = OrderedMoments if whitening == "as-coded" else Moments
    moments = {layer: kind(encoder.dimension) for layer in layers}
    encodings = encoder.encode(distinct, request, moments=moments, counts=times, progress=progress)
    statistics = statistics_of(
        encoder, corpus, moments, request.rules, whitening=whitening, origin=origin
    )
    if variability:
        every = list(counts.elements())
        variabilities = attention_variability(lambda: encoder.attentions(every))
        arrays = {"variability": variabilities.reshape(encoder.layers, encoder.heads)}
        statistics = replace(statistics, arrays=arrays)
    return statistics, encodings


def statistics_of(
    encoder: Encoder,
    corpus: Iterable[str],
    moments: Mapping[int, Moments],
    rules: TokenRules,
    *,
    whitening: WhiteningKind | None = "clean",
    origin: str = "",
) -> Statistics:
    """Make statistics of a corpus whose token vectors have been added up already.

    Parameters
    ----------
    encoder, corpus
        The model, and its sentences.
    moments
        Those of the token vectors by embedding layer, of the distinct sentences in the order in
        which they first occur.
    rules
        How words are spelled; document frequencies are those of all, whatever the rules drop.
    whitening, origin
        As in `fit_statistics`.
    """
    texts = list(corpus)
    counts = Counter(texts)
    distinct, times = list(counts), list(counts.values())
    for one in moments.values():
        if isinstance(one, OrderedMoments):
            numbers = {text: number for number, text in enumerate(distinct)}
            one.order = [numbers[text] for text in texts]
    every = TokenRules(recipe=rules.recipe, subwords=rules.subwords)
    words = count_words(encoder.encode(distinct, Request(rules=every)), times, rules.recipe)
    pieces = count_documents(encoder.pieces(distinct), times)
    kind = whitening or "clean"
    return Statistics(
        fingerprint=encoder.fingerprint,
        origin=origin or f"{len(texts)} sentences",
        corpus=corpus_digest(counts),
        whitening={layer: Whitening.fit(one, kind) for layer, one in moments.items()},
        tables={
            "idf": idf_table(words, len(texts), rules.recipe),
            "piece-idf": piece_idf_table(pieces, len(texts)),
        },
    )


def corpus_digest(counts: Mapping[str, int]) -> str:
    """Eight hex digits that pin a corpus, whatever the order of its sentences."""
    total = sha256()
    for text, count in sorted(counts.items()):
        total.update(f"{count} {text}\n".encode())
    return total.hexdigest()[:8]
