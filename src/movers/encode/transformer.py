"""Any Hugging Face encoder, run by torch on a processor or a GPU."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from movers.arrays import Floats, Ints
from movers.encode import models
from movers.encode.attention_hooks import AttentionReader, install_hooks
from movers.encode.collect import Batch, BatchLimits, Collector
from movers.encode.device_collect import DeviceCollector, PaddedBatch, padded_batches
from movers.encode.encoder import Encoder, Layers, Take
from movers.encode.tokens import Text, own_vectors
from movers.errors import InputError, ModelError

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
BATCH_ATTENTION = 1 << 26
"""Attention entries of a batch, on a CPU over all layers and heads: 256 MB in single precision."""


class TransformerEncoder(Encoder):
    """A Hugging Face encoder with eager attention.

    Parameters
    ----------
    model
        Hub name or folder; None is the model installed with movers.
    device
        ``"auto"`` (CUDA, then MPS, then CPU) or a torch device.
    dtype
        ``"float32"``, ``"bfloat16"`` (not on every processor), or ``"float16"`` (on GPUs alone).
    batch_tokens
        Padded tokens in a batch; None picks by device.
    """

    engine = "torch"

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
        if kind == "cpu":
            models.check_processor(dtype)
        self.dtype = dtype
        name = models.EMBEDDED if model in (None, models.EMBEDDED) else str(model)
        folder = Path(name) if Path(name).is_dir() else None
        if name == models.EMBEDDED:
            folder = models.embedded_folder()
        source = folder or (model if isinstance(model, Path) else name)
        tokenizer, self.model = models.load_pretrained(source, self.device, dtype)
        super().__init__(name, folder, tokenizer)
        self.config = self.model.config
        self.architecture = type(self.model).__name__
        self.fingerprint, self.max_length = self._fingerprint(), self._max_length()
        self.layers = int(self.config.num_hidden_layers)
        self.dimension = int(self.config.hidden_size)
        self.watchable, self.stoppable = install_hooks(self.model, self.layers)
        self.heads, leaks = int(getattr(self.config, "num_attention_heads", 0)), False
        if not self.watchable:
            self.heads, leaks = models.probe(self.model, self.tokenizer.pad_token_id or 0)
        if kind == "cpu":
            models.prepack(self.model)
        self.gathers = kind == "cuda"
        self.limits = self._limits(kind, batch_tokens, leaks=leaks)

    def _limits(self, kind: str, batch_tokens: int | None, *, leaks: bool) -> BatchLimits:
        """Return how much goes into a batch, and how far it is padded, unless padding leaks."""
        # One layer's matrices at a time where nobody minds how sentences are batched.
        layers = 1 if self.watchable and kind == "cuda" else self.layers
        return BatchLimits(
            batch_tokens or BATCH_TOKENS[kind],
            BATCH_ATTENTION // max(1, layers * self.heads),
            BATCH_PADDING[kind],
            *((1, 0) if leaks else (SHORTEST, LONGEST_PADDED)),
        )

    def _fingerprint(self) -> str:
        """Return the hash of the weights' files, or the hub commit, in eight digits.

        The embedded model's weights have its fingerprint in whatever file they come.
        """
        commit = getattr(self.config, "_commit_hash", None) or "unknown"
        found = str(commit if self.folder is None else models.digest(self.folder))[:8]
        if found not in models.RECOMMENDED_LAYERS and models.is_embedded(self.model):
            return models.EMBEDDED_FINGERPRINT
        return found

    @property
    def model_threads(self) -> int:
        """Threads of torch, which all its models in this process share."""
        import torch

        return int(torch.get_num_threads())

    @model_threads.setter
    def model_threads(self, threads: int) -> None:
        import torch

        torch.set_num_threads(threads)

    def _max_length(self) -> int:
        """Return how many tokens the model can read, special tokens included."""
        limit = getattr(self.config, "max_position_embeddings", None) or 0
        limit = limit if limit > 0 else 1 << 20  # some say -1 where there is none
        for name, module in self.model.named_modules():
            if name.endswith("position_embeddings") and hasattr(module, "num_embeddings"):
                # Positions count from behind the padding index where there is one (RoBERTa).
                padding = module.padding_idx
                limit = module.num_embeddings - (0 if padding is None else padding + 1)
        return int(min(limit, self.tokenizer.model_max_length))

    def _collector(self, collector: Collector) -> Any:
        return DeviceCollector(collector, self.device) if self.gathers else collector

    def _batches(self, text: Text) -> Iterator[PaddedBatch]:
        vectors = self._own_vectors(text.unknown) if text.unknown else None
        padding = self.tokenizer.pad_token_id or 0
        return padded_batches(text, vectors, padding, self.limits, self.batch_size, self.device)

    def _own_vectors(self, words: tuple[str, ...]) -> Tensor:
        """Return input vectors of unknown words, from row 1 on."""
        import torch

        embeddings = self.model.get_input_embeddings()
        kind = embeddings.weight

        def lookup(ids: Ints) -> Floats:
            with torch.inference_mode():
                vectors = embeddings(torch.from_numpy(ids).to(kind.device))
            return np.asarray(vectors.double().cpu().numpy())

        found = own_vectors(lookup, len(self.vocabulary.pieces), words)
        return torch.from_numpy(found).to(kind.device, kind.dtype)

    def _forward(
        self, batch: Batch, layers: Layers, attention: Layers, take: Take
    ) -> dict[int, Any]:
        assert isinstance(batch, PaddedBatch)
        if self.gathers:
            return self._run_model(batch, layers, attention, take)

        def take_array(layer: int, matrices: Tensor) -> None:
            take(layer, batch.array(matrices))

        found = self._run_model(batch, layers, attention, take_array)
        return {layer: batch.array(states) for layer, states in found.items()}

    def _run_model(
        self, batch: PaddedBatch, layers: Layers, attention: Layers, take: Take
    ) -> dict[int, Tensor]:
        """Run a batch; returns hidden states, and hands over the attention of layers."""
        import torch

        def take_whole(layer: int, matrices: Tensor) -> None:
            if matrices.shape[1:] != (self.heads, *batch.ids.shape[1:] * 2):
                shape = tuple(matrices.shape)
                raise self._unusable(f"does not attend from every token to every other: {shape}")
            take(layer, matrices)

        early = layers if self.stoppable and self.layers not in layers else None
        with (
            torch.inference_mode(),
            AttentionReader(attention, take_whole, early, batch.own) as reader,
        ):
            output = self.model(
                input_ids=batch.ids,
                attention_mask=batch.mask.long(),
                output_hidden_states=bool(layers) and early is None,
                **({} if self.watchable else {"output_attentions": bool(attention)}),
            )
            if attention and not self.watchable:  # it has returned those of all layers
                matrices = [one for one in output.get("attentions") or () if one is not None]
                reader.seen = len(matrices)
                for layer in sorted(attention if reader.seen == self.layers else ()):
                    take_whole(layer, matrices[layer - 1])
            if reader.seen < max(attention, default=0):
                raise self._unusable("returns no attention matrices")
            reader.found = {layer: output.hidden_states[layer] for layer in layers}
        return reader.found

    def _unusable(self, why: str) -> ModelError:
        return ModelError(
            f"model {self.name!r} ({type(self.model).__name__}) {why}; "
            "use a measure without structure (wmd, wrd) or another model"
        )
