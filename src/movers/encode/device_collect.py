"""Padded batches of torch, and what a request keeps of them where a GPU runs the model.

It is gathered on the device and sent off at once. Words are padded with copies of the last one of
their sentence: what is computed for a copy is computed twice, with the same result, and may be
written twice. Sums go term by term in their order, so that no bit of a sentence depends on how far
others made it be padded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from movers.arrays import Array, Ints, Singles
from movers.encode.collect import Batch, BatchLimits, Collector, picked
from movers.encode.tokens import Text

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class PaddedBatch(Batch):
    """A batch of torch's, on the device of the model.

    ``places`` are its rows; ``ids`` and ``mask`` have the shape ``(batch, tokens)``; ``own`` holds
    vectors of unknown words, which of them each token has, from 1 on, and the ids; None if all are
    known.
    """

    places: Tensor
    ids: Tensor
    mask: Tensor
    own: tuple[Tensor, Tensor, Tensor] | None = None

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
            own = vectors, torch.where(mask, numbers[cells].long(), 0), tokens
        begin, genuine = width * np.arange(len(rows)), np.arange(width) < sizes[rows, None]
        yield PaddedBatch(rows, sizes[rows], begin, genuine, None, places, tokens, mask, own)


def on_device(array: NDArray[Any], device: str) -> Tensor:
    """An array as a tensor; the way to a GPU does not wait for the work it still has to do."""
    import torch

    tensor = torch.from_numpy(np.ascontiguousarray(array))
    if device.startswith("cuda"):
        return tensor.pin_memory().to(device, non_blocking=True)
    return tensor.to(device)


@dataclass(frozen=True)
class PaddedWords:
    """The kept words of the sentences of a batch that have any.

    ``sentences`` are their places in the batch and ``counts`` their words; ``first`` and ``sizes``
    are the first token and the number of tokens of every word, ``(sentences, words)``; ``most``
    pieces are looked at: 1 where the first stands for its word.
    """

    sentences: Tensor
    counts: Tensor
    first: Tensor
    sizes: Tensor
    most: int

    @property
    def columns(self) -> Tensor:
        """Number of every word in its sentence; the copies have that of the last."""
        import torch

        numbers = torch.arange(self.first.shape[1], device=self.first.device)
        return torch.minimum(numbers, self.counts[:, None] - 1)

    @property
    def genuine(self) -> Tensor:
        """Which words are no copies, ``(sentences, words)``."""
        import torch

        return torch.arange(self.first.shape[1], device=self.first.device) < self.counts[:, None]

    def states(self, states: Tensor) -> Tensor:
        """Return vectors of the words, from those of all tokens."""
        return self._pooled(self._of(states), 1)

    def attention(self, matrices: Tensor) -> Tensor:
        """Attention among the words, ``(words, sentences, heads, words)``, *to* words first.

        Attention *to* a word is the sum over its pieces, attention *from* it their mean (Clark et
        al., 2019), so that rows keep adding up to the same total.
        """
        rows = self._pooled(self._of(matrices), 2)
        return self._pooled(rows.movedim(3, 0), 0, sentences=1, add=True)

    def normalised(self, attention: Tensor) -> Tensor:
        """Attention *from* every word scaled to sum 1, or uniform where there is none."""
        import torch

        total = torch.zeros_like(attention[0])
        for to, genuine in zip(attention, self.genuine.T[:, :, None, None], strict=True):
            total += to * genuine
        uniform = (1.0 / self.counts.double()).float()[:, None, None]
        return torch.where(total > 0, attention / torch.where(total > 0, total, 1.0), uniform)

    def _of(self, values: Tensor) -> Tensor:
        """Return what belongs to sentences with words."""
        return values if len(values) == len(self.sentences) else values[self.sentences]

    def _pooled(
        self, values: Tensor, axis: int, *, sentences: int = 0, add: bool = False
    ) -> Tensor:
        """Reduce an axis from tokens to words: first piece, or mean (sum) of pieces."""
        import torch

        shape, narrow = [*values.shape], [1] * values.ndim
        shape[axis] = narrow[axis] = self.first.shape[1]
        narrow[sentences] = len(self.first)
        swapped = axis < sentences
        first, sizes = (
            (table.T if swapped else table).reshape(narrow) for table in (self.first, self.sizes)
        )
        total = values.gather(axis, first.expand(shape)).float()
        if self.most == 1:
            return total
        rest = torch.zeros_like(total)
        for piece in range(1, self.most):
            place = torch.minimum(first + piece, first + sizes - 1)
            more = values.gather(axis, place.expand(shape)).float()
            rest += torch.where(sizes > piece, more, 0.0)
        return total + rest if add else (total + rest) / sizes


def totals(attention: Tensor, genuine: Tensor) -> tuple[Tensor, Tensor]:
    """Sum and sum of squares over the genuine words (or tokens) of every sentence and head.

    ``attention`` has the layout of `PaddedWords.attention`; the sums are doubles.
    """
    import torch

    sums = torch.zeros_like(attention[0], dtype=torch.float64)
    squares = torch.zeros_like(sums)
    for to, counted in zip(attention, genuine.T[:, :, None, None], strict=True):
        term = (to * counted).double()
        sums += term
        squares.addcmul_(term, term)
    rows = genuine[:, None]
    return in_order(sums * rows, 2), in_order(squares * rows, 2)


def in_order(values: Tensor, axis: int) -> Tensor:
    """Sum over an axis, term after term."""
    first, *others = values.unbind(axis)
    total = first.clone()
    for term in others:
        total += term
    return total


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

    def _words(self, batch: PaddedBatch, filled: Ints) -> PaddedWords:
        import torch

        width = int(self.counts[batch.rows].max())
        self.places = places = on_device(batch.rows[filled], self.device)
        counts = self.word_starts[places + 1] - self.word_starts[places]
        columns = torch.arange(width, device=self.device)
        self.numbers = self.word_starts[places][:, None] + torch.minimum(
            columns, counts[:, None] - 1
        )
        first, end = self.ranges[self.numbers].unbind(-1)
        return PaddedWords(on_device(filled, self.device), counts, first, end - first, self.most)

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
        """What `movers.encode.kernels` does, where kernels do not run."""
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
