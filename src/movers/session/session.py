"""Sentences encoded and weighed, and kept from call to call."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from movers.arrays import Floats
from movers.encode.encodings import Encodings, Request
from movers.encode.store import EncodingStore, Stores
from movers.encode.transformer import TransformerEncoder
from movers.encode.whiten import Whitening
from movers.errors import Choose, Do, InputError
from movers.explain.compared import Signature
from movers.io.pairs import check_sentences
from movers.measure.measured import Measured, measure
from movers.measure.statistics import Statistics
from movers.runtime.notices import UnwhitenedWarning, notify
from movers.scale import similarity_of
from movers.session.resolved import Resolved
from movers.session.signature import scale_key, sign
from movers.settings import Settings

STORES = 4
"""Encoding stores a family of sessions keeps, one for each set of words or heads it compares."""


class Session(Resolved):
    """Sentences under one method, one model and one set of statistics, encoded once.

    What is encoded is shared with the sessions that `follow` this one.
    """

    def __init__(
        self,
        settings: Settings,
        encoder: TransformerEncoder | Callable[[], TransformerEncoder],
    ) -> None:
        super().__init__(settings, encoder)
        self._stores = Stores()
        self._measured: Measured | None = None
        self._warned: set[int] = set()

    def __getstate__(self) -> dict[str, Any]:
        """Leave model and encodings behind; a copy in another process loads its own."""
        state = {name: value for name, value in vars(self).items() if name != "encoder"}
        return {**state, "_measured": None}

    def follow(self, other: Session) -> None:
        """Share the model of another session, if it is loaded, and what it has encoded."""
        self._stores, self._warned = other._stores, other._warned
        if "encoder" in vars(other):
            self.encoder = other.encoder

    def adopt(self, statistics: Statistics) -> None:
        """Go on with other statistics; weights that came from the old ones are forgotten."""
        self._statistics, self._measured = statistics, None

    def keep(self, request: Request, fresh: Encodings) -> None:
        """Whiten sentences encoded elsewhere, and keep them."""
        self._whiten(fresh)
        # In place: sessions that share the stores and get these statistics find it there.
        self._stores.insert(0, EncodingStore(request, self._whitening_key(), (fresh,)))
        del self._stores[STORES:]

    @property
    def signature(self) -> Signature:
        """All settings that change a number."""
        return sign(self, self.far)

    @property
    def far(self) -> float | None:
        """Distance of unrelated sentences, where similarity is 0; None if not measured yet."""
        fitted = self.statistics.arrays.get(scale_key(self))
        if fitted is not None:
            return float(fitted[0])
        return self.encoder.chance if self.method.needs_pooled else None

    def scaled(self, distances: Floats) -> Floats | None:
        """Similarities that distances stand for; None if what is far has not been measured."""
        far = self.far
        return None if far is None else similarity_of(distances, far)

    def prepare(self, sentences: Sequence[str] = ()) -> None:
        """Register what this scorer needs, so that scorers sharing encodings encode once.

        Sentences given here are encoded together now; calls that need them find them.
        """
        self._store()
        if sentences:
            self._encodings(check_sentences(sentences, "sentence"))

    def measure(self, sentences: Iterable[str], *, progress: bool = False) -> Measured:
        """Encode and weigh sentences: all that the solver needs of them.

        Sentences of earlier calls may be among the rows; ``encodings.rows`` finds each.
        """
        return self._encoded(check_sentences(sentences, "sentence"), progress=progress)

    def _store(self) -> EncodingStore:
        """The store that serves this scorer, shared with the scorers it was made from."""
        request, key = self.request, self._whitening_key()
        for layer in request.embeddings:
            self._whitening_of(layer)  # refuse the wrong kind also for sentences known already
        for store in self._stores:
            if store.serve(request, key):
                return store
        self._stores.insert(0, EncodingStore(request, key))
        del self._stores[STORES:]
        return self._stores[0]

    def _encodings(self, sentences: Iterable[str], *, progress: bool = False) -> Encodings:
        """All the sentences encoded, reusing those of earlier calls."""

        def encode(missing: list[str], request: Request) -> Encodings:
            fresh = self.encoder.encode(missing, request, progress=progress)
            self._whiten(fresh)
            return fresh

        return self._store().get(sentences, encode)

    def _encoded(self, sentences: Iterable[str], *, progress: bool = False) -> Measured:
        """All the sentences encoded and weighed."""
        encodings = self._encodings(sentences, progress=progress)
        measured = self._measured
        if measured is None or measured.encodings is not encodings:
            measured = measure(
                encodings,
                self.context,
                weights=self.method.weights,
                cost=self.method.cost,
                embedding=self.embedding if self.method.needs_vectors else None,
            )
            self._measured = measured
        return measured

    def _whiten(self, encodings: Encodings) -> None:
        """Whiten the word vectors in place."""
        for layer, vectors in encodings.vectors.items():
            if (whitening := self._whitening_of(layer)) is not None:
                whitening.apply(vectors.data, self.threads)

    def _whitening_of(self, layer: int) -> Whitening | None:
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

    def _whitening_key(self) -> str:
        """Names what is done to vectors, so that only scorers that do the same share them."""
        if self.settings.whitening == "none" or not self.method.whitened:
            return "none"
        whitening = self.statistics.whitening
        return ",".join(f"{layer}:{white.digest}" for layer, white in sorted(whitening.items()))
