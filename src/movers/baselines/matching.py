"""The best match of every word in the other sentence."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from movers.arrays import Floats, Ints, Ragged
from movers.measure.measured import Measured
from movers.runtime.threads import share_out


@dataclass(frozen=True)
class Matches:
    """Greedy matches of pairs of sentences.

    ``forth`` and ``back`` hold the similarity of each word to its best one on the other side, a row
    per pair; ``chosen`` where that of each source word stands.
    """

    forth: Ragged
    back: Ragged
    chosen: Ragged


def best_matches(measured: Measured, rows: Ints, *, cosine: bool, threads: int | None) -> Matches:
    """Match words by cosine or, without, by dot product."""
    from movers.baselines import kernels

    vectors, norms = measured.vectors, measured.norms
    assert vectors is not None and norms is not None
    lengths = np.where(norms.data > 0, norms.data, 1.0)
    scale = 1 / lengths if cosine else np.ones_like(lengths)
    n, m = vectors.lengths[rows].T
    forth, back, chosen = Ragged.zeros(n), Ragged.zeros(m), Ragged.zeros(n, dtype=np.int64)
    pairs = np.ascontiguousarray(rows)

    def solve(low: int, high: int) -> None:
        kernels.match(
            low,
            high,
            vectors.data,
            scale,
            vectors.starts,
            pairs,
            forth.starts,
            back.starts,
            forth.data,
            back.data,
            chosen.data,
        )

    share_out(solve, n * m * vectors.data.shape[1], threads)
    return Matches(forth, back, chosen)


def matched_plans(matches: Matches, weights: Ragged, targets: Ints) -> Floats:
    """Plans that send each source word to its best match, flat ``(n, m)`` blocks."""
    n, m = weights.lengths, targets
    blocks = Ragged.zeros(n * m)
    wide = np.repeat(m, n)
    local = np.arange(len(weights.data)) - np.repeat(weights.starts[:-1], n)
    cells = np.repeat(blocks.starts[:-1], n) + local * wide + matches.chosen.data
    blocks.data[cells] = weights.data
    return blocks.data
