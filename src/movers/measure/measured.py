"""Encoded sentences made ready for a measure: their words weighed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from movers.arrays import Floats, Ints, Ragged
from movers.encode.encodings import Encodings
from movers.measure.context import Context
from movers.measure.costs import COSTS, norms_of, pair_costs
from movers.measure.swd import SubTrees, find_subtrees
from movers.measure.weights import normalised, raw_weights

__all__ = ["Context", "Measured", "measure"]


@dataclass(frozen=True)
class Measured:
    """Encoded sentences with the weights of their words.

    Parameters
    ----------
    encodings
        The sentences; their vectors are whitened already.
    vectors, norms
        Word vectors of the embedding layer in use and their lengths; None if the method needs
        none.
    weights
        Weights of the words, summing to one in each sentence.
    totals
        What the weights of each sentence summed to before, shape ``(sentences,)``.
    embedding
        Embedding layer of the vectors; None without vectors.
    subtrees
        Sub-trees of the sentences, for a cost that looks at them.
    """

    encodings: Encodings
    vectors: Ragged | None
    norms: Ragged | None
    weights: Ragged
    totals: Floats
    embedding: int | None = None
    subtrees: SubTrees | None = None

    def costs(self, kind: str, rows: Ints, threads: int | None = None) -> Ragged:
        """Cost matrices of pairs of sentences by row, as `pair_costs` makes them."""
        assert self.vectors is not None and self.norms is not None
        sources, targets = rows.T
        return pair_costs(kind, self.vectors, self.norms.data, sources, targets, threads=threads)


def measure(
    encodings: Encodings,
    context: Context,
    *,
    weights: str = "uniform",
    cost: str | None = None,
    embedding: int | None,
) -> Measured:
    """Weigh the words of encoded sentences.

    Parameters
    ----------
    weights
        Row of `movers.measure.weights.WEIGHTS`.
    cost
        Row of `movers.measure.costs.COSTS`, if the measure has one.
    embedding
        Embedding layer of the vectors; None if no vectors are needed.
    """
    vectors = None if embedding is None else encodings.vectors[embedding]
    norms = None if vectors is None else Ragged(norms_of(vectors), vectors.starts)
    lengths = None if norms is None else norms.data
    raw = raw_weights(weights, encodings, lengths, context)
    shares = normalised(raw)
    subtrees = None
    if cost is not None and COSTS[cost].trees:
        assert vectors is not None and lengths is not None
        trees = context.trees(encodings.sentences)
        pieces = _pieces(encodings, context) if context.recipe == "reference" else None
        subtrees = find_subtrees(encodings, trees, vectors, lengths, shares.data, pieces)
    return Measured(encodings, vectors, norms, shares, raw.sums(), embedding, subtrees)


def _pieces(encodings: Encodings, context: Context) -> Ints:
    """How many tokens every word has."""
    _, ranges = context.locate(encodings.sentences)
    first, end = ranges.data.T
    return np.asarray(end - first, np.int64)
