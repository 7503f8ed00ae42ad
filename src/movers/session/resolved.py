"""Settings met with a model: which layers and heads, which statistics, what of a sentence."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

from movers.encode.encodings import Head, Request
from movers.encode.transformer import TransformerEncoder
from movers.encode.whiten import Whitening
from movers.errors import InputError, ModelError
from movers.measure.measured import Context
from movers.measure.statistics import Statistics
from movers.measure.structure import middle_layers, select_heads
from movers.methods import Method
from movers.settings import Settings


class Resolved:
    """What settings come to under one model.

    Parameters
    ----------
    settings
        What was asked for.
    encoder
        The model, or what loads it when it is first needed.
    """

    def __init__(
        self,
        settings: Settings,
        encoder: TransformerEncoder | Callable[[], TransformerEncoder],
    ) -> None:
        self.settings = settings
        self.threads = settings.threads
        self._source = encoder
        self._statistics = settings.fitted

    @cached_property
    def encoder(self) -> TransformerEncoder:
        """The model, loaded when first needed."""
        return self._source() if callable(self._source) else self._source

    @property
    def method(self) -> Method:
        """The measure in use, as the recipe defines it."""
        return self.settings.row

    @cached_property
    def embedding(self) -> int:
        """Layer of the word vectors; 0 is the input layer."""
        layer, count = self.settings.layer, self.encoder.layers
        if layer == "middle":
            return count // 2
        if not -count - 1 <= layer <= count:
            raise InputError(
                f"embedding layer {layer} is out of range; {self.encoder.name} has "
                f"0 (input) to {count}"
            )
        return layer % (count + 1)

    @property
    def heads(self) -> tuple[Head, ...]:
        """Attention heads in use, as (layer, head) counted from 1."""
        if not self.method.needs_attention:
            return ()
        if not self.encoder.heads:
            raise ModelError(
                f"model {self.encoder.name!r} has no attention; use a measure without structure "
                "(wmd, wrd) or another model"
            )
        layers = self.settings.layers
        if layers is None and self.method.transport == "priced":
            layers = middle_layers(self.encoder.layers)
        if layers is None:
            layers = self.encoder.default_layers
        return select_heads(
            layers,
            self.settings.heads,
            available=(self.encoder.layers, self.encoder.heads),
            variability=self.statistics.variability,
        )

    @property
    def share(self) -> float:
        """Share of structure in the distance: the mix, 0 or 1 as the method has it."""
        shares = {"both": float(self.settings.mix), "structure": 1.0, "priced": 1.0}
        return shares.get(self.method.transport or "words", 0.0)

    @property
    def statistics(self) -> Statistics:
        """Fitted, loaded or shipped statistics; empty ones if there are none."""
        if self._statistics is None:
            shipped = Statistics.shipped(self.encoder.fingerprint)
            self._statistics = shipped or Statistics(self.encoder.fingerprint)
        if self._statistics.fingerprint != self.encoder.fingerprint:
            raise InputError(
                f"the statistics belong to model {self._statistics.fingerprint}, but "
                f"{self.encoder.name} is {self.encoder.fingerprint}; fit again"
            )
        return self._statistics

    @property
    def whitening(self) -> Whitening | None:
        """What is done to the word vectors; None if nothing."""
        if self.settings.whitening == "none" or not self.method.whitened:
            return None
        return self.statistics.whitening.get(self.embedding)

    @property
    def request(self) -> Request:
        """What of a sentence enters the distance."""
        embeddings = (self.embedding,) if self.method.needs_vectors else ()
        return Request(embeddings, self.heads, self.settings.rules, self.method.needs_pooled)

    def fit_request(self, embeddings: tuple[int, ...]) -> Request:
        """What fitting keeps of each sentence: what comparing it will need, if known yet."""
        heads = () if self.settings.by_variability else self.heads
        return Request(embeddings, heads, self.settings.rules, self.method.needs_pooled)

    @property
    def context(self) -> Context:
        """What measures may look at besides the sentences."""
        settings = self.settings
        return Context(
            self.statistics,
            settings.recipe,
            settings.frequencies,
            settings.trees,
            lambda texts, rules: self.encoder.located(texts, rules or settings.rules),
            self.encoder.chance if self.method.needs_pooled else 1.0,
            tuple(layer for layer, _ in self.heads),
        )
