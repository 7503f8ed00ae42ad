"""What it costs to move one word onto another."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from movers.arrays import Floats, Ints, Ragged
from movers.runtime.threads import share_out


@dataclass(frozen=True)
class Cost:
    """A row of the table of costs.

    ``kernel`` names the compiled function in `movers.measure.cost_kernels`. ``to_zero`` is the cost
    between a word and the zero vector, from the word's norm: the reference recipe averages over
    removed tokens as if they were zero vectors. ``trees`` tells whether the sub-trees around the
    words add to it (`movers.measure.syntax`).
    """

    name: str
    kernel: str
    to_zero: Callable[[Floats], Floats]
    trees: bool = False


COSTS = {
    cost.name: cost
    for cost in (
        Cost("l2", "euclidean", lambda norms: norms),
        Cost("cosine", "cosine", np.zeros_like),
        Cost("swd", "cosine", np.zeros_like, trees=True),
    )
}


def norms_of(vectors: Ragged) -> Floats:
    """Length of every word vector, in double precision."""
    from movers.measure import cost_kernels

    out = np.zeros(len(vectors.data))
    cost_kernels.norms(vectors.data, out)
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
    """Cost matrices of sentence pairs, each row one flat ``(n, m)`` block.

    ``kind`` is a row of the table, of ``"swd"`` the part without sub-trees; ``sources`` and
    ``targets`` are the rows of ``vectors`` that form the pairs.
    """
    from movers.measure import cost_kernels

    fill: Any = getattr(cost_kernels, COSTS[kind].kernel)
    out = Ragged.zeros(vectors.lengths[sources] * vectors.lengths[targets])
    cells = pair_cells(vectors.starts, sources, targets, out)
    work = out.lengths * vectors.data.shape[1]
    share_out(lambda low, high: fill(low, high, vectors.data, norms, cells), work, threads)
    return out


class Cells(NamedTuple):
    """Which rows of a store of words a pair compares, and where the numbers of it go.

    Pair p compares the words from ``a[p]`` and from ``b[p]`` on, as many as ``shapes[p]`` says,
    and fills ``out`` from ``starts[p]`` on.
    """

    a: Ints
    b: Ints
    shapes: Ints
    starts: Ints
    out: Floats


def pair_cells(words: Ints, sources: Ints, targets: Ints, out: Ragged) -> Cells:
    """The cells of pairs of sentences whose words start where ``words`` says."""
    lengths = np.diff(words)
    shapes = np.stack([lengths[sources], lengths[targets]], axis=1)
    return Cells(words[sources], words[targets], shapes, out.starts, out.data)


def mean_costs(
    kind: str,
    costs: Ragged,
    norms: Ragged,
    sizes: Ints,
    sources: Ints,
    targets: Ints,
    apart: Floats | float = 0.0,
) -> Floats:
    """The mean cost C_M that the factor k starts from, shape ``(pairs,)``.

    ``sizes`` counts the tokens of each sentence to average over; those beyond its kept words
    stand for zero vectors (none in the paper's recipe), and ``apart`` is what they cost beyond
    that.
    """
    idle = sizes - norms.lengths
    outward = Ragged(COSTS[kind].to_zero(norms.data), norms.starts).sums()
    total = costs.sums() + apart
    total += idle[sources] * outward[targets] + idle[targets] * outward[sources]
    return np.asarray(total / np.maximum(sizes[sources] * sizes[targets], 1))
