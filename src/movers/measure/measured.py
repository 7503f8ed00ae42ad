"""Encoded sentences made ready for a measure: their words weighed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from movers.arrays import Floats, Ints, Ragged, Rows, Singles, gathered
from movers.encode.encodings import Encodings
from movers.measure.context import Context
from movers.measure.costs import COSTS, norms_of
from movers.measure.syntax import SubTrees, find_subtrees
from movers.measure.weights import normalised, raw_weights

__all__ = ["Bags", "Context", "Measured", "measure"]


AS_ENCODED = ("sentences", "structure", "sums", "squares", "sizes", "pooled")
"""What weighing leaves as it is."""


@dataclass(frozen=True, kw_only=True)
class Bags:
    """Sentences as transport takes them: weighted words with vectors and structure.

    They may have been encoded just now, or lie in an index.

    Parameters
    ----------
    sentences
        The texts.
    weights
        Weights of the words, summing to one in each sentence.
    vectors, norms
        Word vectors of the embedding layer in use and their lengths, whitened already; None if
        the method needs none.
    structure, sums, squares, sizes, pooled
        As in `Encodings`.
    subtrees
        Sub-trees of the sentences, for a cost that looks at them.
    """

    sentences: Sequence[str]
    weights: Ragged
    vectors: Ragged | None
    norms: Ragged | None
    structure: Ragged
    sums: Floats
    squares: Floats
    sizes: Ints
    pooled: Singles
    subtrees: SubTrees | None = None

    def take(self, rows: Rows) -> Bags:
        """Copy some of the sentences; sub-trees stay behind."""
        return gathered(Bags, [(self, rows)])


def joined(every: Sequence[Bags]) -> Bags:
    """Sentences of one measure that lie apart, one after another."""
    return gathered(Bags, [(one, slice(None)) for one in every])


@dataclass(frozen=True, kw_only=True)
class Measured(Bags):
    """Encoded sentences with the weights of their words.

    ``totals`` are what the weights of each sentence summed to before; ``embedding`` is the layer of
    the vectors, None without.
    """

    encodings: Encodings
    totals: Floats
    embedding: int | None


def measure(
    encodings: Encodings,
    context: Context,
    *,
    weights: str = "uniform",
    cost: str | None = None,
    embedding: int | None,
) -> Measured:
    """Weigh the words of encoded sentences.

    ``weights`` and ``cost`` are rows of `WEIGHTS` and `COSTS`; ``embedding`` is the layer of the
    vectors, None if none are needed.
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
        pieces = None  # tokens of every word
        if context.recipe == "reference":
            first, end = context.locate(encodings.sentences)[1].data.T
            pieces = np.asarray(end - first, np.int64)
        subtrees = find_subtrees(encodings, trees, vectors, lengths, shares.data, pieces)
    return Measured(
        encodings=encodings,
        weights=shares,
        vectors=vectors,
        norms=norms,
        subtrees=subtrees,
        **{name: getattr(encodings, name) for name in AS_ENCODED},
        totals=raw.sums(),
        embedding=embedding,
    )
