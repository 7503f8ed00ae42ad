"""Encoded sentences by text: each goes through a model once, and is kept in memory.

A scorer keeps what it has compared, a run over a corpus what it made of it, and an index the
sentences that it compared lately. What an index has on disk is another thing: words that are
weighed already, and bounds, found by row (`movers.search.corpus`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import numpy as np

from movers.arrays import gathered
from movers.encode.encodings import Encodings, Request

GROWTH = 8
"""How many times what is new a block may hold and still be joined with it."""
GROWTH_BYTES = 1 << 26
"""Up to this size blocks are joined; of a larger one only what is asked for is copied."""
STORES = 4
"""Stores that a family of scorers keeps."""
KEEP_BYTES = 1 << 30
"""Up to this size blocks are held beside the one used last."""


@dataclass(eq=False)
class Store:
    """Encoded sentences by text, in blocks, the one used last first.

    The ``request`` tells what is kept of each sentence, ``whitening`` names the one applied to the
    vectors. Beyond the ``limit`` of bytes, blocks that were not used for longest are forgotten.
    """

    request: Request
    whitening: str = ""
    limit: int = KEEP_BYTES
    blocks: list[Encodings] = field(default_factory=list)

    def add(self, encodings: Encodings) -> None:
        """Keep what was encoded elsewhere."""
        self._hold(encodings, self.blocks)

    def get(
        self, sentences: Iterable[str], encode: Callable[[list[str], Request], Encodings]
    ) -> Encodings:
        """Return encodings of all the sentences, and maybe others; only new ones are encoded."""
        missing, blocks = list(dict.fromkeys(sentences)), self.blocks
        for block in blocks:
            if all(text in block.rows for text in missing):
                self._hold(block, blocks)
                return block
        new = [text for text in missing if not any(text in block.rows for block in blocks)]
        parts = [encode(new, self.request)] if new or not blocks else []
        kept: list[Encodings] = []
        for block in blocks:
            known = [text for text in missing if text in block.rows]
            missing = [text for text in missing if text not in block.rows]
            if block.nbytes < GROWTH_BYTES and len(block) <= GROWTH * sum(map(len, parts)):
                parts.append(block)
                continue
            if known:
                parts.append(block.take(block.numbers(known), self.request, self.request.heads))
            if 2 * len(known) < len(block):
                kept.append(block)
        made = parts[0]
        if len(parts) > 1:
            made = gathered(Encodings, [(part, slice(None)) for part in parts])
        self._hold(made, kept)
        return made

    def _hold(self, block: Encodings, others: Iterable[Encodings]) -> None:
        """Move a block to the front (LRU); drop those beyond the limit of bytes."""
        behind = [other for other in others if other is not block]
        room = self.limit - np.cumsum([other.nbytes for other in behind])
        self.blocks = [block, *behind[: int((room >= 0).sum())]]


class EncodingCache(list[Store]):
    """The stores of a family of scorers, newest first, one for each set of words or heads.

    Pickling leaves the content behind, yet scorers pickled together go on sharing one cache.
    """

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return sum(block.nbytes for store in self for block in store.blocks)

    def __reduce__(self) -> tuple[type[EncodingCache], tuple[()]]:
        return EncodingCache, ()

    def find(self, request: Request, whitening: str) -> Store:
        """Return the store that serves a request, after widening what it keeps if need be."""
        for store in self:
            same = store.request == request
            union = request if same else store.request.union(request)
            if union is not None and store.whitening == whitening:
                if union != store.request:
                    store.request, store.blocks = union, []
                return store
        return self.new(request, whitening)

    def new(self, request: Request, whitening: str) -> Store:
        """Make a store and put it first; the oldest goes if there are too many."""
        store = Store(request, whitening)
        self.insert(0, store)
        del self[STORES:]
        return store
