"""Sentences as measures take them: words with weights, vectors and structure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from movers.arrays import Floats, Ints, Ragged, Rows, Singles, gathered
from movers.encode.encodings import Encodings
from movers.encode.tokens import TokenRules
from movers.errors import InputError
from movers.measures.parts.context import Context
from movers.measures.parts.word_tables import all_spelled, load_frequencies

ALL_WORDS = TokenRules(stopwords=frozenset())
"""Words without punctuation; the first piece stands for its word."""
CHUNK = 4096
"""Sentences of a corpus weighed at once."""
NEAR = 128
"""Pairs of sentence vectors that stay near the processor together."""


@dataclass(frozen=True, kw_only=True)
class WeightedSentences:
    """Sentences with weighted words, encoded just now or read from an index.

    Parameters
    ----------
    sentences
        The texts.
    weights
        Weights of the words, summing to one in each sentence.
    vectors, norms
        Word vectors of the embedding layer in use and their lengths, whitened already; None if
        the measure needs none.
    structure, sums, squares, sizes, pooled
        As in `Encodings`.
    encodings
        What the encoder returned; None for sentences of an index.
    totals
        What the weights of each sentence summed to before they were normalised; None likewise.
    """

    sentences: Sequence[str]
    weights: Ragged
    vectors: Ragged | None
    norms: Ragged | None
    structure: Ragged
    sums: Floats
    squares: Floats
    sizes: Ints
    pooled: Singles
    encodings: Encodings | None = None
    totals: Floats | None = None

    def __len__(self) -> int:
        return len(self.sentences)

    @property
    def encoded(self) -> Encodings:
        """What the encoder returned; refuses sentences of an index."""
        assert self.encodings is not None, "these sentences were not encoded just now"
        return self.encodings

    def numbers(self, texts: Iterable[str]) -> Ints:
        """Return the rows of texts."""
        return self.encoded.numbers(texts)

    def take(self, rows: Rows) -> WeightedSentences:
        """Copy some of the sentences, without encodings and totals."""
        return gathered(WeightedSentences, [(self, rows)])


@dataclass(frozen=True)
class FitCorpus:
    """A corpus to learn from: how often each sentence occurs, and how to weigh some of them."""

    counts: Mapping[str, int]
    weigh: Callable[[Sequence[str]], WeightedSentences]

    def blocks(self) -> Iterator[tuple[WeightedSentences, Ints, Ints]]:
        """Yield weighted sentences, which of their rows to take, and how often each occurs."""
        texts = list(self.counts)
        for start in range(0, len(texts), CHUNK):
            part = texts[start : start + CHUNK]
            sentences = self.weigh(part)
            counts = np.array([self.counts[text] for text in part], np.int64)
            yield sentences, sentences.numbers(part), counts


def joined(parts: Sequence[WeightedSentences]) -> WeightedSentences:
    """Put sentences of one measure that lie apart one after another."""
    return gathered(WeightedSentences, [(part, slice(None)) for part in parts])


def renumbered(rows: Ints) -> tuple[Ints, Ints]:
    """Return the sentences that occur in pairs, and the pairs in terms of these."""
    picked, numbers = np.unique(rows, return_inverse=True)
    return picked, numbers.reshape(rows.shape)


def sentence_distances(pooled: Singles, rows: Ints) -> Floats:
    """Return one minus the cosine of the vectors of two sentences, for every pair.

    Half the squared distance of unit vectors: 0 exactly for the same vector, never below.
    """
    out = np.empty(len(rows))
    for start in range(0, len(rows), NEAR):
        place = slice(start, start + NEAR)
        vectors = pooled[rows[place]].astype(np.float64)
        lengths = np.sqrt(np.square(vectors).sum(axis=2, keepdims=True))
        units = vectors / np.where(lengths > 0, lengths, 1.0)
        out[place] = np.square(units[:, 0] - units[:, 1]).sum(axis=1) / 2
    return out


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
