"""Pairs cut into blocks that fit into memory, and what becomes of pairs without a distance."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np
from numpy.typing import NDArray

from movers.arrays import Bools, Ints
from movers.errors import Choose, InputError
from movers.measures.base import SOURCE_EMPTY
from movers.measures.sentences import WeightedSentences
from movers.runtime.notices import UndefinedWarning, notify

CHUNK = 4096
"""Pairs compared at once."""
BLOCK_BYTES = 1 << 30
"""About what the sentences of as many pairs take, if all of them differ."""
PAIRS = ("comparing", "pairs")
"""What a progress bar says."""
WORDS = 14
"""Words kept of a rather long sentence."""


def blocks(shape: tuple[int, ...], size: int, *, triangle: bool) -> Iterator[tuple[slice, slice]]:
    """Cut a matrix into blocks of at most ``size`` rows and columns; on request the upper ones.

    Examples
    --------
    >>> [(i.start, j.start) for i, j in blocks((5, 5), 3, triangle=True)]
    [(0, 0), (0, 3), (3, 3)]
    """
    for top, left in product(*(range(0, length, size) for length in shape)):
        if not triangle or left >= top:
            yield slice(top, top + size), slice(left, left + size)


def cells(rows: int, columns: int, size: int, *, triangle: bool) -> Iterator[tuple[Ints, Ints]]:
    """Yield rows and columns of all cells, some at a time; on request of the upper triangle.

    Examples
    --------
    >>> [list(map(int, column)) for _, column in cells(2, 2, 3, triangle=True)]
    [[0, 1], [1]]
    """
    for start in range(0, rows * columns, size):
        row, column = np.divmod(np.arange(start, min(start + size, rows * columns)), columns)
        kept = (column >= row) if triangle else slice(None)
        yield row[kept], column[kept]


def without_words(sentences: WeightedSentences, rows: Ints, why: NDArray[np.int8]) -> InputError:
    """Say which side of the first pair without a distance has no words."""
    pair = np.flatnonzero(why)[0]
    source, target = (sentences.sentences[row] for row in rows[pair])
    texts = {"source": source, "target": target}
    for side, text in texts.items():
        if not text.strip():
            return InputError(f"the {side} is empty; drop the pair or fill it in")
    side = "source" if why[pair] == SOURCE_EMPTY else "target"
    return InputError(
        f"the {side} has no words left after stop-word removal ({texts[side]!r})",
        Choose("stopwords", None),
        Choose("empty", "keep"),
    )


def warn_undefined(undefined: Bools) -> None:
    """Say how many pairs have no distance."""
    notify(
        f"{undefined.sum()} of {undefined.size} pairs have no distance, for one side has "
        "no words left, and got NaN",
        UndefinedWarning,
        Choose("empty", "keep", "to compare the stop words"),
    )
