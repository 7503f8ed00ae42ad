"""How much each word of a sentence counts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from movers.arrays import Floats, Ragged
from movers.encode.encodings import Encodings
from movers.encode.tokens import TokenRules
from movers.errors import InputError
from movers.measures.parts.context import Context
from movers.measures.parts.frequencies import load_frequencies
from movers.measures.parts.wordtable import all_spelled

ALL_WORDS = TokenRules(stopwords=frozenset())
"""Words without punctuation; the first piece stands for its word."""


def uniform(encodings: Encodings, norms: Floats | None, context: Context) -> Floats:
    """Weigh every word the same (Kusner et al., 2015)."""
    return np.ones(int(encodings.spans.starts[-1]))


def norm(encodings: Encodings, norms: Floats | None, context: Context) -> Floats:
    """Return length of the word's vector (Yokoi et al., 2020)."""
    assert norms is not None, "norm weights need word vectors"
    return norms


def idf(encodings: Encodings, norms: Floats | None, context: Context) -> Floats:
    """Inverse document frequency of the word; unless fitted, by frequencies of the language."""
    if (table := context.statistics.tables.get("idf")) is not None:
        return table.of(encodings)
    frequencies = load_frequencies(context.frequencies)
    missing = 0.0 if context.recipe == "paper" else frequencies.most
    return 1 + frequencies.idf(all_spelled(encodings, context.recipe), missing)


def pieces(encodings: Encodings, norms: Floats | None, context: Context) -> Floats:
    """Weigh every piece the same, special tokens nothing (Zhang et al., 2020)."""
    start, end = encodings.spans.data.T
    return np.asarray(end > start, np.float64)


def piece_idf(encodings: Encodings, norms: Floats | None, context: Context) -> Floats:
    """Inverse document frequency of the piece, special tokens nothing (Zhang et al., 2020).

    A sentence whose pieces all occur in every sentence of the corpus gets equal weights. Unless
    fitted, a piece weighs what its word does by frequencies of the language.
    """
    equal = pieces(encodings, norms, context)
    table = context.statistics.tables.get("piece-idf")
    rarities = _word_idf(encodings, context) if table is None else table.of(encodings)
    raw = Ragged(equal * rarities, encodings.spans.starts)
    return np.where(np.repeat(raw.sums() > 0, raw.lengths), raw.data, equal)


def sif(encodings: Encodings, norms: Floats | None, context: Context) -> Floats:
    """Smooth inverse frequency ``a / (a + p)`` with a = 0.001 (Arora et al., 2017)."""
    return load_frequencies(context.frequencies).sif(all_spelled(encodings, context.recipe))


def _word_idf(encodings: Encodings, context: Context) -> Floats:
    """For every token the idf of the word it is in; 0 for tokens in no word."""
    _, words = context.locate(encodings.sentences, ALL_WORDS)
    frequencies = load_frequencies(context.frequencies)
    out = Ragged.zeros(encodings.counts)
    every = zip(encodings.sentences, encodings.spans, words, out, strict=True)
    for text, spans, ranges, weights in every:
        spelled = [text[spans[i, 0] : spans[j - 1, 1]].strip().lower() for i, j in ranges]
        for (first, end), weight in zip(ranges, frequencies.idf(spelled), strict=True):
            weights[first:end] = weight
    return out.data


WEIGHTS: dict[str, Callable[[Encodings, Floats | None, Context], Floats]] = {
    "uniform": uniform,
    "norm": norm,
    "idf": idf,
    "pieces": pieces,
    "piece-idf": piece_idf,
    "sif": sif,
}
FREQUENCY_WEIGHTS = {"sif", "idf", "piece-idf"}
"""Rows that look words up in frequencies of the language, where no table of theirs is fitted."""


def raw_weights(kind: str, encodings: Encodings, norms: Floats | None, context: Context) -> Ragged:
    """Return weights of every kept word as their row of the table defines them."""
    numbers = np.asarray(WEIGHTS[kind](encodings, norms, context), np.float64)
    raw = Ragged(numbers, encodings.spans.starts)
    totals = raw.sums()
    bad = ~np.isfinite(totals) | ((totals <= 0) & (raw.lengths > 0))
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        raise InputError(
            f"{kind} weights of {encodings.sentences[row]!r} are {raw[row].tolist()[:8]}; they "
            "must be finite and not all zero — fit the statistics again"
        )
    return raw


def normalised(raw: Ragged) -> Ragged:
    """Return weights that sum to one in each sentence that has any words."""
    with np.errstate(invalid="ignore"):
        return replace(raw, data=raw.data / np.repeat(raw.sums(), raw.lengths))
