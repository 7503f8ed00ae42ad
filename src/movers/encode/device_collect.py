"""Padded batches of torch, and what a request keeps of them where a GPU runs the model.

It is gathered on the device and sent off at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from movers.arrays import Array, Ints, Singles
from movers.encode.attention_hooks import InputVectors
from movers.encode.collect import Batch, BatchLimits, Collector, picked
from movers.encode.subword_pooling import WordPieces, in_order, totals
from movers.encode.tokens import Text

if TYPE_CHECKING:
    from torch import Tensor


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
    text: Text,
    vectors: Tensor | None,
    padding: int,
    limits: BatchLimits,
    most: int | None,
    device: str,
) -> Iterator[PaddedBatch]:
    """Put sentences of about the same length side by side, within limits.

    ``vectors`` holds one for each of the unknown words, on the device.
    """
    import torch

    flat = text.ids.data, text.ids.starts, text.numbers
    data, starts, numbers = (on_device(array, device) for array in flat)
    sizes, strange = text.ids.lengths, text.unknown_counts > 0
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
        begin, genuine = width * np.arange(len(rows)), np.arange(width) < sizes[rows, None]
        yield PaddedBatch(rows, sizes[rows], begin, genuine, None, places, tokens, mask, own)


def on_device(array: NDArray[Any], device: str) -> Tensor:
    """An array as a tensor; the way to a GPU does not wait for the work it still has to do."""
    import torch

    tensor = torch.from_numpy(np.ascontiguousarray(array))
    if device.startswith("cuda"):
        return tensor.pin_memory().to(device, non_blocking=True)
    return tensor.to(device)


def _mean(states: Tensor, genuine: Tensor) -> Tensor:
    return in_order(states.masked_fill(~genuine[..., None], 0.0), 1) / genuine.sum(1, keepdim=True)


def _last(states: Tensor, genuine: Tensor) -> Tensor:
    place = (genuine.sum(1) - 1).view(-1, 1, 1).expand(-1, 1, states.shape[2])
    return states.gather(1, place)[:, 0]


DEVICE_POOLINGS: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "mean": _mean,
    "cls": lambda states, genuine: states[:, 0],
    "max": lambda states, genuine: states.masked_fill(~genuine[..., None], -float("inf")).amax(1),
    "lasttoken": _last,
}
"""Rows of `movers.encode.collect.POOLINGS`; special tokens are genuine, padding is not."""


class DeviceCollector:
    """Keeps what a request names on the device where the model runs, and sends it off in one piece.

    ``host`` says what to keep, and where it goes in the end.
    """

    def __init__(self, host: Collector, device: str) -> None:
        self.request, self.device, self.most = host.request, device, host.most
        self.pooling = DEVICE_POOLINGS[host.pooling]
        starts, ranges, _ = host.located
        self.counts = np.diff(starts)
        self.ranges = on_device(ranges, device)
        self.word_starts = on_device(starts, device)
        self.cell_starts = on_device(host.cell_starts, device)
        self.vectors = {layer: _DeviceArray(rows, device) for layer, rows in host.vectors.items()}
        kept = host.structure, host.sums, host.squares, host.pooled
        self.structure, self.sums, self.squares, self.pooled = (
            _DeviceArray(one, device) for one in kept
        )

    def begin(self, batch: PaddedBatch) -> None:
        """Turn to the next batch, its rows counted from ``low``."""
        self.batch = batch
        filled = np.flatnonzero(self.counts[batch.rows])
        self.words = self._words(batch, filled) if len(filled) else None

    def _words(self, batch: PaddedBatch, filled: Ints) -> WordPieces:
        import torch

        width = int(self.counts[batch.rows].max())
        self.places = places = on_device(batch.rows[filled], self.device)
        counts = self.word_starts[places + 1] - self.word_starts[places]
        columns = torch.arange(width, device=self.device)
        self.numbers = self.word_starts[places][:, None] + torch.minimum(
            columns, counts[:, None] - 1
        )
        first, end = self.ranges[self.numbers].unbind(-1)
        return WordPieces(on_device(filled, self.device), counts, first, end - first, self.most)

    def take_states(self, states: dict[int, Tensor]) -> None:
        """Keep the vectors of words, and of sentences, from the hidden states of layers."""
        if self.words is not None:
            for layer, room in self.vectors.items():
                room.tensor[self.numbers] = self.words.states(states[layer])
        if self.request.pooled:
            last = states[max(states)].float()
            self.pooled.tensor[self.batch.places] = self.pooling(last, self.batch.mask)

    def take_attention(self, layer: int, matrices: Tensor) -> None:
        """Keep the attention among words from the matrices of a layer."""
        import torch

        slots = [slot for slot, head in enumerate(self.request.heads) if head[0] == layer]
        if slots:
            heads = [self.request.heads[slot][1] for slot in slots]
            self._cut(picked(matrices, heads, torch.stack), np.array(slots))

    def _cut(self, matrices: Tensor, slots: Ints) -> None:
        """What `movers.encode.subword_kernels` does, where kernels do not run."""
        paper = self.request.rules.recipe == "paper"
        if not paper:
            full = matrices.float().movedim(3, 0).contiguous()
            self._sum(self.batch.places, slots, totals(full, self.batch.mask))
        if self.words is None:
            return
        kept = self.words.attention(matrices)
        if paper:
            kept = self.words.normalised(kept)
            self._sum(self.places, slots, totals(kept, self.words.genuine))
        self.structure.tensor.scatter_(0, self._cells(slots).flatten(), kept.flatten())

    def _sum(self, places: Tensor, slots: Ints, found: tuple[Tensor, Tensor]) -> None:
        columns = on_device(slots, self.device)
        self.sums.tensor[places[:, None], columns] = found[0]
        self.squares.tensor[places[:, None], columns] = found[1]

    def _cells(self, slots: Ints) -> Tensor:
        """Return where the attention of every head and pair of words goes."""
        assert self.words is not None
        counts, columns = self.words.counts, self.words.columns
        heads = on_device(slots, self.device) * (counts**2)[:, None]
        rows = (self.cell_starts[self.places][:, None] + heads)[:, :, None]
        return rows + (columns * counts[:, None])[:, None] + columns.T[:, :, None, None]

    def finish(self, courier: ThreadPoolExecutor) -> Future[None]:
        """Send off what was gathered; returns what to wait for."""
        rooms = [*self.vectors.values(), self.structure, self.sums, self.squares, self.pooled]
        parcels = [room.sent() for room in rooms]
        sent = _all_sent(self.device)

        def deliver() -> None:
            sent()
            for room, parcel in zip(rooms, parcels, strict=True):
                room.target.copy_(parcel)

        return courier.submit(deliver)


class _DeviceArray:
    """Part of an array, and what stands in for it on the device until all of it is written."""

    def __init__(self, target: Array, device: str) -> None:
        import torch

        self.target = torch.from_numpy(target)
        self.tensor = torch.zeros_like(self.target, device=device)

    def sent(self) -> Tensor:
        """What the stand-in holds, on its way into memory that a GPU can write to by itself."""
        import torch

        pinned = self.tensor.device.type == "cuda"
        parcel = torch.empty(self.tensor.shape, dtype=self.tensor.dtype, pin_memory=pinned)
        return parcel.copy_(self.tensor, non_blocking=True)


def _all_sent(device: str) -> Callable[[], None]:
    """Return a function that waits until everything sent so far has arrived."""
    import torch

    if not device.startswith("cuda"):
        return lambda: None
    wait: Callable[[], None] = torch.cuda.current_stream(device).record_event().synchronize
    return wait
