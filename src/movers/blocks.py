"""Pairs cut into blocks that fit into memory, and what becomes of pairs without a distance."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence, Set
from itertools import product

import numpy as np
from numpy.typing import NDArray

from movers.arrays import Bools, Floats, Ints
from movers.errors import Choose, InputError
from movers.measures.base import SOURCE_EMPTY
from movers.measures.sentences import WeightedSentences
from movers.runtime.notices import UndefinedWarning, notify
from movers.runtime.progress import progress_bar

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


def fill_matrix(
    left: Sequence[str],
    right: Sequence[str],
    weigh: Callable[[list[str]], WeightedSentences],
    compare: Callable[[WeightedSentences, Ints], Floats],
    size: int,
    *,
    mirrored: bool,
    progress: bool,
) -> Floats:
    """Return the distances of all sentences from all others, ``(left, right)``.

    Parameters
    ----------
    left, right
        The sentences.
    weigh, compare
        What weighs sentences, and gives distances of pairs by row.
    size
        Most sentences of a side to weigh at once.
    mirrored
        Whether both sides are the same, and so are both halves of the matrix.
    progress
        Show a progress bar.
    """
    out = np.zeros((len(left), len(right)))
    total = len(left) * (len(left) + 1) // 2 if mirrored else out.size
    with progress_bar(*PAIRS, total, progress=progress) as bar:
        for i, j in blocks(out.shape, size, triangle=mirrored):
            sentences = weigh([*left[i], *right[j]])
            a, b = sentences.numbers(left[i]), sentences.numbers(right[j])
            for r, c in cells(len(a), len(b), CHUNK, triangle=mirrored and i == j):
                distances = compare(sentences, np.stack([a[r], b[c]], axis=1))
                out[i, j][r, c] = distances
                if mirrored:
                    out[j, i][c, r] = distances
                bar.update(len(distances))
    if (undefined := np.isnan(out)).any():
        warn_undefined(undefined)
    return out


def long_cells(
    left: Sequence[object], right: Sequence[object], long: Set[object], *, mirrored: bool
) -> tuple[Ints, tuple[Ints, Ints]]:
    """Return the cells with a long text, on request of the upper triangle, and the other places."""
    sides = [np.array([text in long for text in side], bool) for side in (left, right)]
    apart = sides[0][:, None] | sides[1]
    texts = np.argwhere(np.triu(apart) if mirrored else apart)
    return texts, (np.flatnonzero(~sides[0]), np.flatnonzero(~sides[1]))


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
