"""From text to numbers: the whole road, for one measure, one model and one set of statistics."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property, partial
from hashlib import sha256
from typing import Any, Self

import numpy as np

from movers import blocks
from movers.arrays import Floats, Ints, Singles
from movers.documents.measure import Matched, blocks_of, compare_documents
from movers.documents.splitting import Document, Text, read_document
from movers.encode.encoder import Encoder
from movers.encode.encodings import EncodingCache, Encodings, Head, Request, Store
from movers.errors import Choose, Do, InputError
from movers.explain.compared import Signature
from movers.io.pairs import check_sentences, check_text, read_pairs
from movers.judge.report import JudgeReport
from movers.measures.base import Measure
from movers.measures.parts.statistics import Statistics, statistics_of_model
from movers.measures.sentences import WeightedSentences
from movers.runtime.progress import progress_bar
from movers.scale import similarity_of
from movers.settings import Empty, Settings, check_names, table

KEPT = 4096
"""Sentences of texts that are encoded together with all that comparing them takes."""
TEXTS = ("comparing", "texts")
"""What a progress bar says."""
SCALE = "scale"
"""What the names of fitted scales begin with."""
UNSCALED = ("movers", "engine", "texts")
"""Fields of the signature that leave unrelated sentences as far apart as they are."""
FITTED = ("measure", "far", "signature")
"""What is worked out once for settings, model and statistics."""
DERIVED = ("encoder", *FITTED)
"""What is not pickled, for a copy works it out again."""


class Distances:
    """Distances between texts under one measure, one model and one set of statistics.

    The model is loaded on first use; the sentences of a call are kept for the next, also for others
    made from this one by `using`.

    Parameters
    ----------
    settings
        What a user chose.
    encoder
        The model, or what loads it when it is first needed.
    """

    def __init__(self, settings: Settings, encoder: Encoder | Callable[[], Encoder]) -> None:
        self.settings, self.cache = settings, EncodingCache()
        self._source, self._statistics = encoder, settings.fitted
        self._warned: set[int] = set()
        self._sentences: WeightedSentences | None = None
        self.report: JudgeReport | None = None

    def __repr__(self) -> str:
        unloaded = f"{self.settings.measure.name}, model not loaded yet"
        told = self.signature if "encoder" in vars(self) else unloaded
        return f"{type(self).__name__}({told})"

    def __getstate__(self) -> dict[str, object]:
        """Leave model and encodings behind; a copy in another process loads its own."""
        state = {name: value for name, value in vars(self).items() if name not in DERIVED}
        return {**state, "_sentences": None}

    # what it is made of

    @cached_property
    def encoder(self) -> Encoder:
        """The model, loaded when first needed."""
        return self._source() if callable(self._source) else self._source

    @cached_property
    def measure(self) -> Measure:
        """The measure, bound to the model, its statistics and the settings."""
        shipped = partial(statistics_of_model, self.encoder.fingerprint)  # many read none of it
        statistics = shipped if self._statistics is None else self.statistics
        context = self.settings.context(self.encoder, statistics, self._warned)
        return self.settings.measure.bind(context)

    @property
    def statistics(self) -> Statistics:
        """Fitted, loaded or shipped statistics; empty ones if there are none."""
        if self._statistics is None:
            self._statistics = statistics_of_model(self.encoder.fingerprint)
        if self._statistics.fingerprint != self.encoder.fingerprint:
            raise InputError(
                f"the statistics belong to model {self._statistics.fingerprint}, but "
                f"{self.encoder.name} is {self.encoder.fingerprint}; fit again"
            )
        return self._statistics

    def adopt(self, statistics: Statistics) -> None:
        """Go on with other statistics; forget what was weighed by the old ones."""
        self._statistics, self._sentences = statistics, None
        for name in FITTED:
            vars(self).pop(name, None)

    @property
    def threads(self) -> int | None:
        """Threads of the solver and the measures; None is one per processor."""
        return self.settings.threads

    @threads.setter
    def threads(self, threads: int | None) -> None:
        self.settings = replace(self.settings, threads=threads)
        vars(self).pop("measure", None)

    @property
    def heads(self) -> tuple[Head, ...]:
        """Attention heads in use, as (layer, head) counted from 1."""
        return self.measure.heads

    @property
    def embedding(self) -> int:
        """Layer of the word vectors; 0 is the input layer."""
        return self.measure.embedding

    @cached_property
    def signature(self) -> Signature:
        """All settings that change a number."""
        return self._sign(self.far)

    def _sign(self, far: float | None) -> Signature:
        return self.settings.signature(self.encoder, self.measure.signature(), far)

    @cached_property
    def far(self) -> float | None:
        """Distance of unrelated sentences, where similarity is 0; None if not measured yet."""
        fitted = self.statistics.arrays.get(self.scale_key)
        return self.measure.far if fitted is None else float(fitted[0])

    @property
    def scale_key(self) -> str:
        """Name under which statistics keep the scale of one measure with all its settings."""
        named = (field for field in self._sign(None).fields if field[0] not in UNSCALED)
        fields = "|".join(f"{name}:{value}" for name, value in named)
        return f"{SCALE}.{sha256(fields.encode()).hexdigest()[:8]}"

    def using(self, method: str | None = None, **changes: Any) -> Self:
        """Make a scorer with other settings that shares model, statistics and encodings.

        Takes the settings of `movers.load` by name, except for the model's own.
        """
        known = table(type(self.settings))
        check_names(changes, type(self.settings))
        fixed = [name for name in changes if name in known and known[name].of_model]
        if fixed:
            raise InputError(f"{fixed[0]} belongs to the model; make another scorer with load")
        if method is not None:
            changes = {"judge": None, **changes, "method": method}
        changes = {"statistics": self._statistics, "threads": self.threads, **changes}
        other = type(self)(replace(self.settings, **changes), self._source)
        other.cache, other._warned = self.cache, self._warned
        if "encoder" in vars(self):
            other.encoder = self.encoder
        return other

    # from text to numbers

    def distances(
        self, pairs: Any, targets: Iterable[str] | None = None, *, progress: bool = False
    ) -> Floats:
        """Return the distance of every pair, shape ``(pairs,)``.

        Parameters
        ----------
        pairs
            Pairs of sentences or texts of any length: 2-tuples, or a data frame with two columns.
            With targets, the sources.
        targets
            The second sentence of every pair, in the order of the sources.
        progress
            Show progress bars.
        """
        texts = read_pairs(pairs, targets, check=check_text)
        long = self._long(text for pair in texts for text in pair)
        apart = np.array([not long.isdisjoint(pair) for pair in texts], bool)
        out, short = np.zeros(len(texts)), np.flatnonzero(~apart)
        words = texts if not long else [texts[number] for number in short]
        for place, sentences, rows in self._blocks(words, progress=progress):
            out[short[place]] = self._compare(self.measure.distances, sentences, rows)
        if long:
            some = [texts[number] for number in np.flatnonzero(apart)]
            out[apart] = self._text_distances(some, progress=progress)
        if (undefined := np.isnan(out)).any():
            blocks.warn_undefined(undefined)
        return out

    def similarities(
        self, pairs: Any, targets: Iterable[str] | None = None, *, progress: bool = False
    ) -> Floats:
        """Return the similarity of every pair, 0 (unrelated) to 1 (the same), shape ``(pairs,)``.

        Takes what `distances` takes.
        """
        if self.far is None:
            raise InputError(
                f"what unrelated sentences are apart under {self.measure.name} has not been "
                "measured",
                Do("fit"),
                Choose("method", "movers", ", which knows it"),
            )
        return similarity_of(self.distances(pairs, targets, progress=progress), self.far)

    def scaled(self, distances: Floats) -> Floats | None:
        """Return similarities that distances stand for; None if `far` has not been measured."""
        far = self.far
        return None if far is None else similarity_of(distances, far)

    def _blocks(
        self, texts: Sequence[tuple[str, str]], *, progress: bool = False
    ) -> Iterator[tuple[slice, WeightedSentences, Ints]]:
        """Yield pairs a few at a time: their places, weighted sentences, the pairs by row."""
        size = self._block_size()
        for start in range(0, len(texts), size):
            sides = [text for pair in texts[start : start + size] for text in pair]
            sentences = self.weigh(sides, progress=progress)
            rows = sentences.numbers(sides).reshape(-1, 2)
            with progress_bar(*blocks.PAIRS, len(rows), progress=progress) as bar:
                for low in range(0, len(rows), blocks.CHUNK):
                    part = rows[low : low + blocks.CHUNK]
                    yield slice(start + low, start + low + len(part)), sentences, part
                    bar.update(len(part))

    def table(
        self,
        texts: Sequence[tuple[str, str]],
        compare: Callable[[WeightedSentences, Ints], Floats],
        columns: int,
        policy: Empty | None = None,
        *,
        progress: bool = False,
    ) -> Floats:
        """Return a row of so many numbers for every pair; arguments are those of `_compare`."""
        out = np.zeros((len(texts), columns))
        for place, sentences, rows in self._blocks(texts, progress=progress):
            out[place] = self._compare(compare, sentences, rows, policy)
        return out

    def _block_size(self) -> int:
        """Return how many pairs of rather long sentences fit into `blocks.BLOCK_BYTES`."""
        request = self.measure.requirements
        layers = max(1, len(request.embeddings))
        numbers = len(request.heads) * blocks.WORDS + layers * self.encoder.dimension
        return max(blocks.CHUNK, blocks.BLOCK_BYTES // (2 * 4 * numbers * blocks.WORDS))

    def _compare(
        self,
        compare: Callable[[WeightedSentences, Ints], Floats],
        sentences: WeightedSentences,
        rows: Ints,
        policy: Empty | None = None,
    ) -> Floats:
        """Compare the pairs that have a distance, and treat the others by a policy.

        Parameters
        ----------
        compare
            Method of the measure: from sentences and pairs to a number, or a row of them, per pair.
        sentences, rows
            Weighted sentences and the pairs by row.
        policy
            ``"raise"`` refuses pairs without a distance, ``"nan"`` gives NaN, and ``"keep"`` the
            limit: infinitely far from nothing, nothing at 0 from nothing. None is that of the
            settings, or else NaN.
        """
        why = self.measure.undefined(sentences, rows)
        if not why.any():
            return compare(sentences, rows)
        policy = policy or self.settings.empty or "nan"
        if policy == "raise":
            raise blocks.without_words(sentences, rows, why)
        values = compare(sentences, rows[why == 0])
        out = np.full((len(rows), *values.shape[1:]), np.nan)
        if policy == "keep":
            out.T[:] = self.measure.limits(sentences, rows).value[:, 0]
        out[why == 0] = values
        return out

    def between(self, sentences: WeightedSentences, rows: Ints) -> Floats:
        """Return the distance of pairs of weighted sentences by row, ``(pairs,)``."""
        out = np.zeros(len(rows))
        for low in range(0, len(rows), blocks.CHUNK):
            part = slice(low, low + blocks.CHUNK)
            out[part] = self._compare(self.measure.distances, sentences, rows[part])
        return out

    # encoding and weighing

    def weigh(self, sentences: Sequence[str], *, progress: bool = False) -> WeightedSentences:
        """Encode and weigh sentences, reusing those of earlier calls.

        Sentences of earlier calls may be among the rows; `WeightedSentences.numbers` finds each.
        """
        known = self._sentences
        if known is None or not all(text in known.encoded.rows for text in sentences):
            encodings = self._store().get(sentences, partial(self._encode, progress=progress))
            known = self._sentences = self.measure.weigh(encodings)
        return known

    def weigh_each(
        self, sentences: Sequence[str], store: Store | None = None, *, progress: bool = False
    ) -> WeightedSentences:
        """Encode and weigh sentences and no others, each in its place, repeated ones included.

        They are looked for and kept in a store of the caller's, or else in that of this scorer.
        """
        request = self.measure.requirements if store is None else store.request
        store = self._store() if store is None else store
        encodings = store.get(sentences, partial(self._encode, progress=progress))
        taken = encodings.take(encodings.numbers(sentences), request, store.request.heads)
        return self.measure.weigh(taken).take(slice(None))

    def _store(self) -> Store:
        return self.cache.find(self.measure.requirements, self.measure.whitening_key)

    def _encode(self, missing: list[str], request: Request, *, progress: bool = False) -> Encodings:
        encodings = self.encoder.encode(missing, request, progress=progress)
        self.measure.whiten(encodings)
        return encodings

    def prepare(self, sentences: Sequence[str] = ()) -> None:
        """Register what this scorer needs, so that scorers sharing encodings encode once.

        Sentences given here are encoded together now; calls that need them find them.
        """
        store = self._store()
        if sentences:
            store.get(check_sentences(sentences, "sentence"), self._encode)

    @property
    def kept_bytes(self) -> int:
        """What the sentences encoded so far take."""
        return self.cache.nbytes

    def forget(self) -> None:
        """Forget the sentences encoded so far, for the scorers that share them too."""
        self.cache.clear()
        self._sentences = None

    # texts longer than the model

    @property
    def _by_sentences(self) -> bool:
        """Whether longer texts are compared sentence by sentence."""
        return self.settings.texts != "whole" and self.measure.by_sentences and self.far is not None

    def unread(self, text: Text) -> str:
        """Return the end of a text that no number of this scorer depends on."""
        if self._by_sentences or not isinstance(text, str):
            return ""
        return self.encoder.unread(text)

    def unread_words(self, pairs: Sequence[tuple[Text, Text]]) -> Ints:
        """Count the words of every pair that no number of this scorer depends on, ``(pairs,)``."""
        given = read_pairs(pairs, check=check_text)
        counts = {text: len(self.unread(text).split()) for pair in given for text in pair}
        return np.array([counts[one] + counts[two] for one, two in given], np.int64)

    def takes_sentences(self, text: Text) -> bool:
        """Tell whether a text is compared sentence by sentence, with whatever other."""
        return self._by_sentences and bool(self._long((text,)))

    def _long(self, texts: Iterable[Text]) -> set[Text]:
        """Return those of some texts that are compared sentence by sentence, whatever others."""
        known, choice = {*texts}, self.settings.texts
        asked = {text for text in known if choice == "sentences" or not isinstance(text, str)}
        long = asked
        if choice == "auto" and self.measure.by_sentences:
            long = {text for text in known if text in asked or self.encoder.unread(str(text))}
        if not long or self._by_sentences:
            return long
        if asked:
            raise InputError(
                f"{self.measure.name} does not compare texts sentence by sentence",
                Choose("method", "movers"),
                Choose("texts", "auto"),
            )
        return set()

    def document(self, text: Text) -> Document:
        """Cut a text into sentences that the model reads to their end."""
        return read_document(text, lambda sentence: not self.encoder.unread(sentence))

    def _match(self, source: Document, target: Document, *, progress: bool) -> Matched:
        """Match the sentences of two texts."""
        assert self.far is not None
        vectors = partial(self._vectors, progress=progress)
        price = partial(self._sentence_distances, progress=progress)
        return compare_documents(source, target, vectors, price, self.far)

    def _vectors(self, sentences: Sequence[str], *, progress: bool) -> Singles:
        """Return vectors of sentences; of many, nothing else is kept."""
        each = list(dict.fromkeys(sentences))
        if len(each) <= KEPT:
            weighed = self.weigh(each, progress=progress)
            return weighed.pooled[weighed.numbers(sentences)]
        rows = {text: row for row, text in enumerate(each)}
        encoded = self.encoder.encode(each, Request(pooled=True), progress=progress)
        numbers = encoded.numbers(each)
        return encoded.pooled[numbers[[rows[text] for text in sentences]]]

    def _sentence_distances(
        self, pairs: Sequence[tuple[str, str]], *, progress: bool = False
    ) -> Floats:
        """Return distances of sentences, some pairs at a time; `far` where there are no words."""
        out = np.zeros(len(pairs))
        with progress_bar(*blocks.PAIRS, len(pairs), progress=progress) as bar:
            for start in range(0, len(pairs), KEPT // 2):
                sides = [text for pair in pairs[start : start + KEPT // 2] for text in pair]
                weighed = self.weigh(sides)
                rows = weighed.numbers(sides).reshape(-1, 2)
                out[start : start + len(rows)] = self.between(weighed, rows)
                bar.update(len(rows))
        return np.where(np.isnan(out), self.far or 1.0, out)

    def _text_distances(
        self, pairs: Sequence[tuple[Text, Text]], *, progress: bool = False
    ) -> Floats:
        """Return distances of texts by their sentences, encoded together; NaN of an empty one."""
        documents = {text: self.document(text) for pair in pairs for text in pair}
        read = [(documents[one], documents[two]) for one, two in pairs]
        out = np.full(len(pairs), np.nan)
        with progress_bar(*TEXTS, len(pairs), progress=progress) as bar:
            for numbers, sentences in blocks_of(read, KEPT):
                if sentences:
                    self._vectors(sentences, progress=progress)
                for number in numbers:
                    if all(document.sentences for document in read[number]):
                        out[number] = self._match(*read[number], progress=progress).distance
                    bar.update(1)
        return out
