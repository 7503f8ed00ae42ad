"""Pairs of sentences solved a few at a time, so that they never fill the memory."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np

from movers.arrays import Bools, Floats, Ints
from movers.errors import Choose, InputError
from movers.measure.measured import Bags, Measured
from movers.pipeline import SOURCE_EMPTY, Solved, solve_pairs
from movers.runtime.notices import UndefinedWarning, notify
from movers.runtime.progress import progress_bar
from movers.session.session import Session
from movers.settings import Empty

CHUNK = 4096
"""Pairs solved at once."""
BLOCK_BYTES = 1 << 30
"""About what the sentences of as many pairs take, if all of them differ."""
PAIRS = ("comparing", "pairs")
"""What a progress bar says."""


def fill_distances(
    session: Session, out: Floats, texts: list[tuple[str, str]], *, progress: bool
) -> Floats:
    """Write distances of pairs: of every head, or the mean where there is room for no more."""
    for place, measured, rows in read_blocks(session, texts, progress=progress):
        with progress_bar(*PAIRS, len(rows), progress=progress) as bar:
            for chunk, solved in solved_by_chunk(session, measured, rows):
                values = settle(session, solved, measured, rows[chunk])
                out[place][chunk] = values if out.ndim > 1 else values.mean(axis=1)
                bar.update(len(values))
    _warn_undefined(np.isnan(out if out.ndim == 1 else out[:, 0]))
    return out


def fill_matrix(
    session: Session,
    out: Floats,
    left: list[str],
    right: list[str],
    *,
    mirrored: bool,
    progress: bool,
) -> None:
    """Write the distances between all sentences of two lists; mirrored, half of them."""
    total = len(left) * (len(left) + 1) // 2 if mirrored else out.size
    with progress_bar(*PAIRS, total, progress=progress) as bar:
        size = max(CHUNK, BLOCK_BYTES // (2 * session.sentence_bytes))
        for i, j in blocks(out.shape, size, triangle=mirrored):
            measured = session._encoded([*left[i], *right[j]], progress=progress)
            a, b = measured.encodings.numbers(left[i]), measured.encodings.numbers(right[j])
            for r, c in cells(len(a), len(b), CHUNK, triangle=mirrored and i == j):
                found = solve_all(session, measured, np.stack([a[r], b[c]], axis=1)).mean(axis=1)
                out[i, j][r, c] = found
                if mirrored:
                    out[j, i][c, r] = found
                bar.update(len(found))
    _warn_undefined(np.isnan(out))


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
    """Rows and columns of all cells, at most ``size`` at a time; on request the upper triangle.

    Examples
    --------
    >>> [list(map(int, column)) for _, column in cells(2, 2, 3, triangle=True)]
    [[0, 1], [1]]
    """
    for start in range(0, rows * columns, size):
        row, column = np.divmod(np.arange(start, min(start + size, rows * columns)), columns)
        kept = (column >= row) if triangle else slice(None)
        yield row[kept], column[kept]


def solve_all(session: Session, bags: Bags, rows: Ints) -> Floats:
    """Distance of pairs of measured sentences under every head, ``(pairs, heads)``."""
    out = room_for(session, len(rows))
    for chunk, solved in solved_by_chunk(session, bags, rows):
        out[chunk] = settle(session, solved, bags, rows[chunk])
    return out


def room_for(session: Session, pairs: int) -> Floats:
    """Room for the distances of pairs under every head."""
    return np.zeros((pairs, max(1, len(session.heads))))


def read_blocks(
    session: Session, texts: list[tuple[str, str]], *, progress: bool = False
) -> Iterator[tuple[slice, Measured, Ints]]:
    """Blocks of pairs whose sentences fit into memory, encoded, the pairs by row."""
    size = max(CHUNK, BLOCK_BYTES // (2 * session.sentence_bytes))
    for start in range(0, len(texts), size):
        block = texts[start : start + size]
        measured = session._encoded([text for pair in block for text in pair], progress=progress)
        row = measured.encodings.rows
        rows = np.array([(row[source], row[target]) for source, target in block], np.int64)
        yield slice(start, start + len(block)), measured, rows


def solved_by_chunk(
    session: Session, bags: Bags, rows: Ints, *, plans: bool = False
) -> Iterator[tuple[slice, Solved]]:
    """Pairs solved a few at a time, so that their costs never fill the memory."""
    for start in range(0, len(rows), CHUNK):
        chunk = slice(start, start + CHUNK)
        solved = solve_pairs(
            session.method,
            bags,
            rows[chunk],
            session.context,
            share=session.share,
            null=session.settings.null,
            threads=session.threads,
            plans=plans,
        )
        yield chunk, solved


def settle(
    session: Session, solved: Solved, bags: Bags, rows: Ints, policy: Empty = "nan"
) -> Floats:
    """The reported values, with a policy for pairs that have no proper distance.

    That of the settings comes first.
    """
    policy = session.settings.empty or policy
    values: Floats = getattr(solved.values, session.method.reports).copy()
    undefined = np.flatnonzero(solved.undefined)
    if len(undefined) and policy == "raise":
        pair = undefined[0]
        source, target = (bags.sentences[row] for row in rows[pair])
        texts = {"source": source, "target": target}
        for side, text in texts.items():
            if not text.strip():
                raise InputError(f"the {side} is empty; drop the pair or fill it in")
        side = "source" if solved.undefined[pair] == SOURCE_EMPTY else "target"
        raise InputError(
            f"the {side} has no words left after stop-word removal ({texts[side]!r})",
            Choose("stopwords", None),
            Choose("empty", "keep"),
        )
    if policy == "nan":
        values[undefined] = np.nan
    return values


def _warn_undefined(undefined: Bools) -> None:
    """Say how many pairs have no distance, if any."""
    if undefined.any():
        notify(
            f"{undefined.sum()} of {undefined.size} pairs have no distance, for one side has "
            "no words left, and got NaN",
            UndefinedWarning,
            Choose("empty", "keep", "to compare the stop words"),
        )
