"""Sentences encoded and weighed, and kept from call to call."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

from movers.arrays import Floats
from movers.encode.encodings import Encodings, Request
from movers.encode.store import Store
from movers.encode.transformer import TransformerEncoder
from movers.explain.compared import Signature
from movers.io.pairs import check_sentences
from movers.measure.measured import Bags, Measured, measure
from movers.measure.statistics import Statistics
from movers.scale import similarity_of
from movers.session.resolved import DERIVED, Resolved
from movers.session.signature import scale_key, sign
from movers.settings import Settings

STORES = 4
"""Encoding stores a family of sessions keeps, one for each set of words or heads it compares."""


class Stores(list[Store]):
    """The stores of a family of scorers, newest first.

    Pickling leaves the content behind, yet scorers pickled together go on sharing one list.
    """

    def __reduce__(self) -> tuple[type[Stores], tuple[()]]:
        return Stores, ()


class Session(Resolved):
    """Sentences under one method, one model and one set of statistics, encoded once.

    What is encoded is shared with the sessions that `follow` this one.
    """

    def __init__(
        self, settings: Settings, encoder: TransformerEncoder | Callable[[], TransformerEncoder]
    ) -> None:
        super().__init__(settings, encoder)
        self._stores = Stores()
        self._measured: Measured | None = None

    def __getstate__(self) -> dict[str, Any]:
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
        store = self._new_store(request, self.whitening_key)
        store.add(fresh)

    def forget(self) -> None:
        """Forget the sentences encoded so far, for the sessions that share them too."""
        self._stores.clear()
        self._measured = None

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
