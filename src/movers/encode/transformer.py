"""Sentences through a Hugging Face encoder: each once, in length-sorted batches."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tqdm.auto import tqdm

from movers.encode import models
from movers.encode.encodings import MEAN_HEAD, Encodings, Head, Request
from movers.encode.pooling import (
    KNOWN_CHANCE,
    POOLINGS,
    mean_distance,
    pooling_of,
    unrelated_sentences,
)
from movers.encode.ragged import Ragged
from movers.encode.tokens import TokenRules, Tokens, Vocabulary, WordFinder, tokenize
from movers.encode.whiten import Moments
from movers.errors import InputError, ModelError
from movers.runtime.notices import TruncationWarning, notify

Floats = NDArray[np.float32]

# Matrix libraries choose other kernels for very few rows and for very long reductions. Batches
# of at least 16 tokens, where only sentences up to 96 tokens share padding, meet the same ones
# on processors with AVX2 or newer, and a sentence's numbers then have the same bits in any
# company. MKL's code for older processors looks at the number of rows all the same: there the
# numbers are equal up to rounding, some 1e-5. `movers doctor` tells which it is.
SHORTEST = 16
LONGEST_PADDED = 96

BATCH_TOKENS = {"cpu": 2048, "mps": 8192, "cuda": 32768}
BATCH_ATTENTION = 1 << 26
"""Attention entries of one batch over all layers and heads: 256 MB in single precision."""


class TransformerEncoder:
    """A Hugging Face encoder with eager attention.

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
    """

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
            models.check_embedded(self.folder)
        elif Path(self.name).is_dir():
            self.folder = Path(self.name)
        source = model if isinstance(model, Path) else self.name
        self.tokenizer, self.model = models.load_pretrained(
            self.folder or source, self.device, dtype
        )
        self.batch_tokens = batch_tokens or BATCH_TOKENS[kind]
        # Without attention there is no mask, and padding would leak into every token.
        self._shortest, self._longest_padded = (SHORTEST, LONGEST_PADDED) if self.heads else (1, 0)

    @property
    def config(self) -> Any:
        """The model's configuration."""
        return self.model.config

    @property
    def layers(self) -> int:
        """Number of attention layers."""
        return int(self.config.num_hidden_layers)

    @property
    def heads(self) -> int:
        """Number of attention heads in a layer; 0 for a model without attention."""
        return int(getattr(self.config, "num_attention_heads", 0))

    @property
    def dimension(self) -> int:
        """Length of a hidden state."""
        return int(self.config.hidden_size)

    @cached_property
    def fingerprint(self) -> str:
        """Eight hex digits that pin the weights: the hash of their files, or the hub commit.

        The embedded model's weights have its fingerprint in whatever file they come.
        """
        if self.folder is not None:
            found = models.digest(self.folder)[:8]
        else:
            found = str(getattr(self.config, "_commit_hash", None) or "unknown")[:8]
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
    def chance(self) -> float:
        """How far apart the vectors of unrelated sentences are: the mean of one minus cosine.

        To four digits, which another processor does not change.
        """
        if self.fingerprint in KNOWN_CHANCE:
            return KNOWN_CHANCE[self.fingerprint]
        vectors = self.encode(unrelated_sentences(), Request(pooled=True)).pooled
        return float(f"{mean_distance(vectors):.4g}")

    @cached_property
    def typical(self) -> Callable[[int], Floats]:
        """The mean word vector of a layer, over all words of unrelated sentences; kept."""
        return cache(self._typical)

    def _typical(self, layer: int) -> Floats:
        rules = TokenRules(subwords="mean")
        words = self.encode(unrelated_sentences(), Request((layer,), rules=rules)).vectors[layer]
        return np.asarray(words.data.mean(axis=0, dtype=np.float64), np.float32)

    @cached_property
    def max_length(self) -> int:
        """Tokens the model can read, special tokens included."""
        limit = getattr(self.config, "max_position_embeddings", None) or 1 << 20
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
        return {
            "model": self.name,
            "fingerprint": self.fingerprint,
            "architecture": type(self.model).__name__,
            "layers": self.layers,
            "heads": self.heads,
            "dimension": self.dimension,
            "max_length": self.max_length,
            "device": self.device,
            "dtype": self.dtype,
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
        (out,) = self.encode_all(
            sentences, [request], moments=moments, counts=counts, progress=progress
        )
        return out

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
        moments = moments or {}
        kept = [self._kept(sentences, request) for request in requests]
        layers = sorted({*moments, *(n for one in requests for n in self._layers_of(one))})
        heads = sorted({head for request in requests for head in request.heads})
        if layers or heads:  # else the words are all that is asked for
            self._run(kept, layers, heads, moments, counts, progress=progress)
        return [one.out for one in kept]

    def _layers_of(self, request: Request) -> list[int]:
        """Layers whose hidden states a request needs."""
        return [*request.embeddings, *([self.layers] if request.pooled else [])]

    def _kept(self, sentences: Sequence[str], request: Request) -> _Kept:
        self._check(request)
        finder = self.finder(request.rules)
        tokens = tokenize(self.tokenizer, finder, sentences, self.max_length)
        self._warn_if_cut(tokens.truncated)
        out = _allocate(list(sentences), tokens, finder, request, self.dimension)
        return _Kept(request, tokens, out, POOLINGS[self.pooling])

    def _run(
        self,
        kept: list[_Kept],
        layers: list[int],
        heads: list[Head],
        moments: dict[int, Moments],
        counts: Sequence[int] | None,
        *,
        progress: bool,
    ) -> None:
        """Run all sentences through the model and keep of each what every request names."""
        ids = kept[0].tokens.ids
        places = [[heads.index(head) for head in one.request.heads] for one in kept]
        with tqdm(total=len(ids), desc="encoding", unit="sent", disable=not progress) as bar:
            for batch in self._batches(ids.lengths):
                hidden, attention = self._forward(ids, batch, layers, heads)
                for layer, moment in moments.items():
                    weights = [1 if counts is None else counts[row] for row in batch]
                    moment.add(*_flattened(hidden[layer], ids, batch, weights))
                for place, row in enumerate(batch):
                    cut = slice(len(ids[row]))
                    states = {layer: hidden[layer][place, cut] for layer in layers}
                    matrices = None if attention is None else attention[place, :, cut, cut]
                    for one, picked in zip(kept, places, strict=True):
                        one.store(row, states, _picked(matrices, picked))
                bar.update(len(batch))
        for moment in moments.values():
            moment.settle(len(ids))

    def pieces(self, sentences: Sequence[str]) -> list[list[str]]:
        """All tokens of every sentence as the tokenizer spells them, special tokens included."""
        names = self.vocabulary.pieces
        return [[names[number] for number in ids] for ids in self._tokens(sentences).ids]

    def located(
        self, sentences: Sequence[str], rules: TokenRules
    ) -> tuple[list[list[str]], Ragged]:
        """All pieces of every sentence, and the token range of each word the rules keep."""
        names, tokens = self.vocabulary.pieces, self._tokens(sentences, rules)
        return [[names[number] for number in ids] for ids in tokens.ids], tokens.words

    def states(self, sentences: Sequence[str], layer: int) -> list[Floats]:
        """Hidden states of every token of every sentence, special tokens included."""
        tokens = self._tokens(sentences)
        out: list[Floats] = [np.zeros((0, 0), np.float32)] * len(sentences)
        for batch in self._batches(tokens.ids.lengths):
            hidden, _ = self._forward(tokens.ids, batch, [layer], [])
            for place, row in enumerate(batch):
                out[row] = hidden[layer][place, : len(tokens.ids[row])]
        return out

    def attentions(self, sentences: Sequence[str]) -> Iterator[Floats]:
        """Full attention matrices, one ``(layers * heads, tokens, tokens)`` array per sentence.

        Special tokens included, nothing removed, layer by layer; shortest sentence first.
        """
        layers, heads = range(1, self.layers + 1), range(1, self.heads + 1)
        every = [(layer, head) for layer in layers for head in heads]
        tokens = self._tokens(sentences)
        for batch in self._batches(tokens.ids.lengths):
            _, attention = self._forward(tokens.ids, batch, [], every)
            assert attention is not None
            for place, row in enumerate(batch):
                length = len(tokens.ids[row])
                yield attention[place, :, :length, :length]

    def _tokens(self, sentences: Sequence[str], rules: TokenRules | None = None) -> Tokens:
        finder = self.finder(rules or TokenRules())
        return tokenize(self.tokenizer, finder, sentences, self.max_length)

    def _check(self, request: Request) -> None:
        for layer in request.embeddings:
            if not 0 <= layer <= self.layers:
                raise InputError(
                    f"embedding layer {layer} is out of range; {self.name} has 0 (input) to "
                    f"{self.layers}"
                )

    def _warn_if_cut(self, truncated: int) -> None:
        if truncated:
            notify(
                f"{truncated} sentence{'s' if truncated > 1 else ''} longer than the "
                f"{self.max_length} tokens of {self.name} lost their end",
                TruncationWarning,
            )

    def _batches(self, lengths: NDArray[np.int64]) -> Iterator[list[int]]:
        """Rows in order of length, as many at a time as the budgets allow."""
        per_token = self.layers * self.heads
        batch: list[int] = []
        width = 0
        for row in np.argsort(lengths, kind="stable").tolist():
            length = max(int(lengths[row]), self._shortest)
            size = len(batch) + 1
            full = (
                size * length > self.batch_tokens
                or size * length * length * per_token > BATCH_ATTENTION
                or (length > self._longest_padded and length != width)
            )
            if batch and full:
                yield batch
                batch = []
            batch.append(row)
            width = length
        if batch:
            yield batch

    def _forward(
        self, ids: Ragged, batch: list[int], wanted: Sequence[int], heads: Sequence[Head]
    ) -> tuple[dict[int, Floats], Floats | None]:
        import torch

        width = max(self._shortest, *(len(ids[row]) for row in batch))
        numbers = np.full((len(batch), width), self.tokenizer.pad_token_id or 0, np.int64)
        mask = np.zeros((len(batch), width), np.int64)
        for place, row in enumerate(batch):
            numbers[place, : len(ids[row])] = ids[row]
            mask[place, : len(ids[row])] = 1
        with torch.inference_mode():
            output = self.model(
                input_ids=torch.from_numpy(numbers).to(self.device),
                attention_mask=torch.from_numpy(mask).to(self.device),
                output_hidden_states=bool(wanted),
                output_attentions=bool(heads),
            )
            hidden = {layer: _numpy(output.hidden_states[layer]) for layer in wanted}
            return hidden, self._pick(output, heads) if heads else None

    def _pick(self, output: Any, heads: Sequence[Head]) -> Floats:
        import torch

        attentions = getattr(output, "attentions", None)
        if not attentions or any(matrix is None for matrix in attentions):
            raise ModelError(
                f"model {self.name!r} ({type(self.model).__name__}) returns no attention matrices; "
                "use a measure without structure (wmd, wrd) or another model"
            )
        layers = sorted({layer for layer, _ in heads})
        if len(heads) == len(layers) * self.heads and all(head for _, head in heads):
            picked = torch.cat([attentions[layer - 1] for layer in layers], dim=1)
        else:
            picked = torch.stack(
                [_head_of(attentions[layer - 1], head) for layer, head in heads], 1
            )
        return _numpy(picked)


def _head_of(attention: Any, head: int) -> Any:
    """One head's matrices of a layer, or the mean of them all."""
    return attention.mean(1) if head == MEAN_HEAD else attention[:, head - 1]


def _flattened(
    states: Floats, ids: Ragged, batch: list[int], weights: list[int]
) -> tuple[Floats, NDArray[np.int64], NDArray[np.int64]]:
    """All token vectors of a batch without its padding, with weight and number of sentence."""
    lengths = [len(ids[row]) for row in batch]
    rows = [states[place, :length] for place, length in enumerate(lengths)]
    return np.concatenate(rows), np.repeat(weights, lengths), np.repeat(batch, lengths)


def _numpy(tensor: Any) -> Floats:
    return np.asarray(tensor.float().cpu().numpy(), np.float32)


def _allocate(
    sentences: list[str], tokens: Tokens, finder: WordFinder, request: Request, dimension: int
) -> Encodings:
    """Make room for exactly what will be kept, so that memory never doubles on the way."""
    counts = tokens.words.lengths
    heads = len(request.heads)
    paper = request.rules.recipe == "paper"
    spellings = [
        [finder.text(ids[first:end]) for first, end in words]
        for ids, words in zip(tokens.ids, tokens.words, strict=True)
    ]
    return Encodings(
        sentences=sentences,
        spans=tokens.spans,
        spellings=spellings,
        vectors={
            layer: Ragged.zeros(counts, (dimension,), np.float32) for layer in request.embeddings
        },
        structure=Ragged.zeros(heads * counts**2, dtype=np.float32),
        sums=np.zeros((len(sentences), heads)),
        squares=np.zeros((len(sentences), heads)),
        sizes=counts.copy() if paper else tokens.ids.lengths,
        pooled=np.zeros((len(sentences), dimension * request.pooled), np.float32),
    )


@dataclass(frozen=True)
class _Kept:
    """What one request keeps of the sentences that run through the model."""

    request: Request
    tokens: Tokens
    out: Encodings
    pooling: Callable[[Floats], Floats]

    def store(self, row: int, states: dict[int, Floats], matrices: Floats | None) -> None:
        """Cut one sentence's states and matrices to its kept words and write them in place."""
        out, words, rules = self.out, self.tokens.words[row], self.request.rules
        for layer, rows in out.vectors.items():
            rows[row][:] = _pool(states[layer], words, rules)
        if self.request.pooled:
            out.pooled[row] = self.pooling(states[max(states)])
        if matrices is None:
            return
        kept = _pool(matrices.swapaxes(0, 1), words, rules).swapaxes(0, 1)
        kept = _pool(kept.transpose(2, 0, 1), words, rules, add=True).transpose(1, 2, 0)
        averaged = matrices
        if rules.recipe == "paper":
            kept = averaged = _normalised(kept)
        out.structure[row][:] = kept.ravel()
        out.sums[row] = averaged.sum(axis=(1, 2), dtype=np.float64)
        out.squares[row] = np.square(averaged, dtype=np.float64).sum(axis=(1, 2))


def _picked(matrices: Floats | None, heads: list[int]) -> Floats | None:
    """The matrices of some heads; not a copy where these are all of them in order."""
    if matrices is None or not heads:
        return None
    return matrices if heads == [*range(len(matrices))] else matrices[heads]


def _pool(
    values: NDArray[Any], words: NDArray[np.int32], rules: TokenRules, *, add: bool = False
) -> NDArray[Any]:
    """Reduce the first axis from tokens to kept words: first piece, or mean (sum) of pieces.

    Attention *to* a word is the sum over its pieces, attention *from* it their mean (Clark et
    al., 2019), so that rows keep adding up to the same total.
    """
    if rules.subwords == "first" or not len(words):
        return values[words[:, 0]]
    # Pairs of boundaries: every second segment is the gap behind a word. The extra row gives
    # the last word an end to name even where no special token follows it.
    padded = np.concatenate([values, np.zeros_like(values[:1])])
    totals = np.add.reduceat(padded, words.ravel(), axis=0)[::2]
    if add:
        return totals
    sizes = (words[:, 1] - words[:, 0]).reshape(-1, *[1] * (values.ndim - 1))
    return np.asarray(totals / sizes, np.float32)


def _normalised(matrices: Floats) -> Floats:
    """Scale rows to sum 1; a row without any attention to kept words becomes uniform."""
    totals = matrices.sum(axis=2, keepdims=True)
    uniform = np.float32(1 / max(matrices.shape[2], 1))
    return np.where(totals > 0, matrices / np.where(totals > 0, totals, 1), uniform)
