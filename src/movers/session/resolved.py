"""Settings met with a model: which layers and heads, which statistics, what of a sentence."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

from movers.encode.encodings import Head, Request
from movers.encode.transformer import TransformerEncoder
from movers.encode.whiten import Whitening
from movers.errors import Choose, Do, InputError, ModelError
from movers.measure.measured import Context
from movers.measure.statistics import Statistics
from movers.measure.structure import middle_layers, select_heads
from movers.methods import Method
from movers.runtime.notices import UnwhitenedWarning, notify
from movers.settings import Settings

TYPICAL = 14
"""Words kept of a rather long sentence."""
DERIVED = ("heads", "request", "context", "whitening_key", "sentence_bytes")
"""What is worked out once for settings, model and statistics."""


class Resolved:
    """What settings come to under one model.

    The model may be given as what loads it when it is first needed.
    """

    method: Method
    """The measure in use, as the recipe defines it."""
    share: float
    """Share of structure in the distance: the mix, 0 or 1 as the method has it."""

    def __init__(
        self, settings: Settings, encoder: TransformerEncoder | Callable[[], TransformerEncoder]
    ) -> None:
        self.settings, self.method = settings, settings.row
        self.share = self.method.share(float(settings.mix))
        self.threads = settings.threads
        self._source = encoder
        self._statistics = settings.fitted
        self._warned: set[int] = set()

    @cached_property
    def encoder(self) -> TransformerEncoder:
        """The model, loaded when first needed."""
        return self._source() if callable(self._source) else self._source

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

    @cached_property
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

    def replace_statistics(self, statistics: Statistics) -> None:
        """Go on with other statistics."""
        self._statistics = statistics
        for name in DERIVED:
            vars(self).pop(name, None)

    @property
    def whitening(self) -> Whitening | None:
        """What is done to the word vectors; None if nothing."""
        if self.settings.whitening == "none" or not self.method.whitened:
            return None
        return self.statistics.whitening.get(self.embedding)

    def whitening_of(self, layer: int) -> Whitening | None:
        """What is done to the vectors of a layer; warns if that is nothing for want of a fit."""
        if self.settings.whitening == "none" or not self.method.whitened:
            return None
        whitening = self.statistics.whitening.get(layer)
        if whitening is None:
            self._warn_unwhitened(layer)
        elif self.settings.whitening not in (None, whitening.kind):
            raise InputError(
                f"whitening {self.settings.whitening!r} was asked for, but the statistics at "
                f"hand are {whitening.kind!r}",
                Do("fit"),
            )
        return whitening

    def _warn_unwhitened(self, layer: int) -> None:
        if layer not in self._warned:
            self._warned.add(layer)
            notify(
                f"no whitening statistics for layer {layer} of {self.encoder.name}: word vectors "
                "are used as they are. Models differ in which is better, so try both on labelled "
                "pairs:",
                UnwhitenedWarning,
                Do("fit", "for the paper's whitening"),
                Choose("whitening", "none", "to stay with this and silence the warning"),
            )

    @cached_property
    def whitening_key(self) -> str:
        """Names what is done to vectors, so that only scorers that do the same share them."""
        for layer in self.request.embeddings:
            self.whitening_of(layer)  # refuse the wrong kind
        if self.settings.whitening == "none" or not self.method.whitened:
            return "none"
        whitening = self.statistics.whitening
        return ",".join(f"{layer}:{white.digest}" for layer, white in sorted(whitening.items()))

    @cached_property
    def request(self) -> Request:
        """What of a sentence enters the distance."""
        embeddings = (self.embedding,) if self.method.needs_vectors else ()
        return Request(embeddings, self.heads, self.settings.rules, self.method.needs_pooled)

    @cached_property
    def sentence_bytes(self) -> int:
        """What a rather long sentence takes."""
        layers = max(1, len(self.request.embeddings))
        return 4 * (len(self.heads) * TYPICAL**2 + layers * self.encoder.dimension * TYPICAL)

    def fit_request(self, embeddings: tuple[int, ...]) -> Request:
        """What fitting keeps of each sentence: what comparing it will need, if known yet."""
        heads = () if self.settings.by_variability else self.heads
        return Request(embeddings, heads, self.settings.rules, self.method.needs_pooled)

    @cached_property
    def context(self) -> Context:
        """What measures may look at besides the sentences."""
        settings, encoder = self.settings, self.encoder
        return Context(
            self.statistics,
            settings.recipe,
            settings.frequencies,
            settings.trees,
            lambda texts, rules: encoder.located(texts, rules or settings.rules),
            self.encoder.chance if self.method.needs_pooled else 1.0,
            tuple(layer for layer, _ in self.heads),
        )
