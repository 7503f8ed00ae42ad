"""Kinds of arrays, and rows of unequal length held in one flat array."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from movers.errors import InputError

Array = NDArray[Any]
Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Rows = Ints | slice
"""Which rows: copied in the order of their numbers, or a stretch of them, which is not."""
Kind = TypeVar("Kind")


@dataclass(frozen=True, slots=True)
class Ragged:
    """Rows of unequal length along the first axis of one flat array.

    Row ``i`` is the view ``data[starts[i]:starts[i + 1]]``, so kernels can walk ``data`` with
    plain offsets and no row is ever an object of its own.

    Parameters
    ----------
    data
        Array of shape ``(total, ...)``.
    starts
        Row boundaries, shape ``(rows + 1,)``: starts with 0, never decreases, ends with ``total``.

    Examples
    --------
    >>> words = Ragged.from_rows([[1, 2], [], [3, 4, 5]])
    >>> words[2].tolist(), words.lengths.tolist()
    ([3, 4, 5], [2, 0, 3])
    """

    data: Array
    starts: Ints

    def __post_init__(self) -> None:
        starts = self.starts
        if starts.ndim != 1 or len(starts) == 0 or starts[0] != 0 or starts[-1] != len(self.data):
            raise InputError(
                f"starts must run from 0 to len(data) == {len(self.data)}, "
                f"got {starts.tolist()[:8]}"
            )
        if np.any(np.diff(starts) < 0):
            raise InputError("starts must never decrease")

    @classmethod
    def from_rows(cls, rows: Sequence[Any], dtype: Any = None) -> Ragged:
        """Build from a sequence of arrays or lists that agree in all but their first axis."""
        arrays = [np.asarray(row, dtype=dtype) for row in rows]
        filled = [array for array in arrays if len(array)]
        data = np.concatenate(filled) if filled else np.zeros(0, dtype=dtype)
        return cls(data, boundaries(len(array) for array in arrays))

    @classmethod
    def zeros(
        cls, lengths: Iterable[int], shape: tuple[int, ...] = (), dtype: Any = float
    ) -> Ragged:
        """Allocate rows of the given lengths, each entry of the given inner shape."""
        starts = boundaries(lengths)
        return cls(np.zeros((int(starts[-1]), *shape), dtype=dtype), starts)

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __getitem__(self, row: int) -> Array:
        if not -len(self) <= row < len(self):
            raise IndexError(f"row {row} of {len(self)}")
        row %= len(self)
        return self.data[self.starts[row] : self.starts[row + 1]]

    def __iter__(self) -> Iterator[Array]:
        return (self[row] for row in range(len(self)))

    @property
    def lengths(self) -> Ints:
        """The length of every row, shape ``(rows,)``."""
        return np.diff(self.starts)

    def sums(self) -> Array:
        """Sum every row; an empty row sums to zero."""
        lengths = self.lengths
        out = np.zeros((len(lengths), *self.data.shape[1:]), dtype=self.data.dtype)
        filled = lengths > 0
        if filled.any():  # reduceat would give an empty row its neighbour's first entry
            out[filled] = np.add.reduceat(self.data, self.starts[:-1][filled], axis=0)
        return out

    def take(self, rows: Sequence[int] | Ints) -> Ragged:
        """Copy the named rows, in the order given."""
        picked = np.asarray(rows, np.int64)
        return Ragged(self.data[places(self.starts, picked)], boundaries(self.lengths[picked]))

    def between(self, low: int, high: int) -> Ragged:
        """Return the rows ``low .. high - 1``, not copied."""
        starts = self.starts[low : high + 1]
        return Ragged(self.data[starts[0] : starts[-1]], starts - starts[0])

    def joined(self, *others: Ragged) -> Ragged:
        """These rows followed by the rows of others."""
        return Ragged.gathered([(one, slice(None)) for one in (self, *others)])

    @classmethod
    def gathered(cls, pieces: Sequence[tuple[Ragged, Rows]]) -> Ragged:
        """Some rows of several, one after another; a stretch of one alone is not copied."""
        (first, stretch), *others = pieces
        if isinstance(stretch, slice) and not others:
            return first.between(*stretch.indices(len(first))[:2])
        blocks = [block for one, rows in pieces for block in one._blocks(rows)]
        lengths = np.concatenate([one.lengths[rows] for one, rows in pieces])
        return cls(np.concatenate([first.data[:0], *blocks]), boundaries(lengths))

    def _blocks(self, rows: Rows) -> Iterator[Array]:
        starts = self.starts
        if isinstance(rows, slice):
            low, high, _ = rows.indices(len(self))
            yield self.data[starts[low] : starts[high]]
            return
        for low, high in zip(starts[rows].tolist(), starts[rows + 1].tolist(), strict=True):
            yield self.data[low:high]


def gathered(kind: type[Kind], pieces: Sequence[tuple[Any, Rows]]) -> Kind:
    """Some rows of several tables in one.

    A table is a dataclass whose fields without a default hold something for every row: arrays,
    sequences, dictionaries of such, tables, or None for a column that is not there. A column
    that knows better how its rows are put together has a ``gathered`` of its own.
    """
    columns = [part.name for part in fields(kind) if part.default is MISSING]  # type: ignore[arg-type]
    return kind(
        **{name: _column([(getattr(one, name), rows) for one, rows in pieces]) for name in columns}
    )


def _column(pieces: Sequence[tuple[Any, Rows]]) -> Any:
    (first, stretch), *others = pieces
    if first is None or (not others and isinstance(stretch, slice) and stretch == slice(None)):
        return first
    if isinstance(first, np.ndarray):
        parts = [column[rows] for column, rows in pieces]
        return parts[0] if len(parts) == 1 else np.concatenate(parts)
    if isinstance(first, dict):
        return {key: _column([(one[key], rows) for one, rows in pieces]) for key in first}
    if hasattr(first, "gathered"):
        return type(first).gathered(pieces)
    if is_dataclass(first):
        return gathered(type(first), pieces)
    numbers = ((one, np.arange(len(one))[rows].tolist()) for one, rows in pieces)
    return [one[row] for one, picked in numbers for row in picked]


def boundaries(lengths: Iterable[int]) -> Ints:
    """Turn row lengths into row boundaries: ``[2, 0, 3]`` becomes ``[0, 2, 2, 5]``."""
    return np.concatenate([[0], np.cumsum(np.fromiter(lengths, dtype=np.int64))]).astype(np.int64)


def places(starts: Ints, rows: Ints) -> Ints:
    """Return where all entries of the named rows are, given row boundaries.

    Examples
    --------
    >>> places(boundaries([2, 0, 3]), np.array([2, 0])).tolist()
    [2, 3, 4, 0, 1]
    """
    lengths = np.diff(starts)[rows]
    shift = np.repeat(starts[rows] - np.cumsum(lengths) + lengths, lengths)
    return np.asarray(np.arange(len(shift)) + shift)
