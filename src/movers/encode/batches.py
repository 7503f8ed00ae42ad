"""Sentences of about the same length side by side, padded, on the device of the model."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from movers.arrays import Ints, Ragged
from movers.encode.unknown import Own, Unknown


@dataclass(frozen=True)
class Limits:
    """How large a batch may be.

    ``tokens`` count padding; ``attention`` is tokens times the length of a sentence. Sentences
    shorter than ``shortest`` are padded, and those above ``longest_padded`` share a batch with none
    of another length. A batch ends before its ``padding`` exceeds that number of tokens.
    """

    tokens: int
    attention: int
    padding: int
    shortest: int
    longest_padded: int

    def batches(self, lengths: Ints, most: int | None = None) -> Iterator[Ints]:
        """Rows in order of length, as many at a time as the limits allow, and at most ``most``."""
        order = np.argsort(lengths, kind="stable")
        widths = np.maximum(lengths[order], self.shortest)
        start = 0
        while start < len(order):
            width = int(widths[start])
            ahead = widths[start : start + min(max(1, self.tokens // width), most or len(order))]
            sizes = ahead * np.arange(1, len(ahead) + 1)
            fits = (sizes <= self.tokens) & (sizes * ahead <= self.attention)
            fits &= sizes - np.cumsum(ahead) <= self.padding
            fits &= (ahead <= self.longest_padded) | (ahead == width)
            fits[0] = True
            count = int(fits.argmin()) or len(fits)
            yield order[start : start + count]
            start += count


@dataclass(frozen=True)
class Batch:
    """Sentences to run through a model together.

    ``places`` are its rows on the device; ``lengths`` are in tokens, ``(batch,)``; ``ids`` and
    ``mask`` have the shape ``(batch, tokens)``; ``own`` holds vectors of unknown words, and which
    of them each token has, or None if all are known.
    """

    rows: Ints
    places: Any
    lengths: Any
    ids: Any
    mask: Any
    own: Own | None = None


class Shelf:
    """Token ids of sentences on a device, to take batches from.

    ``vectors`` holds one for each of the ``unknown`` words, on the device.
    """

    def __init__(
        self, ids: Ragged, padding: int, shortest: int, device: str, unknown: Unknown, vectors: Any
    ) -> None:
        self.sizes, self.padding, self.shortest, self.device = (
            ids.lengths,
            padding,
            shortest,
            device,
        )
        self.data = on_device(ids.data, device)
        self.starts = on_device(ids.starts, device)
        self.strange, self.vectors = unknown.counts > 0, vectors
        self.numbers = on_device(unknown.numbers.data, device)

    def take(self, rows: Ints) -> Batch:
        """Put sentences side by side."""
        import torch

        places = on_device(rows, self.device)
        first = self.starts[places]
        lengths = self.starts[places + 1] - first
        width = max(self.shortest, int(self.sizes[rows].max()))
        columns = torch.arange(width, device=self.device)
        mask = columns < lengths[:, None]
        cells = torch.where(mask, first[:, None] + columns, 0)
        ids = torch.where(mask, self.data[cells].long(), self.padding)
        own = None
        if self.strange[rows].any():
            own = self.vectors, torch.where(mask, self.numbers[cells].long(), 0), ids
        return Batch(rows, places, lengths, ids, mask, own)


def on_device(array: NDArray[Any], device: str) -> Any:
    """An array as a tensor; the way to a GPU does not wait for the work it still has to do."""
    import torch

    tensor = torch.from_numpy(np.ascontiguousarray(array))
    if device.startswith("cuda"):
        return tensor.pin_memory().to(device, non_blocking=True)
    return tensor.to(device)
