"""What it costs to move one word onto another."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from movers.arrays import Floats, Ints, Ragged
from movers.runtime.compiling import announced
from movers.runtime.threads import share_out


@dataclass(frozen=True)
class Cost:
    """A row of the table of costs.

    Parameters
    ----------
    name
        Name in methods and signatures.
    kernel
        Name of the compiled function in `movers.measure.cost_kernels`.
    to_zero
        Cost between a word and the zero vector, from the word's norm: the reference recipe
        averages over removed tokens as if they were zero vectors.
    trees
        Whether the sub-trees around the words add to it (`movers.measure.swd`).
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
    with announced("norms"):
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

    Parameters
    ----------
    kind
        Row of the table: ``"l2"`` (Euclidean) or ``"cosine"`` (one minus cosine, at least 0);
        of ``"swd"`` the part without sub-trees.
    vectors, norms
        Word vectors of all sentences and their lengths.
    sources, targets
        Rows of ``vectors`` that form the pairs.
    """
    from movers.measure import cost_kernels

    fill: Any = getattr(cost_kernels, COSTS[kind].kernel)
    shapes = pair_shapes(vectors.lengths, sources, targets)
    out = Ragged.zeros(shapes.prod(axis=1))
    a, b = vectors.starts[sources], vectors.starts[targets]

    def solve(low: int, high: int) -> None:
        fill(low, high, vectors.data, norms, a, b, shapes, out.starts, out.data)

    with announced(kind):
        share_out(solve, shapes.prod(axis=1) * vectors.data.shape[1], threads)
    return out


def pair_shapes(lengths: Ints, sources: Ints, targets: Ints) -> Ints:
    """Words on both sides of every pair, shape ``(pairs, 2)``."""
    return np.stack([lengths[sources], lengths[targets]], axis=1)


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
    counts = norms.lengths
    idle = sizes - counts
    outward = Ragged(COSTS[kind].to_zero(norms.data), norms.starts).sums()
    total = costs.sums() + apart
    total += idle[sources] * outward[targets] + idle[targets] * outward[sources]
    return np.asarray(total / np.maximum(sizes[sources] * sizes[targets], 1))
