"""Sentences of about the same length that run through a model together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from movers.arrays import Bools, Ints, Ragged, Singles
from movers.encode.attention_hooks import InputVectors
from movers.encode.unknown import Unknown

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class BatchLimits:
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
    """Sentences to run through a model together, shortest first.

    ``rows`` are their numbers and ``lengths`` their tokens, ``(batch,)``. Hidden states lie in one
    matrix, ``(rows of tokens, dimension)``, that of the first token of each sentence in the row
    that ``first`` says; matrices of attention are ``width`` tokens wide.
    """

    rows: Ints
    lengths: Ints
    first: Ints
    width: int

    @property
    def genuine(self) -> Bools:
        """Which of ``(batch, width)`` tokens are no padding."""
        return np.arange(self.width) < self.lengths[:, None]

    def tokens(self, states: Any) -> Singles:
        """Return the states of all tokens, one sentence after another, without padding."""
        ends = np.cumsum(self.lengths)
        shifts = np.repeat(self.first - ends + self.lengths, self.lengths)
        return self.array(states)[np.arange(len(shifts)) + shifts]

    def array(self, values: Any) -> Singles:
        """Return what a model has returned, as an array."""
        return np.asarray(values, np.float32)


@dataclass(frozen=True)
class PaddedBatch(Batch):
    """A batch of torch's, on the device of the model.

    ``places`` are its rows; ``ids`` and ``mask`` have the shape ``(batch, tokens)``; ``own`` holds
    vectors of unknown words, and which of them each token has, or None if all are known.
    """

    places: Tensor
    ids: Tensor
    mask: Tensor
    own: InputVectors | None = None

    def array(self, values: Tensor | Singles) -> Singles:
        """Return a tensor as an array; hidden states as one matrix."""
        if isinstance(values, np.ndarray):
            return values
        flat = values.reshape(-1, values.shape[-1]) if values.ndim == 3 else values
        return np.asarray(flat.float().cpu().numpy(), np.float32)


def padded_batches(
    ids: Ragged,
    unknown: Unknown,
    vectors: Tensor | None,
    padding: int,
    limits: BatchLimits,
    most: int | None,
    device: str,
) -> Iterator[PaddedBatch]:
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
        width = max(limits.shortest, int(sizes[rows].max()))
        columns = torch.arange(width, device=device)
        mask = columns < lengths[:, None]
        cells = torch.where(mask, first[:, None] + columns, 0)
        tokens = torch.where(mask, data[cells].long(), padding)
        own = None
        if vectors is not None and strange[rows].any():
            own = InputVectors(vectors, torch.where(mask, numbers[cells].long(), 0), tokens)
        begin = width * np.arange(len(rows))
        yield PaddedBatch(rows, sizes[rows], begin, width, places, tokens, mask, own)


def on_device(array: NDArray[Any], device: str) -> Tensor:
    """An array as a tensor; the way to a GPU does not wait for the work it still has to do."""
    import torch

    tensor = torch.from_numpy(np.ascontiguousarray(array))
    if device.startswith("cuda"):
        return tensor.pin_memory().to(device, non_blocking=True)
    return tensor.to(device)
