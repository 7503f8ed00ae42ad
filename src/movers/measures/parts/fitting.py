"""Fitting statistics on sentences in one pass over the model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
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

    A repeated sentence counts as often as it occurs. The ``request`` tells what to keep of each;
    its embedding layers are the ones whitened, unless ``whitening`` is None. BV_A of every head,
    the ``variability``, takes two more passes. ``origin`` says what the sentences are.

    Returns
    -------
    The statistics, and the encodings of the distinct sentences, not yet whitened.
    """
    corpus = list(sentences)
    counts = Counter(corpus)
    if not counts:
        raise InputError("fit needs at least one sentence, got none")
    sums, encodings = add_up(encoder, counts, request, whitening=whitening, progress=progress)
    set_corpus_order(sums.moments, corpus)
    statistics = sums.statistics(encoder, request.rules, whitening=whitening, origin=origin)
    arrays = {}
    if variability:
        every = list(counts.elements())
        found = attention_variability(lambda: encoder.attentions(every))
        arrays["variability"] = found.reshape(encoder.layers, encoder.heads)
    return replace(statistics, corpus=corpus_digest(counts), arrays=arrays), encodings


@dataclass
class Sums:
    """What a fit adds up over sentences; those of the parts of a corpus add up to its own.

    ``total`` counts sentences, ``words`` and ``pieces`` those that each word and each piece of one
    occurs in; ``moments`` are those of the token vectors by embedding layer.
    """

    total: int = 0
    moments: dict[int, Moments] = field(default_factory=dict)
    words: Counter[str] = field(default_factory=Counter)
    pieces: Counter[str] = field(default_factory=Counter)

    @classmethod
    def of(
        cls,
        encoder: Encoder,
        counts: Mapping[str, int],
        moments: Mapping[int, Moments],
        rules: TokenRules,
    ) -> Sums:
        """Count in how many sentences words and pieces occur, whatever words the rules drop."""
        distinct, times = list(counts), list(counts.values())
        every = TokenRules(recipe=rules.recipe, subwords=rules.subwords)
        words = count_words(encoder.encode(distinct, Request(rules=every)), times, rules.recipe)
        pieces = count_documents(encoder.pieces(distinct), times)
        return cls(sum(times), dict(moments), words, pieces)

    def statistics(
        self,
        encoder: Encoder,
        rules: TokenRules,
        *,
        whitening: WhiteningKind | None,
        origin: str = "",
    ) -> Statistics:
        """Make statistics of the sums, and freeze them."""
        kind = whitening or "clean"
        return Statistics(
            fingerprint=encoder.fingerprint,
            origin=origin or f"{self.total} sentences",
            whitening={layer: Whitening.fit(one, kind) for layer, one in self.moments.items()},
            tables={
                "idf": idf_table(self.words, self.total, rules.recipe),
                "piece-idf": piece_idf_table(self.pieces, self.total),
            },
        )


def add_up(
    encoder: Encoder,
    counts: Mapping[str, int],
    request: Request,
    *,
    whitening: WhiteningKind | None,
    progress: bool = False,
) -> tuple[Sums, Encodings]:
    """Add up what a fit needs over distinct sentences, each as often as it occurs.

    Returns the encodings as well, not yet whitened.
    """
    distinct, times = list(counts), list(counts.values())
    layers = request.embeddings if whitening else ()
    kind = OrderedMoments if whitening == "as-coded" else Moments
    moments = {layer: kind(encoder.dimension) for layer in layers}
    encodings = encoder.encode(distinct, request, moments=moments, counts=times, progress=progress)
    return Sums.of(encoder, counts, moments, request.rules), encodings


def set_corpus_order(moments: Mapping[int, Moments], corpus: Iterable[str]) -> None:
    """Tell moments that depend on it the order of a corpus, repeated sentences in their places."""
    ordered = [one for one in moments.values() if isinstance(one, OrderedMoments)]
    if ordered:
        numbers: dict[str, int] = {}
        order = [numbers.setdefault(text, len(numbers)) for text in corpus]
        for one in ordered:
            one.order = order


def statistics_of(
    encoder: Encoder,
    counts: Mapping[str, int],
    moments: Mapping[int, Moments],
    rules: TokenRules,
    *,
    whitening: WhiteningKind | None = "clean",
    origin: str = "",
) -> Statistics:
    """Make statistics of a corpus whose token vectors have been added up already.

    ``counts`` are the sentences and how often each occurs, ``moments`` those of their token vectors
    by embedding layer. Document frequencies are those of all words, whatever the ``rules`` drop.
    """
    sums = Sums.of(encoder, counts, moments, rules)
    found = sums.statistics(encoder, rules, whitening=whitening, origin=origin)
    return replace(found, corpus=corpus_digest(counts))


def corpus_digest(counts: Mapping[str, int]) -> str:
    """Eight hex digits that pin a corpus, whatever the order of its sentences."""
    total = sha256()
    for text, count in sorted(counts.items()):
        total.update(f"{count} {text}\n".encode())
    return total.hexdigest()[:8]
