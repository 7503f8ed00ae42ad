"""What it costs to move one word onto another."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from movers.arrays import Array, Floats, Ints, Ragged
from movers.measures.parts.kernels import CostCells, cosine, euclidean, fill_norms
from movers.runtime.threads import share_out


@dataclass(frozen=True)
class Cost:
    """A row of the table of costs.

    ``fill`` is the kernel for the cells of pairs. ``to_zero`` is the cost between a word and the
    zero vector, from the word's norm: the reference recipe averages over removed tokens as if they
    were zero vectors.
    """

    name: str
    fill: Callable[[int, int, Array, Floats, CostCells], None]
    to_zero: Callable[[Floats], Floats]


COSTS = {
    cost.name: cost
    for cost in (
        Cost("l2", euclidean, lambda norms: norms),
        Cost("cosine", cosine, np.zeros_like),
    )
}


def norms_of(vectors: Ragged) -> Floats:
    """Return length of every word vector, in double precision."""
    out = np.zeros(len(vectors.data))
    fill_norms(vectors.data, out)
    return out


def pair_costs(
    kind: str,
    vectors: Ragged,
    norms: Floats,
    sources: Ints,
    targets: Ints,
    *,
    threads: int | None = None,
) -> Ragged:
    """Return cost matrices of sentence pairs, each row one flat ``(n, m)`` block.

    Parameters
    ----------
    kind
        Row of `COSTS`.
    vectors, norms
        Word vectors of sentences, and their lengths.
    sources, targets
        Rows of the vectors that form the pairs.
    threads
        Most threads to use.
    """
    starts, lengths = vectors.starts, vectors.lengths
    shapes = np.stack([lengths[sources], lengths[targets]], axis=1)
    out = Ragged.zeros(shapes.prod(axis=1))
    cells = CostCells(starts[sources], starts[targets], shapes, out.starts, out.data)
    work = out.lengths * vectors.data.shape[1]
    share_out(
        lambda low, high: COSTS[kind].fill(low, high, vectors.data, norms, cells), work, threads
    )
    return out


def mean_costs(
    kind: str,
    costs: Ragged,
    norms: Ragged,
    sizes: Ints,
    sources: Ints,
    targets: Ints,
    apart: Floats | float = 0.0,
) -> Floats:
    """Return the mean cost C_M that the factor k starts from, shape ``(pairs,)``.

    Parameters
    ----------
    kind, sources, targets
        As in `pair_costs`.
    costs
        What that returned.
    norms
        Lengths of the word vectors of every sentence.
    sizes
        How many tokens of each sentence to average over; those beyond its kept words stand for
        zero vectors (none in the paper's recipe).
    apart
        What these cost beyond that.
    """
    idle = sizes - norms.lengths
    outward = Ragged(COSTS[kind].to_zero(norms.data), norms.starts).sums()
    total = costs.sums() + apart
    total += idle[sources] * outward[targets] + idle[targets] * outward[sources]
    return np.asarray(total / np.maximum(sizes[sources] * sizes[targets], 1))
