"""Sentences of about the same length side by side, padded, on the device of the model."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from movers.arrays import Ints, Ragged
from movers.encode.unknown import Unknown
from movers.encode.watching import Own

if TYPE_CHECKING:
    from torch import Tensor


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
    places: Tensor
    lengths: Tensor
    ids: Tensor
    mask: Tensor
    own: Own | None = None


def padded_batches(
    ids: Ragged,
    unknown: Unknown,
    vectors: Tensor | None,
    padding: int,
    limits: Limits,
    most: int | None,
    device: str,
) -> Iterator[Batch]:
    """Put sentences of about the same length side by side, within limits.

    ``vectors`` holds one for each of the ``unknown`` words, on the device.
    """
    import torch

    flat = ids.data, ids.starts, unknown.numbers.data
    data, starts, numbers = (on_device(array, device) for array in flat)
    sizes, strange = ids.lengths, unknown.counts > 0
    for rows in limits.batches(sizes, most):
        places = on_device(rows, device)
        first = starts[places]
        lengths = starts[places + 1] - first
        columns = torch.arange(max(limits.shortest, int(sizes[rows].max())), device=device)
        mask = columns < lengths[:, None]
        cells = torch.where(mask, first[:, None] + columns, 0)
        tokens = torch.where(mask, data[cells].long(), padding)
        own = None
        if vectors is not None and strange[rows].any():
            own = Own(vectors, torch.where(mask, numbers[cells].long(), 0), tokens)
        yield Batch(rows, places, lengths, tokens, mask, own)


def on_device(array: NDArray[Any], device: str) -> Tensor:
    """An array as a tensor; the way to a GPU does not wait for the work it still has to do."""
    import torch

    tensor = torch.from_numpy(np.ascontiguousarray(array))
    if device.startswith("cuda"):
        return tensor.pin_memory().to(device, non_blocking=True)
    return tensor.to(device)
