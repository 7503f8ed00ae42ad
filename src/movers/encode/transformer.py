"""Sentences through a Hugging Face encoder: each once, in length-sorted batches."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache, cached_property, lru_cache, partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from movers.arrays import Ragged, Singles
from movers.encode import models
from movers.encode.batches import Batch, Limits, padded_batches
from movers.encode.encodings import Encodings, Request
from movers.encode.keeping import Keeper, allocate
from movers.encode.pooling import (
    POOLINGS,
    pooling_of,
    unrelated_sentences,
)
from movers.encode.stopwords import english, not_english
from movers.encode.tokens import Text, TokenRules, Tokens, Vocabulary, WordFinder, locate, read
from movers.encode.unknown import Unknown, find_unknown, own_vectors
from movers.encode.watching import Watch, make_watchable
from movers.encode.whiten import Moments
from movers.errors import Choose, InputError, ModelError
from movers.runtime.notices import ForeignWarning, TruncationWarning, UnknownWarning, notify
from movers.runtime.progress import progress_bar

if TYPE_CHECKING:
    from torch import Tensor

# Matrix libraries choose other kernels for very few rows and for very long reductions. Batches
# of at least 16 tokens, where only sentences up to 96 tokens share padding, meet the same ones
# on processors with AVX2 or newer, and a sentence's numbers then have the same bits in any
# company. MKL's code for older processors looks at the number of rows all the same: there the
# numbers are equal up to rounding, some 1e-5. `movers doctor` tells which it is.
SHORTEST = 16
LONGEST_PADDED = 96

BATCH_TOKENS = {"cpu": 2048, "mps": 8192, "cuda": 65536}
BATCH_PADDING = {"cpu": 96, "mps": 8192, "cuda": 65536}
"""Tokens of padding from which another batch takes less time."""
MOSTLY = 0.5
"""Share of a sentence that a model may fail to know before it is said."""
BATCH_ATTENTION = 1 << 26
"""Attention entries of a batch, on a CPU over all layers and heads: 256 MB in single precision."""
WINDOW_BYTES = 1 << 30
"""What is kept of the sentences whose batches a GPU sorts by length, before it comes over."""


class TransformerEncoder:
    """A Hugging Face encoder with eager attention.

    It has ``layers`` of attention with so many ``heads`` each, none in a model without attention;
    its hidden states are ``dimension`` long.

    Parameters
    ----------
    model
        Hub name or folder; None is the model installed with movers.
    device
        ``"auto"`` (CUDA, then MPS, then CPU) or a torch device.
    dtype
        ``"float32"``, or ``"bfloat16"`` / ``"float16"`` on a GPU.
    batch_tokens
        Padded tokens in a batch; None picks by device.

    Attributes
    ----------
    batch_size
        Most sentences in a batch, for want of memory; None leaves it to their tokens.
    """

    batch_size: int | None = None

    def __init__(
        self,
        model: str | Path | None = None,
        *,
        device: str | None = None,
        dtype: str = "float32",
        batch_tokens: int | None = None,
    ) -> None:
        if dtype not in models.DTYPES:
            raise InputError(f"dtype must be one of {models.DTYPES}, got {dtype!r}")
        self.device = models.pick_device(device)
        kind = self.device.partition(":")[0]
        if dtype != "float32" and kind == "cpu":
            raise InputError(f"dtype {dtype!r} needs a GPU, and the device is 'cpu'")
        self.dtype = dtype
        self.name = models.EMBEDDED if model in (None, models.EMBEDDED) else str(model)
        self.folder: Path | None = None
        if self.name == models.EMBEDDED:
            self.folder = models.embedded_folder()
        elif Path(self.name).is_dir():
            self.folder = Path(self.name)
        source = self.folder or (model if isinstance(model, Path) else self.name)
        self.tokenizer, self.model = models.load_pretrained(source, self.device, dtype)
        self.config = self.model.config
        self.layers = int(self.config.num_hidden_layers)
        self.dimension = int(self.config.hidden_size)
        self.watchable, self.stoppable = make_watchable(self.model, self.layers)
        self.heads, leaks = int(getattr(self.config, "num_attention_heads", 0)), False
        if not self.watchable:
            self.heads, leaks = models.probe(self.model, self.tokenizer.pad_token_id or 0)
        self.gathers = kind == "cuda"
        self.limits = self._limits(kind, batch_tokens, leaks=leaks)

    def _limits(self, kind: str, batch_tokens: int | None, *, leaks: bool) -> Limits:
        """How much goes into a batch, and how far it is padded, unless padding leaks."""
        # One layer's matrices at a time where nobody minds how sentences are batched.
        layers = 1 if self.watchable and kind == "cuda" else self.layers
        return Limits(
            batch_tokens or BATCH_TOKENS[kind],
            BATCH_ATTENTION // max(1, layers * self.heads),
            BATCH_PADDING[kind],
            *((1, 0) if leaks else (SHORTEST, LONGEST_PADDED)),
        )

    @cached_property
    def fingerprint(self) -> str:
        """Eight hex digits that pin the weights: the hash of their files, or the hub commit.

        The embedded model's weights have its fingerprint in whatever file they come.
        """
        commit = getattr(self.config, "_commit_hash", None) or "unknown"
        found = str(commit if self.folder is None else models.digest(self.folder))[:8]
        if found not in models.RECOMMENDED_LAYERS and models.is_embedded(self.model):
            return models.EMBEDDED_FINGERPRINT
        return found

    @property
    def default_layers(self) -> str:
        """Attention layers to use when nobody chose."""
        return models.recommended_layers(self.fingerprint, None if self.folder else self.name)

    @cached_property
    def pooling(self) -> str:
        """How token vectors become the vector of a sentence: a row of `POOLINGS`."""
        return pooling_of(self.folder or self.name)

    @cached_property
    def calibrations(self) -> dict[str, object]:
        """What measures found out about the model, by name."""
        return {}

    @cached_property
    def typical(self) -> Callable[[int], Singles]:
        """The mean word vector of a layer, over all words of unrelated sentences; kept."""

        @cache
        def mean(layer: int) -> Singles:
            request = Request((layer,), rules=TokenRules(subwords="mean"))
            words = self.encode(unrelated_sentences(), request).vectors[layer].data
            return np.asarray(words.mean(axis=0, dtype=np.float64), np.float32)

        return mean

    @cached_property
    def max_length(self) -> int:
        """Tokens the model can read, special tokens included."""
        limit = getattr(self.config, "max_position_embeddings", None) or 0
        limit = limit if limit > 0 else 1 << 20  # some say -1 where there is none
        for name, module in self.model.named_modules():
            if name.endswith("position_embeddings") and hasattr(module, "num_embeddings"):
                # Positions count from behind the padding index where there is one (RoBERTa).
                padding = module.padding_idx
                limit = module.num_embeddings - (0 if padding is None else padding + 1)
        return int(min(limit, self.tokenizer.model_max_length))

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The tokenizer's pieces."""
        return Vocabulary(self.tokenizer)

    @cached_property
    def finder(self) -> Callable[[TokenRules], WordFinder]:
        """The word finder of some rules; kept, because making one reads the whole vocabulary."""
        return lru_cache(maxsize=8)(partial(WordFinder, self.vocabulary))

    def describe(self) -> dict[str, Any]:
        """Facts about the model worth printing."""
        facts = ("layers", "heads", "dimension", "max_length", "device", "dtype")
        return {
            "model": self.name,
            "fingerprint": self.fingerprint,
            "architecture": type(self.model).__name__,
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
        (found,) = self.encode_all(
            sentences, [request], moments=moments, counts=counts, progress=progress
        )
        return found

    def encode_all(
        self,
        sentences: Sequence[str],
        requests: Sequence[Request],
        *,
        moments: dict[int, Moments] | None = None,
        counts: Sequence[int] | None = None,
        progress: bool = False,
    ) -> list[Encodings]:
        """Encode distinct sentences for several requests in one forward pass; see `encode`."""
        self._check_layers(requests)
        text, unknown = self._read(sentences)
        self._warn(sentences, requests, text, unknown)
        pooling = POOLINGS[self.pooling]
        finders = [self.finder(request.rules) for request in requests]
        tokens = [locate(text, finder) for finder in finders]
        out = [
            allocate(list(sentences), words, finder, request, self.dimension)
            for words, finder, request in zip(tokens, finders, requests, strict=True)
        ]
        with (
            progress_bar("encoding", "sentences", len(text.ids), progress=progress) as bar,
            ThreadPoolExecutor(1, "encodings") as courier,
        ):
            under_way: list[Future[None]] = []
            for low, high in self._windows(requests, tokens):
                keepers = [
                    Keeper(*each, low, high, self.device, pooling, gather=self.gathers)
                    for each in zip(requests, tokens, out, strict=True)
                ]
                batches = self._batches(text.ids.between(low, high), unknown.between(low, high))
                times = None if counts is None else np.asarray(counts[low:high])
                self._run(keepers, batches, moments or {}, times, low, bar)
                for sent in under_way:  # the sentences before, while the GPU works on these
                    sent.result()
                under_way = [sent for keeper in keepers for sent in keeper.finish(courier)]
            for sent in under_way:
                sent.result()
        for moment in (moments or {}).values():
            moment.settle(len(text.ids))
        return out

    def _check_layers(self, requests: Sequence[Request]) -> None:
        for layer in [layer for request in requests for layer in request.embeddings]:
            if not 0 <= layer <= self.layers:
                raise InputError(
                    f"embedding layer {layer} is out of range; {self.name} has 0 (input) to "
                    f"{self.layers}"
                )

    def _windows(
        self, requests: Sequence[Request], tokens: Sequence[Tokens]
    ) -> list[tuple[int, int]]:
        """Sentences to sort and run together: on a GPU as many as it has room to keep."""
        count = len(tokens[0].ids)
        if not self.gathers:
            return [(0, count)] if count else []
        size = sum(
            request.nbytes(words.words.lengths, self.dimension)
            for request, words in zip(requests, tokens, strict=True)
        )
        number = np.cumsum(size) // WINDOW_BYTES
        cuts = [0, *(np.flatnonzero(np.diff(number)) + 1).tolist(), count]
        return [(low, high) for low, high in pairwise(cuts) if high > low]

    def _run(
        self,
        keepers: Sequence[Keeper],
        batches: Iterable[Batch],
        moments: dict[int, Moments],
        counts: NDArray[np.int64] | None,
        low: int,
        bar: Any,
    ) -> None:
        """Run sentences through the model and let every keeper take what it keeps."""
        requests = [keeper.request for keeper in keepers]
        layers = {*moments, *(layer for one in requests for layer in one.embeddings)}
        if any(one.pooled for one in requests):
            layers.add(self.layers)
        attention = {layer for one in requests for layer, _ in one.heads}
        if not layers and not attention:  # the words are all that is asked for
            return

        def take(layer: int, matrices: Tensor) -> None:
            for keeper in keepers:
                keeper.take_attention(layer, matrices)

        for batch in batches:
            for keeper in keepers:
                keeper.begin(batch)
            states = self._forward(batch, layers, attention, take)
            for keeper in keepers:
                keeper.take_states(states)
            for layer, moment in moments.items():
                mask, rows = batch.mask.cpu().numpy(), batch.rows
                times = np.ones(len(rows), np.int64) if counts is None else counts[rows]
                each = (np.repeat(one, mask.sum(axis=1)) for one in (times, rows + low))
                moment.add(_numpy(states[layer])[mask], *each)
            bar.update(len(batch.rows))

    def pieces(self, sentences: Sequence[str]) -> list[list[str]]:
        """All tokens of every sentence as the tokenizer spells them, special tokens included."""
        return self.located(sentences, TokenRules())[0]

    def located(
        self, sentences: Sequence[str], rules: TokenRules
    ) -> tuple[list[list[str]], Ragged]:
        """All pieces of every sentence, and the token range of each word the rules keep."""
        names, text = self.vocabulary.pieces, read(self.tokenizer, sentences, self.max_length)
        words = self.finder(rules).find(text)
        return [[names[number] for number in ids] for ids in text.ids], words

    def unread(self, sentence: str) -> str:
        """The end of a sentence that is longer than the model: what no number depends on."""
        text = read(self.tokenizer, [sentence], self.max_length)
        return sentence[text.offsets[:, 1].max(initial=0) :].strip() if text.truncated else ""

    def states(self, sentences: Sequence[str], layer: int) -> list[Singles]:
        """Hidden states of every token of every sentence, special tokens included."""
        ids, batches = self._batched(sentences)
        out: list[Singles] = [np.zeros((0, 0), np.float32)] * len(sentences)
        for batch in batches:
            found = _numpy(self._forward(batch, {layer})[layer])
            for row, states in zip(batch.rows.tolist(), found, strict=True):
                out[row] = states[: len(ids[row])]
        return out

    def attentions(self, sentences: Sequence[str]) -> Iterator[Singles]:
        """Full attention matrices, one ``(layers * heads, tokens, tokens)`` array per sentence.

        Special tokens included, nothing removed, layer by layer; shortest sentence first.
        """
        ids, batches = self._batched(sentences)
        for batch in batches:
            found: dict[int, Singles] = {}

            def take(layer: int, matrices: Tensor, found: dict[int, Singles] = found) -> None:
                found[layer] = _numpy(matrices)

            self._forward(batch, (), {*range(1, self.layers + 1)}, take)
            whole = np.concatenate([found[layer] for layer in sorted(found)], axis=1)
            for row, matrices in zip(batch.rows.tolist(), whole, strict=True):
                length = len(ids[row])
                yield matrices[:, :length, :length]

    def _warn(
        self, sentences: Sequence[str], requests: Sequence[Request], text: Text, unknown: Unknown
    ) -> None:
        """Say which sentences are cut, which mostly unknown, and whether they look foreign."""
        if text.truncated:
            cut = [sentences[row] for row in text.truncated]
            count, shown = _listed(cut, "…")
            message = (
                f"{count} longer than the {self.max_length} tokens of {self.name} lost their end"
            )
            notify(TruncationWarning(f"{message}: {shown}", sentences=cut))
        tokens = Ragged(text.real.astype(np.int64), text.ids.starts).sums()
        lost = np.flatnonzero(unknown.counts > MOSTLY * tokens).tolist()
        if lost:
            count, shown = _listed([sentences[row] for row in lost])
            notify(
                f"{self.name} does not know most of {count}: {shown}; of words it does not know it "
                "sees only whether they are the same, so take a model of that language or script",
                UnknownWarning,
            )
        filtered = any(request.rules.stopwords == english() for request in requests)
        if filtered and not_english(self.tokenizer, sentences):
            notify(
                "these sentences do not look English, but the stop words left out of them are",
                ForeignWarning,
                Choose("stopwords", None, "or a list of that language, and a model that knows it"),
            )

    def _read(self, sentences: Sequence[str]) -> tuple[Text, Unknown]:
        text = read(self.tokenizer, sentences, self.max_length)
        return text, find_unknown(self.tokenizer, sentences, text)

    def _batched(self, sentences: Sequence[str]) -> tuple[Ragged, Iterator[Batch]]:
        """Token ids of sentences, and the batches to run them in."""
        text, unknown = self._read(sentences)
        return text.ids, self._batches(text.ids, unknown)

    def _batches(self, ids: Ragged, unknown: Unknown) -> Iterator[Batch]:
        """Sentences in order of length, as many at a time as the limits allow."""
        vectors = None
        if unknown.words:
            pieces = len(self.vocabulary.pieces)
            vectors = own_vectors(self.model.get_input_embeddings(), pieces, unknown.words)
        padding = self.tokenizer.pad_token_id or 0
        limits = self.limits, self.batch_size
        return padded_batches(ids, unknown, vectors, padding, *limits, self.device)

    def _forward(
        self,
        batch: Batch,
        layers: Collection[int],
        attention: Collection[int] = (),
        take: Callable[[int, Tensor], None] = lambda layer, matrices: None,
    ) -> dict[int, Tensor]:
        """Run a batch; returns hidden states, and hands over the attention of layers."""
        import torch

        def take_whole(layer: int, matrices: Tensor) -> None:
            if matrices.shape[1:] != (self.heads, *batch.ids.shape[1:] * 2):
                shape = tuple(matrices.shape)
                raise self._unusable(f"does not attend from every token to every other: {shape}")
            take(layer, matrices)

        early = layers if self.stoppable and self.layers not in layers else None
        with torch.inference_mode(), Watch(attention, take_whole, early, batch.own) as watch:
            output = self.model(
                input_ids=batch.ids,
                attention_mask=batch.mask.long(),
                output_hidden_states=bool(layers) and early is None,
                **({} if self.watchable else {"output_attentions": bool(attention)}),
            )
            if attention and not self.watchable:  # it has returned those of all layers
                matrices = [one for one in output.get("attentions") or () if one is not None]
                watch.seen = len(matrices)
                for layer in sorted(attention if watch.seen == self.layers else ()):
                    take_whole(layer, matrices[layer - 1])
            if watch.seen < max(attention, default=0):
                raise self._unusable("returns no attention matrices")
            watch.found = {layer: output.hidden_states[layer] for layer in layers}
        return watch.found

    def _unusable(self, why: str) -> ModelError:
        return ModelError(
            f"model {self.name!r} ({type(self.model).__name__}) {why}; "
            "use a measure without structure (wmd, wrd) or another model"
        )


def _listed(sentences: Sequence[str], end: str = "") -> tuple[str, str]:
    """How many sentences there are, and how the first of them begin."""
    shown = ", ".join(repr(text[:30] + end) for text in sentences[:3])
    more = " and more" * (len(sentences) > 3)
    return f"{len(sentences)} sentence{'s' * (len(sentences) > 1)}", shown + more


def _numpy(tensor: Tensor) -> Singles:
    return np.asarray(tensor.float().cpu().numpy(), np.float32)
