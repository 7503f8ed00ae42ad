"""From tokens to kept words, for a batch at a time, on the device where the model runs.

Words are padded with copies of the last one of their sentence: what is computed for a copy is
computed twice, with the same result, and may be written twice. Sums go term by term in their
order, so that no bit of a sentence depends on how far others made it be padded.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

Tensor = Any


@dataclass(frozen=True)
class Words:
    """The kept words of the sentences of a batch that have any.

    Parameters
    ----------
    sentences
        Places of these sentences in the batch, ``(sentences,)``.
    counts
        Words of each, ``(sentences,)``.
    first, sizes
        First token and number of tokens of every word, ``(sentences, words)``.
    most
        Pieces to look at: 1 where the first stands for its word.
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
        """Vectors of the words, from those of all tokens."""
        return self._pooled(self._of(states), 1)

    def attention(self, matrices: Tensor) -> Tensor:
        """Attention among the words, ``(sentences, heads, words, words)``.

        Attention *to* a word is the sum over its pieces, attention *from* it their mean (Clark et
        al., 2019), so that rows keep adding up to the same total.
        """
        rows = self._pooled(self._of(matrices), 2)
        return self._pooled(rows, 3, add=True)

    def normalised(self, matrices: Tensor) -> Tensor:
        """Rows scaled to sum 1; a row without any attention to kept words becomes uniform."""
        import torch

        totals = in_order(matrices.masked_fill(~self.genuine[:, None, None], 0.0), 3)[..., None]
        uniform = (1.0 / self.counts.double()).float()[:, None, None, None]
        return torch.where(totals > 0, matrices / torch.where(totals > 0, totals, 1.0), uniform)

    def _of(self, values: Tensor) -> Tensor:
        """What belongs to sentences with words."""
        return values if len(values) == len(self.sentences) else values[self.sentences]

    def _pooled(self, values: Tensor, axis: int, *, add: bool = False) -> Tensor:
        """Reduce an axis from tokens to words: first piece, or mean (sum) of pieces."""
        import torch

        shape = [*values.shape]
        shape[axis] = self.first.shape[1]
        narrow = [len(values), *[1] * (values.ndim - 1)]
        narrow[axis] = -1
        first, sizes = self.first.view(narrow), self.sizes.view(narrow)
        total = values.gather(axis, first.expand(shape)).float()
        if self.most == 1:
            return total
        rest = torch.zeros_like(total)
        for piece in range(1, self.most):
            place = torch.minimum(first + piece, first + sizes - 1)
            more = values.gather(axis, place.expand(shape)).float()
            rest += torch.where(sizes > piece, more, 0.0)
        return total + rest if add else (total + rest) / sizes


def in_order(values: Tensor, axis: int) -> Tensor:
    """Sum over an axis, term after term."""
    slices = values.movedim(axis, 0).contiguous()
    total = slices[0].clone()
    for term in slices[1:]:
        total += term
    return total


def totals(matrices: Tensor, genuine: Tensor) -> tuple[Tensor, Tensor]:
    """Sum and sum of squares of every matrix over its genuine rows and columns, in doubles."""
    padding = ~(genuine[:, None, :, None] & genuine[:, None, None])
    cells = matrices.double().masked_fill(padding, 0.0)
    return in_order(in_order(cells, 3), 2), in_order(in_order(cells.square(), 3), 2)
