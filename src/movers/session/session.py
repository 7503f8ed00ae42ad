"""Settings met with a model: layers, heads and statistics; sentences encoded, weighed and kept."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, partial

from movers.encode.encoder import Encoder
from movers.encode.encodings import Encodings, Head, Request
from movers.encode.store import Store
from movers.encode.whiten import Whitening
from movers.errors import Choose, Do, InputError, ModelError
from movers.io.pairs import check_sentences
from movers.measure.measured import Bags, Context, Measured, measure
from movers.measure.statistics import Statistics
from movers.measure.structure import middle_layers, select_heads
from movers.methods import Method
from movers.runtime.notices import UnwhitenedWarning, notify
from movers.settings import Settings

TYPICAL = 14
"""Words kept of a rather long sentence."""
DERIVED = ("heads", "request", "context", "whitening_key", "sentence_bytes")
"""What is worked out once for settings, model and statistics."""
STORES = 4
"""Encoding stores a family of sessions keeps, one for each set of words or heads it compares."""


class Stores(list[Store]):
    """The stores of a family of scorers, newest first.

    Pickling leaves the content behind, yet scorers pickled together go on sharing one list.
    """

    def __reduce__(self) -> tuple[type[Stores], tuple[()]]:
        return Stores, ()


class Session:
    """What settings come to under one model and one set of statistics, and sentences encoded once.

    The model may be given as what loads it when it is first needed. What is encoded is shared with
    the sessions that `follow` this one.
    """

    method: Method
    """The measure in use, as the recipe defines it."""
    share: float
    """Share of structure in the distance: the mix, 0 or 1 as the method has it."""

    def __init__(self, settings: Settings, encoder: Encoder | Callable[[], Encoder]) -> None:
        self.settings, self.method, self.threads = settings, settings.row, settings.threads
        self.share = self.method.share(float(settings.mix))
        self._whitens = self.method.whitened and settings.whitening != "none"
        self._source, self._statistics = encoder, settings.fitted
        self._warned: set[int] = set()
        self._stores = Stores()
        self._measured: Measured | None = None

    @cached_property
    def encoder(self) -> Encoder:
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
        """Go on with statistics that leave words and their weights as they are."""
        self._statistics = statistics
        for name in DERIVED:
            vars(self).pop(name, None)

    @property
    def whitening(self) -> Whitening | None:
        """What is done to the word vectors; None if nothing."""
        return self.statistics.whitening.get(self.embedding) if self._whitens else None

    def whitening_of(self, layer: int) -> Whitening | None:
        """What is done to the vectors of a layer; warns if that is nothing for want of a fit."""
        if not self._whitens:
            return None
        whitening = self.statistics.whitening.get(layer)
        if whitening is None and layer not in self._warned:
            self._warned.add(layer)
            notify(
                f"no whitening statistics for layer {layer} of {self.encoder.name}: word vectors "
                "are used as they are. Models differ in which is better, so try both on labelled "
                "pairs:",
                UnwhitenedWarning,
                Do("fit", "for the paper's whitening"),
                Choose("whitening", "none", "to stay with this and silence the warning"),
            )
        elif whitening is not None and self.settings.whitening not in (None, whitening.kind):
            raise InputError(
                f"whitening {self.settings.whitening!r} was asked for, but the statistics at "
                f"hand are {whitening.kind!r}",
                Do("fit"),
            )
        return whitening

    @cached_property
    def whitening_key(self) -> str:
        """Names what is done to vectors, so that only scorers that do the same share them."""
        for layer in self.request.embeddings:
            self.whitening_of(layer)  # refuse the wrong kind
        if not self._whitens:
            return "none"
        known = sorted(self.statistics.whitening.items())
        return ",".join(f"{layer}:{white.digest}" for layer, white in known)

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

    def __getstate__(self) -> dict[str, object]:
        """Leave model and encodings behind; a copy in another process loads its own."""
        left = {"encoder", *DERIVED}
        state = {name: value for name, value in vars(self).items() if name not in left}
        return {**state, "_measured": None}

    def follow(self, other: Session) -> None:
        """Share the model of another session, if it is loaded, and what it has encoded."""
        self._stores, self._warned = other._stores, other._warned
        if "encoder" in vars(other):
            self.encoder = other.encoder

    def adopt(self, statistics: Statistics) -> None:
        """Go on with other statistics; what came from the old ones is forgotten."""
        self.replace_statistics(statistics)
        self._measured = None

    def keep(self, request: Request, fresh: Encodings) -> None:
        """Whiten sentences encoded elsewhere, and keep them."""
        self._whiten(fresh)
        # In place: sessions that share the stores and get these statistics find it there.
        self._new_store(request, self.whitening_key).add(fresh)

    def forget(self) -> None:
        """Forget the sentences encoded so far, for the sessions that share them too."""
        self._stores.clear()
        self._measured = None

    def prepare(self, sentences: Sequence[str] = ()) -> None:
        """Register what this scorer needs, so that scorers sharing encodings encode once.

        Sentences given here are encoded together now; calls that need them find them.
        """
        store = self._store()
        if sentences:
            store.get(check_sentences(sentences, "sentence"), self._encode)

    def measure(self, sentences: Iterable[str], *, progress: bool = False) -> Measured:
        """Encode and weigh sentences: all that the solver needs of them.

        Sentences of earlier calls may be among the rows; ``encodings.rows`` finds each.
        """
        return self._encoded(check_sentences(sentences, "sentence"), progress=progress)

    def _store(self) -> Store:
        """The store that serves this scorer, after widening what it keeps if need be."""
        request, key = self.request, self.whitening_key
        for store in self._stores:
            same = store.request == request
            union = request if same else store.request.union(request)
            if union is not None and store.whitening == key:
                if union != store.request:
                    store.request, store.blocks = union, []
                return store
        return self._new_store(request, key)

    def _new_store(self, request: Request, key: str) -> Store:
        store = Store(request, key)
        self._stores.insert(0, store)
        del self._stores[STORES:]
        return store

    def _encode(self, missing: list[str], request: Request, *, progress: bool = False) -> Encodings:
        fresh = self.encoder.encode(missing, request, progress=progress)
        self._whiten(fresh)
        return fresh

    def _encoded(self, sentences: Sequence[str], *, progress: bool = False) -> Measured:
        """All the sentences encoded and weighed, reusing those of earlier calls."""
        measured = self._measured
        if measured is None or not all(text in measured.encodings.rows for text in sentences):
            found = self._store().get(sentences, partial(self._encode, progress=progress))
            measured = self._measured = self._weighed(found)
        return measured

    def words(
        self, sentences: Sequence[str], store: Store | None = None, *, progress: bool = False
    ) -> Bags:
        """Encode and weigh sentences and no others, each in its place, repeated ones included.

        They are looked for and kept in a store of the caller's, or else in that of this scorer.
        """
        request = self.request if store is None else store.request
        store = self._store() if store is None else store
        found = store.get(sentences, partial(self._encode, progress=progress))
        rows = found.numbers(sentences)
        taken = found.take(rows, request, store.request.heads)
        return self._weighed(taken).take(slice(None))

    def _weighed(self, encodings: Encodings) -> Measured:
        return measure(
            encodings,
            self.context,
            weights=self.method.weights,
            cost=self.method.cost,
            embedding=self.embedding if self.method.needs_vectors else None,
        )

    def _whiten(self, encodings: Encodings) -> None:
        """Whiten the word vectors in place."""
        for layer, vectors in encodings.vectors.items():
            if (whitening := self.whitening_of(layer)) is not None:
                whitening.apply(vectors.data, self.threads)
