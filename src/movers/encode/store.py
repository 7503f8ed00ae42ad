"""Encoded sentences kept from call to call, and shared by scorers that need the same of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import reduce

from movers.encode.encodings import Encodings, Request

GROWTH_BYTES = 1 << 26
"""Up to this size new sentences join the old; of a larger block only those asked for are copied."""
KEEP_BYTES = 1 << 30
"""Up to this size sentences of earlier calls are kept beside those of the last one."""


@dataclass
class EncodingStore:
    """Sentences encoded for one request, whitened in one way.

    Parameters
    ----------
    request
        What is kept of each sentence.
    whitening
        Name of the whitening applied to the vectors.
    blocks
        The sentences so far: those of the last call, then those of an earlier one.
    """

    request: Request
    whitening: str
    blocks: tuple[Encodings, ...] = ()

    def serve(self, request: Request, whitening: str) -> bool:
        """Whether this store can serve a request, after widening what it keeps if need be."""
        union = self.request.union(request)
        if union is None or whitening != self.whitening:
            return False
        if union != self.request:
            self.request, self.blocks = union, ()
        return True

    def get(
        self, sentences: Iterable[str], encode: Callable[[list[str], Request], Encodings]
    ) -> Encodings:
        """Encodings that hold all the sentences; only new ones are encoded."""
        missing = list(dict.fromkeys(sentences))
        for block in self.blocks:
            if all(text in block.rows for text in missing):
                return block
        parts: list[Encodings] = []
        kept: list[Encodings] = []
        for block in self.blocks:
            known = [text for text in missing if text in block.rows]
            missing = [text for text in missing if text not in block.rows]
            if block.nbytes < GROWTH_BYTES:
                parts.append(block)
                continue
            if known:
                parts.append(block.take(block.numbers(known), self.request, self.request.heads))
            if 2 * len(known) < len(block) and block.nbytes <= KEEP_BYTES:
                kept.append(block)
        # The largest part comes last, and so is copied once.
        parts = [*([encode(missing, self.request)] if missing or not parts else []), *parts]
        made = reduce(Encodings.joined, parts)
        self.blocks = (made, *kept[:1])
        return made


class Stores(list[EncodingStore]):
    """The stores of a family of scorers, newest first.

    Pickling leaves the content behind, yet scorers pickled together go on sharing one list.
    """

    def __reduce__(self) -> tuple[type[Stores], tuple[()]]:
        return Stores, ()
