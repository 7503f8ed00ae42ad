"""Sentences to words, vectors and attention: each sentence once, in length-sorted batches.

`Encoder` does all that is the same whatever runs the model: text to tokens, tokens to words,
batches, and what is kept of them. Two engines run it: `movers.encode.light` the embedded model by
onnxruntime, `movers.encode.transformer` any Hugging Face encoder by torch.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache, cached_property, lru_cache, partial
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from movers.arrays import Ints, Ragged, Singles
from movers.encode import models
from movers.encode.collect import Batch, BatchLimits, Collector, allocate
from movers.encode.encodings import Encodings, Request
from movers.encode.pooling import pooling_of, unrelated_sentences
from movers.encode.stopwords import english, not_english
from movers.encode.tokens import Text, TokenRules, Vocabulary, WordFinder, read
from movers.encode.whiten import Moments
from movers.errors import Choose, InputError
from movers.runtime.notices import ForeignWarning, TruncationWarning, UnknownWarning, notify
from movers.runtime.progress import progress_bar
from movers.runtime.threads import end_if_unwanted

MARKS = 2
"""Tokens that begin and end what a model reads."""
BEGINNING, LONGEST_WORD = 16, 200
"""Letters for each token of the longest sentence, which mostly are more than it has; and letters
behind what was read where a word that was cut short, and so has other tokens, does not matter."""
MOSTLY = 0.5
"""Share of a sentence that a model may fail to know before it is said."""
WINDOW_BYTES = 1 << 30
"""What is kept of the sentences whose batches a GPU sorts by length, before it comes over."""
Layers = Collection[int]
Take = Callable[[int, Any], None]
"""Called with a layer and its attention matrices, ``(sentences, heads, tokens, tokens)``."""


class Encoder(ABC):
    """A model that reads sentences; see `movers.loading.load_encoder`.

    It has ``layers`` of attention with so many ``heads`` each, none in a model without attention;
    its hidden states are ``dimension`` long.

    Attributes
    ----------
    engine
        What runs the model: a row of `movers.encode.engines.ENGINES`.
    batch_size
        Most sentences in a batch, for want of memory; None leaves it to their tokens.
    gathers
        Whether what is kept stays with the model until a window of sentences is done.
    pooling
        How token vectors become the vector of a sentence: a row of `POOLINGS`.
    vocabulary, finder
        The tokenizer's pieces, and the finder of words by some rules.
    calibrations
        What measures found out about the model, by name.
    architecture, fingerprint, max_length
        What kind of model it is, eight hex digits that pin the weights, and how many tokens it can
        read, special ones included.
    """

    engine: ClassVar[str]
    batch_size: int | None = None
    gathers: bool = False
    device: str
    dtype: str
    layers: int
    heads: int
    dimension: int
    architecture: str
    fingerprint: str
    max_length: int
    limits: BatchLimits

    def __init__(self, name: str, folder: Path | None, tokenizer: Any) -> None:
        self.name, self.folder, self.tokenizer = name, folder, tokenizer
        self.pooling = pooling_of(folder or name)
        self.vocabulary = Vocabulary(tokenizer)
        self.finder = lru_cache(maxsize=8)(partial(WordFinder, self.vocabulary))
        self.calibrations: dict[str, object] = {}

    @property
    @abstractmethod
    def model_threads(self) -> int:
        """Threads that run the model; can be set."""

    @model_threads.setter
    @abstractmethod
    def model_threads(self, threads: int) -> None: ...

    @abstractmethod
    def _batches(self, text: Text) -> Iterator[Batch]:
        """Return sentences in order of length, as many at a time as the limits allow."""

    @abstractmethod
    def _forward(
        self, batch: Batch, layers: Layers, attention: Layers, take: Take
    ) -> dict[int, Any]:
        """Run a batch; returns hidden states, and hands over the attention of layers.

        Both as the batch and the collectors of this engine take them.
        """

    def _collector(self, collector: Collector) -> Any:
        """Return what keeps the sentences of a collector: itself, or what gathers on a device."""
        return collector

    @property
    def default_layers(self) -> str:
        """Attention layers to use when nobody chose."""
        return models.recommended_layers(self.fingerprint, None if self.folder else self.name)

    @cached_property
    def typical(self) -> Callable[[int], Singles]:
        """The mean word vector of a layer, over all words of unrelated sentences; kept."""

        @cache
        def mean(layer: int) -> Singles:
            request = Request((layer,), rules=TokenRules(subwords="mean"))
            words = self.encode(unrelated_sentences(), request).vectors[layer].data
            return np.asarray(words.mean(axis=0, dtype=np.float64), np.float32)

        return mean

    def describe(self) -> dict[str, Any]:
        """Return facts about the model worth printing."""
        facts = ("layers", "heads", "dimension", "max_length", "device", "dtype")
        return {
            "model": self.name,
            "fingerprint": self.fingerprint,
            "engine": self.engine,
            "architecture": self.architecture,
            **{fact: getattr(self, fact) for fact in facts},
        }

    def encode(
        self,
        sentences: Sequence[str],
        request: Request,
        *,
        moments: dict[int, Moments] | None = None,
        counts: Sequence[int] | None = None,
        progress: bool = False,
    ) -> Encodings:
        """Encode distinct sentences, keeping only what the request names.

        Parameters
        ----------
        sentences
            Distinct sentences; the caller deduplicates.
        request
            Embedding layers, attention heads and word rules.
        moments
            Running moments by embedding layer; every token vector, special ones included, is
            added as often as its sentence's entry of ``counts``.
        progress
            Show a progress bar on standard error.
        """
        for layer in request.embeddings:
            if not 0 <= layer <= self.layers:
                raise InputError(
                    f"embedding layer {layer} is out of range; {self.name} has 0 (input) to "
                    f"{self.layers}"
                )
        text = read(self.tokenizer, sentences, self.max_length)
        self._warn(sentences, request, text)
        room, words = allocate(sentences, text, self.finder(request.rules), request, self.dimension)
        windows = [(0, len(sentences))]
        if self.gathers:
            windows = self._windows(request.nbytes(words.lengths, self.dimension))
        with (
            progress_bar("encoding", "sentences", len(sentences), progress=progress) as bar,
            ThreadPoolExecutor(1, "encodings") as courier,
        ):
            under_way: list[Future[None]] = []
            for low, high in windows if len(sentences) else ():
                host = Collector(request, words, room, low, high, self.pooling)
                collector = self._collector(host)
                part = text.between(low, high) if len(windows) > 1 else text
                times = None if counts is None else np.asarray(counts[low:high])
                self._run(collector, self._batches(part), moments or {}, times, low, bar)
                for sent in under_way:  # the sentences before, while the GPU works on these
                    sent.result()
                under_way = [collector.finish(courier)] if self.gathers else []
            for sent in under_way:
                sent.result()
        for moment in (moments or {}).values():
            moment.complete(len(sentences))
        return room

    def _windows(self, sizes: Ints) -> list[tuple[int, int]]:
        """Return sentences to sort and run together: as many as a GPU has room to keep."""
        number = np.cumsum(sizes) // WINDOW_BYTES
        cuts = [0, *(np.flatnonzero(np.diff(number)) + 1).tolist(), len(number)]
        return [(low, high) for low, high in pairwise(cuts) if high > low]

    def _run(
        self,
        collector: Any,
        batches: Iterable[Batch],
        moments: dict[int, Moments],
        counts: NDArray[np.int64] | None,
        low: int,
        bar: Any,
    ) -> None:
        """Run sentences through the model, and let a collector take what it keeps."""
        request = collector.request
        layers = {*moments, *request.embeddings}
        if request.pooled:
            layers.add(self.layers)
        attention = {layer for layer, _ in request.heads}
        if not layers and not attention:  # the words are all that is asked for
            return
        for batch in batches:
            end_if_unwanted()
            collector.begin(batch)
            states = self._forward(batch, layers, attention, collector.take_attention)
            collector.take_states(states)
            for layer, moment in moments.items():
                rows = batch.rows
                times = np.ones(len(rows), np.int64) if counts is None else counts[rows]
                each = (np.repeat(one, batch.lengths) for one in (times, rows + low))
                moment.add(batch.tokens(states[layer]), *each)
            bar.update(len(batch.rows))

    def pieces(self, sentences: Sequence[str]) -> list[list[str]]:
        """All tokens of every sentence as the tokenizer spells them, special tokens included."""
        return self.located(sentences, TokenRules())[0]

    def located(
        self, sentences: Sequence[str], rules: TokenRules
    ) -> tuple[list[list[str]], Ragged]:
        """Return all pieces of every sentence, and the token range of each word the rules keep."""
        names, text = self.vocabulary.pieces, read(self.tokenizer, sentences, self.max_length)
        words, _ = self.finder(rules).find(text)
        return [[names[number] for number in ids] for ids in text.ids], words

    def unread(self, sentence: str) -> str:
        """The end of a sentence that is longer than the model: what no number depends on."""
        # A token has at least one byte, so that short sentences need not be tokenized.
        if len(sentence.encode()) <= self.max_length - MARKS:
            return ""
        for length in sorted({min(len(sentence), BEGINNING * self.max_length), len(sentence)}):
            text = read(self.tokenizer, [sentence[:length]], self.max_length)
            end = int(text.offsets[:, 1].max(initial=0))
            if text.truncated and (length == len(sentence) or length - end > LONGEST_WORD):
                return sentence[end:].strip()
        return ""

    def states(self, sentences: Sequence[str], layer: int) -> list[Singles]:
        """Return hidden states of every token of every sentence, special tokens included."""
        batches = self._batches(read(self.tokenizer, sentences, self.max_length))
        out: list[Singles] = [np.zeros((0, 0), np.float32)] * len(sentences)
        for batch in batches:
            found = batch.tokens(self._forward(batch, {layer}, (), _no_attention)[layer])
            ends = np.cumsum(batch.lengths)[:-1]
            for row, states in zip(batch.rows.tolist(), np.split(found, ends), strict=True):
                out[row] = states
        return out

    def attentions(self, sentences: Sequence[str]) -> Iterator[Singles]:
        """Full attention matrices, one ``(layers * heads, tokens, tokens)`` array per sentence.

        Special tokens included, nothing removed, layer by layer; shortest sentence first.
        """
        text = read(self.tokenizer, sentences, self.max_length)
        for batch in self._batches(text):
            found: dict[int, Singles] = {}

            def take(
                layer: int,
                matrices: Any,
                batch: Batch = batch,
                found: dict[int, Singles] = found,
            ) -> None:
                found[layer] = batch.array(matrices)

            self._forward(batch, (), {*range(1, self.layers + 1)}, take)
            whole = np.concatenate([found[layer] for layer in sorted(found)], axis=1)
            for row, matrices in zip(batch.rows.tolist(), whole, strict=True):
                length = len(text.ids[row])
                yield matrices[:, :length, :length]

    def _warn(self, sentences: Sequence[str], request: Request, text: Text) -> None:
        """Say which sentences are cut, which mostly unknown, and whether they look foreign."""
        if text.truncated:
            cut = [sentences[row] for row in text.truncated]
            count, shown = _listed(cut, "…")
            message = (
                f"{count} longer than the {self.max_length} tokens of {self.name} lost their end"
            )
            notify(f"{message}: {shown}", TruncationWarning)
        lost: list[int] = []
        if text.unknown:
            tokens = Ragged(text.real.astype(np.int64), text.ids.starts).sums()
            lost = np.flatnonzero(text.unknown_counts > MOSTLY * tokens).tolist()
        if lost:
            count, shown = _listed([sentences[row] for row in lost])
            notify(
                f"{self.name} does not know most of {count}: {shown}; of words it does not know it "
                "sees only whether they are the same, so take a model of that language or script",
                UnknownWarning,
            )
        if request.rules.stopwords == english() and not_english(self.tokenizer, sentences):
            notify(
                "these sentences do not look English, but the stop words left out of them are",
                ForeignWarning,
                Choose("stopwords", None, "or a list of that language, and a model that knows it"),
            )


def _no_attention(layer: int, matrices: Any) -> None:
    """Take nothing."""


def _listed(sentences: Sequence[str], end: str = "") -> tuple[str, str]:
    """Return how many sentences there are, and how the first of them begin."""
    shown = ", ".join(repr(text[:30] + end) for text in sentences[:3])
    more = " and more" * (len(sentences) > 3)
    return f"{len(sentences)} sentence{'s' * (len(sentences) > 1)}", shown + more
