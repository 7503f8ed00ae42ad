"""What a request keeps of the sentences that run through a model, written where it stays."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from movers.arrays import Array, Ints, Ragged
from movers.encode.batches import Batch, on_device
from movers.encode.cutting import Words, totals
from movers.encode.cutting_kernels import Kept, Located, cut
from movers.encode.encodings import MEAN_HEAD, Encodings, Request
from movers.encode.spellings import Spellings
from movers.encode.tokens import Tokens, WordFinder

if TYPE_CHECKING:
    from torch import Tensor


def allocate(
    sentences: list[str], tokens: Tokens, finder: WordFinder, request: Request, dimension: int
) -> Encodings:
    """Make room for exactly what will be kept, so that memory never doubles on the way."""
    counts, heads = tokens.words.lengths, len(request.heads)
    paper = request.rules.recipe == "paper"
    return Encodings(
        sentences=sentences,
        spans=tokens.spans,
        spellings=Spellings.cut(finder.names, tokens.ids, tokens.words),
        vectors={
            layer: Ragged.zeros(counts, (dimension,), np.float32) for layer in request.embeddings
        },
        structure=Ragged.zeros(heads * counts**2, dtype=np.float32),
        sums=np.zeros((len(sentences), heads)),
        squares=np.zeros((len(sentences), heads)),
        sizes=counts.copy() if paper else tokens.ids.lengths,
        pooled=np.zeros((len(sentences), dimension * request.pooled), np.float32),
    )


class Keeper:
    """Keeps what one request names of the sentences ``low .. high - 1``.

    On a CPU it is written to its place at once. On a GPU it is gathered there first and comes over
    in one piece, while the next sentences run.

    Parameters
    ----------
    request, tokens, out
        What to keep, the words, and the encodings to fill.
    low, high
        The sentences.
    device
        Where the model runs.
    pooling
        Row of `movers.encode.pooling.POOLINGS`.
    gather
        Whether to write to a place apart first, on the device, and send it off in `finish`.
    """

    def __init__(
        self,
        request: Request,
        tokens: Tokens,
        out: Encodings,
        low: int,
        high: int,
        device: str,
        pooling: Callable[[Tensor, Tensor], Tensor],
        *,
        gather: bool,
    ) -> None:
        self.request, self.pooling, self.gather = request, pooling, gather
        self.device = device if device.startswith("cuda") else "cpu"
        words, cells = tokens.words.starts[low : high + 1], out.structure.starts[low : high + 1]
        data = tokens.words.data[words[0] : words[-1]].astype(np.int64)
        self.counts = np.diff(words)
        self.most = 1
        if request.rules.subwords == "mean" and len(data):
            self.most = int((data[:, 1] - data[:, 0]).max())
        self.located = Located(words - words[0], data, self.most)
        self.ranges = on_device(data, self.device)
        self.word_starts = on_device(words - words[0], self.device)
        self.cell_starts = on_device(cells - cells[0], self.device)
        self.vectors = {
            layer: self._room(rows.data[words[0] : words[-1]])
            for layer, rows in out.vectors.items()
        }
        self.structure = self._room(out.structure.data[cells[0] : cells[-1]])
        self.sums, self.squares = self._room(out.sums[low:high]), self._room(out.squares[low:high])
        self.pooled = self._room(out.pooled[low:high])

    def _room(self, target: Array) -> _Room:
        return _Room(target, self.device, self.gather)

    def begin(self, batch: Batch) -> None:
        """Turn to the next batch, its rows counted from ``low``."""
        self.batch = batch
        filled = np.flatnonzero(self.counts[batch.rows])
        self.words = self._words(batch, filled) if len(filled) else None

    def _words(self, batch: Batch, filled: NDArray[np.int64]) -> Words:
        import torch

        width = int(self.counts[batch.rows].max())
        self.places = places = on_device(batch.rows[filled], self.device)
        counts = self.word_starts[places + 1] - self.word_starts[places]
        columns = torch.arange(width, device=self.device)
        self.numbers = self.word_starts[places][:, None] + torch.minimum(
            columns, counts[:, None] - 1
        )
        first, end = self.ranges[self.numbers].unbind(-1)
        return Words(on_device(filled, self.device), counts, first, end - first, self.most)

    def take_states(self, states: dict[int, Tensor]) -> None:
        """Keep the vectors of words, and of sentences, from the hidden states of layers."""
        if self.words is not None:
            for layer, room in self.vectors.items():
                room.tensor[self.numbers] = self.words.states(states[layer].to(self.device))
        if self.request.pooled:
            last = states[max(states)].to(self.device).float()
            genuine = self.batch.mask.to(self.device)
            self.pooled.tensor[self.batch.places.to(self.device)] = self.pooling(last, genuine)

    def take_attention(self, layer: int, matrices: Tensor) -> None:
        """Keep the attention among words from the matrices of a layer."""
        slots = [slot for slot, head in enumerate(self.request.heads) if head[0] == layer]
        if slots:
            heads = [self.request.heads[slot][1] for slot in slots]
            picked = _picked(matrices, heads).to(self.device)
            (self._cut if self.device == "cpu" else self._cut_on_device)(picked, np.array(slots))

    def _cut(self, matrices: Tensor, slots: Ints) -> None:
        rooms = (self.structure, self.sums, self.squares)
        kept = Kept(self.cell_starts.numpy(), *(room.tensor.numpy() for room in rooms))
        given, genuine = matrices.float().contiguous().numpy(), self.batch.mask.cpu().numpy()
        row = np.empty(given.shape[3], np.float32)
        paper = self.request.rules.recipe == "paper"
        cut(given, genuine, self.batch.rows, slots, self.located, kept, paper, row)

    def _cut_on_device(self, matrices: Tensor, slots: Ints) -> None:
        """The same where kernels do not run."""
        paper = self.request.rules.recipe == "paper"
        if not paper:
            genuine = self.batch.mask.to(self.device)
            full = matrices.float().movedim(3, 0).contiguous()
            self._sum(self.batch.places.to(self.device), slots, totals(full, genuine))
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
        """Where the attention of every head and pair of words goes."""
        assert self.words is not None
        counts, columns = self.words.counts, self.words.columns
        heads = on_device(slots, self.device) * (counts**2)[:, None]
        rows = (self.cell_starts[self.places][:, None] + heads)[:, :, None]
        return rows + (columns * counts[:, None])[:, None] + columns.T[:, :, None, None]

    def finish(self, courier: ThreadPoolExecutor) -> list[Future[None]]:
        """Send off what was gathered; returns what to wait for."""
        if not self.gather:
            return []
        rooms = [*self.vectors.values(), self.structure, self.sums, self.squares, self.pooled]
        parcels = [room.sent() for room in rooms]
        sent = _all_sent(self.device)

        def deliver() -> None:
            sent()
            for room, parcel in zip(rooms, parcels, strict=True):
                room.target.copy_(parcel)

        return [courier.submit(deliver)]


class _Room:
    """Part of an array that one batch after another writes to: itself, or a stand-in."""

    def __init__(self, target: Array, device: str, gather: bool) -> None:
        import torch

        self.target = torch.from_numpy(target)
        self.tensor = torch.zeros_like(self.target, device=device) if gather else self.target

    def sent(self) -> Tensor:
        """What the stand-in holds, on its way into memory that a GPU can write to by itself."""
        import torch

        pinned = self.tensor.device.type == "cuda"
        parcel = torch.empty(self.tensor.shape, dtype=self.tensor.dtype, pin_memory=pinned)
        return parcel.copy_(self.tensor, non_blocking=True)


def _picked(matrices: Tensor, heads: list[int]) -> Tensor:
    """The matrices of some heads of a layer; of `MEAN_HEAD` the mean of all."""
    import torch

    if heads == [*range(1, matrices.shape[1] + 1)]:
        return matrices
    if MEAN_HEAD not in heads:
        return matrices[:, [head - 1 for head in heads]]
    mean = matrices.mean(1)
    return torch.stack([matrices[:, head - 1] if head else mean for head in heads], 1)


def _all_sent(device: str) -> Callable[[], None]:
    """A function that waits until everything sent so far has arrived."""
    import torch

    if not device.startswith("cuda"):
        return lambda: None
    wait: Callable[[], None] = torch.cuda.current_stream(device).record_event().synchronize
    return wait
