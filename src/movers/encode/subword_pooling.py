"""From tokens to kept words, for a batch at a time, on the device where the model runs.

Words are padded with copies of the last one of their sentence: what is computed for a copy is
computed twice, with the same result, and may be written twice. Sums go term by term in their
order, so that no bit of a sentence depends on how far others made it be padded.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class WordPieces:
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
        for to, genuine in _each(attention, self.genuine):
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

    ``attention`` has the layout of `WordPieces.attention`; the sums are doubles.
    """
    import torch

    sums = torch.zeros_like(attention[0], dtype=torch.float64)
    squares = torch.zeros_like(sums)
    for to, counted in _each(attention, genuine):
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


def _each(attention: Tensor, genuine: Tensor) -> Iterator[tuple[Tensor, Tensor]]:
    """Attention to one word of every sentence after another, and whether it is genuine."""
    return zip(attention, genuine.T[:, :, None, None], strict=True)
