"""Pairs of sentences solved a few at a time, so that they never fill the memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from movers.arrays import Floats, Ints
from movers.errors import Choose, InputError
from movers.grids import blocks, cells
from movers.measure.measured import Bags, Measured
from movers.pipeline import SOURCE_EMPTY, Solved, solve_pairs
from movers.runtime.notices import UndefinedWarning, notify
from movers.runtime.progress import progress_bar
from movers.session.session import Session

CHUNK = 4096
"""Pairs solved at once."""
BLOCK_BYTES = 1 << 30
TYPICAL = 14
"""Words kept of a rather long sentence."""


def fill_distances(
    session: Session, out: Floats, texts: list[tuple[str, str]], *, progress: bool
) -> Floats:
    """Write distances of pairs: of every head, or the mean where there is room for no more."""
    for place, measured, rows in read_blocks(session, texts, progress=progress):
        with pairs_bar(len(rows), progress) as bar:
            for chunk, values in values_by_chunk(session, measured, rows):
                out[place][chunk] = values if out.ndim > 1 else values.mean(axis=1)
                bar.update(len(values))
    warn_undefined(np.isnan(out if out.ndim == 1 else out[:, 0]))
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
    with pairs_bar(total, progress) as bar:
        for i, j in blocks(out.shape, pairs_at_once(session), triangle=mirrored):
            measured = session._encoded([*left[i], *right[j]], progress=progress)
            a, b = measured.encodings.numbers(left[i]), measured.encodings.numbers(right[j])
            for r, c in cells(len(a), len(b), CHUNK, triangle=mirrored and i == j):
                found = solve_all(session, measured, np.stack([a[r], b[c]], axis=1)).mean(axis=1)
                out[i, j][r, c] = found
                if mirrored:
                    out[j, i][c, r] = found
                bar.update(len(found))
    warn_undefined(np.isnan(out))


def solve_all(session: Session, bags: Bags, rows: Ints) -> Floats:
    """Distance of pairs of measured sentences under every head, ``(pairs, heads)``."""
    out = room_for(session, len(rows))
    for chunk, values in values_by_chunk(session, bags, rows):
        out[chunk] = values
    return out


def room_for(session: Session, pairs: int) -> Floats:
    """Room for the distances of pairs under every head."""
    return np.zeros((pairs, max(1, len(session.heads))))


def read_blocks(
    session: Session, texts: list[tuple[str, str]], *, progress: bool = False
) -> Iterator[tuple[slice, Measured, Ints]]:
    """Blocks of pairs whose sentences fit into memory, encoded, the pairs by row."""
    size = pairs_at_once(session)
    for start in range(0, len(texts), size):
        block = texts[start : start + size]
        measured = session._encoded([text for pair in block for text in pair], progress=progress)
        sides = [measured.encodings.numbers(side) for side in zip(*block, strict=True)]
        yield slice(start, start + len(block)), measured, np.stack(sides, axis=1)


def pairs_at_once(session: Session) -> int:
    """Pairs whose sentences, if all of them differ, fill about a gigabyte."""
    layers = max(1, len(session.request.embeddings))
    bytes_each = 4 * (
        len(session.heads) * TYPICAL**2 + layers * session.encoder.dimension * TYPICAL
    )
    return max(CHUNK, BLOCK_BYTES // (2 * bytes_each))


def values_by_chunk(session: Session, bags: Bags, rows: Ints) -> Iterator[tuple[slice, Floats]]:
    """Distances of pairs of encoded sentences under every head, a few at a time."""
    policy = session.settings.empty or "nan"
    for chunk, solved in solved_by_chunk(session, bags, rows):
        yield chunk, settle(session, solved, bags, rows[chunk], policy)


def solved_by_chunk(session: Session, bags: Bags, rows: Ints) -> Iterator[tuple[slice, Solved]]:
    """Pairs solved a few at a time, so that their costs never fill the memory."""
    for chunk in chunks(len(rows)):
        yield chunk, solve_rows(session, bags, rows[chunk])


def chunks(count: int) -> Iterator[slice]:
    """Rows of a table, a few at a time."""
    return (slice(start, start + CHUNK) for start in range(0, count, CHUNK))


def solve_rows(session: Session, bags: Bags, rows: Ints, *, plans: bool = False) -> Solved:
    """Solve pairs of measured sentences, all at once."""
    return solve_pairs(
        session.method,
        bags,
        rows,
        session.context,
        mix=session.settings.mix,
        null=session.settings.null,
        threads=session.threads,
        plans=plans,
    )


def settle(session: Session, solved: Solved, bags: Bags, rows: Ints, policy: str) -> Floats:
    """The reported values, with the policy applied to pairs that have no proper distance."""
    values: Floats = getattr(solved.values, session.method.reports).copy()
    undefined = np.flatnonzero(solved.undefined)
    if len(undefined) and policy == "raise":
        pair = undefined[0]
        source, target = (bags.sentences[row] for row in rows[pair])
        for side, text in (("source", source), ("target", target)):
            if not text.strip():
                raise InputError(f"the {side} is empty; drop the pair or fill it in")
        side, text = (
            ("source", source) if solved.undefined[pair] == SOURCE_EMPTY else ("target", target)
        )
        raise InputError(
            f"the {side} has no words left after stop-word removal ({text!r})",
            Choose("stopwords", None),
            Choose("empty", "keep"),
        )
    if policy == "nan":
        values[undefined] = np.nan
    return values


def warn_undefined(undefined: NDArray[np.bool_]) -> None:
    """Say how many pairs have no distance, if any."""
    if undefined.any():
        notify(
            f"{undefined.sum()} of {undefined.size} pairs have no distance, for one side has "
            "no words left, and got NaN",
            UndefinedWarning,
            Choose("empty", "keep", "to compare the stop words"),
        )


def pairs_bar(total: int, progress: bool) -> Any:
    """A progress bar of pairs."""
    return progress_bar("comparing", "pairs", total, progress=progress)
