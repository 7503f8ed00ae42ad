"""Encoded sentences kept from call to call, and shared by scorers that need the same of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from movers.encode.encodings import Encodings, Request

GROWTH_BYTES = 1 << 26
"""Up to this size new sentences join the old; a larger store starts afresh instead of copying."""


@dataclass
class EncodingStore:
    """Sentences encoded for one request, whitened in one way.

    Parameters
    ----------
    request
        What is kept of each sentence.
    whitening
        Name of the whitening applied to the vectors.
    encodings
        The sentences so far.
    """

    request: Request
    whitening: str
    encodings: Encodings | None = None

    def serve(self, request: Request, whitening: str) -> bool:
        """Whether this store can serve a request, after widening what it keeps if need be."""
        union = self.request.union(request)
        if union is None or whitening != self.whitening:
            return False
        if union != self.request:
            self.request, self.encodings = union, None
        return True

    def get(
        self, sentences: Iterable[str], encode: Callable[[list[str], Request], Encodings]
    ) -> Encodings:
        """Encodings that hold all the sentences; only new ones are encoded."""
        distinct = list(dict.fromkeys(sentences))
        known = self.encodings
        rows = {} if known is None else known.rows
        missing = [text for text in distinct if text not in rows]
        if known is not None and not missing:
            return known
        if known is not None and known.nbytes < GROWTH_BYTES:
            encodings = known.joined(encode(missing, self.request))
        else:
            encodings = encode(distinct, self.request)
        self.encodings = encodings
        return encodings


class Stores(list[EncodingStore]):
    """The stores of a family of scorers, newest first.

    Pickling leaves the content behind, yet scorers pickled together go on sharing one list.
    """

    def __reduce__(self) -> tuple[type[Stores], tuple[()]]:
        return Stores, ()
