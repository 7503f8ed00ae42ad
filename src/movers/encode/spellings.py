"""Words as their pieces spell them, put together when somebody looks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce
from itertools import pairwise
from typing import overload

import numpy as np
from numpy.typing import NDArray

from movers.arrays import Ragged, Rows, boundaries, places


class Spellings(Sequence[list[str]]):
    """The words of many sentences, each word the numbers of its ``pieces``.

    ``names`` tells what every number stands for, and ``starts`` where the words of each sentence
    begin, shape ``(sentences + 1,)``.

    Examples
    --------
    >>> words = Spellings.of([["a", "dog"], [], ["dog"]])
    >>> words[0], len(words), words.take([2, 0]) == [["dog"], ["a", "dog"]]
    (['a', 'dog'], 3, True)
    """

    def __init__(self, names: Sequence[str], pieces: Ragged, starts: NDArray[np.int64]) -> None:
        self.names, self.pieces, self.starts = names, pieces, starts

    @classmethod
    def of(cls, sentences: Sequence[Sequence[str]]) -> Spellings:
        """Take words that are known as they are."""
        names = dict.fromkeys(word for words in sentences for word in words)
        numbers = dict(zip(names, range(len(names)), strict=True))
        flat = np.array([numbers[word] for words in sentences for word in words], np.int32)
        starts = boundaries(map(len, sentences))
        return cls([*names], Ragged(flat, np.arange(len(flat) + 1)), starts)

    @classmethod
    def cut(cls, names: Sequence[str], ids: Ragged, words: Ragged) -> Spellings:
        """Cut words out of the ids of sentences, by their ranges ``[first, end)``."""
        first, end = (words.data + np.repeat(ids.starts[:-1], words.lengths)[:, None]).T
        starts = boundaries(end - first)
        pieces = np.arange(starts[-1]) + np.repeat(first - starts[:-1], end - first)
        return cls(names, Ragged(ids.data[pieces], starts), words.starts)

    def __len__(self) -> int:
        return len(self.starts) - 1

    @overload
    def __getitem__(self, row: int) -> list[str]: ...
    @overload
    def __getitem__(self, row: slice) -> list[list[str]]: ...
    def __getitem__(self, row: int | slice) -> list[str] | list[list[str]]:
        if isinstance(row, slice):
            return [self[place] for place in range(*row.indices(len(self)))]
        low, high = self.starts[row % len(self)], self.starts[row % len(self) + 1]
        starts = self.pieces.starts[low : high + 1].tolist()
        numbers = self.pieces.data[starts[0] : starts[-1]].tolist()
        letters = [self.names[number] for number in numbers]
        return ["".join(letters[a - starts[0] : b - starts[0]]) for a, b in pairwise(starts)]

    def __iter__(self) -> Iterator[list[str]]:
        return (self[row] for row in range(len(self)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and [*self] == [*other]

    __hash__ = None  # type: ignore[assignment]

    def take(self, rows: Sequence[int] | NDArray[np.int64]) -> Spellings:
        """Return the words of some sentences, in the order given."""
        picked = np.asarray(rows, np.int64)
        words = self.pieces.take(places(self.starts, picked))
        return Spellings(self.names, words, boundaries(np.diff(self.starts)[picked]))

    @classmethod
    def gathered(cls, pieces: Sequence[tuple[Spellings, Rows]]) -> Spellings:
        """Return some sentences of several, one after another."""
        return reduce(cls._joined, [one.take(np.arange(len(one))[rows]) for one, rows in pieces])

    def _joined(self, other: Spellings) -> Spellings:
        """These sentences followed by others."""
        if self.names is not other.names:
            return Spellings.of([*self, *other])
        starts = np.concatenate([self.starts, other.starts[1:] + self.starts[-1]])
        return Spellings(self.names, self.pieces.joined(other.pieces), starts)
