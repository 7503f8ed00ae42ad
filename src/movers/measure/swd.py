"""Syntax-aware word distance: words are compared together with the sub-trees they stand in.

Wei, Wang and Kuo (2023), SynWMD: Syntax-aware Word Mover's Distance for Sentence Similarity
Evaluation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from movers.arrays import Floats, Ints, Ragged, boundaries
from movers.encode.encodings import Encodings
from movers.encode.trees import Tree
from movers.measure.costs import norms_of, pair_cells, pair_costs
from movers.runtime.threads import share_out

EDGES = 3


@dataclass(frozen=True)
class SubTrees:
    """The sub-trees of many sentences.

    ``vectors`` and ``norms`` are of every sub-tree of every sentence; ``members`` lists for every
    word the sub-trees of its sentence it belongs to, ``words`` where the words of each sentence
    start, and ``pieces`` how many tokens every word has.
    """

    vectors: Ragged
    norms: Floats
    members: Ragged
    words: Ints
    pieces: Ints


class Between(NamedTuple):
    """Distances of all sub-trees of every pair with their row lengths, and `SubTrees` by word."""

    distances: Floats
    starts: Ints
    widths: Ints
    members: Ints
    member_starts: Ints
    pieces: Ints


def find_subtrees(
    encodings: Encodings,
    trees: Sequence[Tree],
    vectors: Ragged,
    norms: Floats,
    weights: Floats,
    pieces: Ints | None = None,
) -> SubTrees:
    """Find the sub-trees of all sentences and the vector of each.

    A sub-tree's vector is the weighted mean of the unit vectors of its words.

    ``vectors``, ``norms`` and ``weights`` are of all words; so are ``pieces``, their tokens, where
    None counts a word as one.
    """
    starts = encodings.spans.starts
    units = vectors.data / np.where(norms > 0, norms, 1)[:, None]
    units *= weights[:, None]
    means, members, belongs = [], [], []
    for row, tree in enumerate(trees):
        inside = subtree_members(tree.over(encodings.spans[row].astype(np.int64)))
        means.append(inside @ units[starts[row] : starts[row + 1]])
        members.append(np.nonzero(inside.T)[1])
        belongs.append(inside.sum(axis=0))
    every = Ragged(
        np.concatenate([np.zeros((0, units.shape[1])), *means]).astype(np.float32),
        boundaries(len(rows) for rows in means),
    )
    counts = np.concatenate([np.zeros(0), *belongs]).astype(np.int64)
    return SubTrees(
        vectors=every,
        norms=norms_of(every),
        members=Ragged(np.concatenate([np.zeros(0, np.int64), *members]), boundaries(counts)),
        words=starts,
        pieces=np.ones(len(counts), np.int64) if pieces is None else pieces,
    )


def subtree_members(tree: Tree, edges: int = EDGES) -> Floats:
    """Which words belong to which sub-tree, a 0-1 matrix of shape ``(sub-trees, words)``.

    Every word with dependents gives the sub-trees of its descendants within 1, 2, … ``edges``
    edges, as long as they grow.
    """
    size = len(tree)
    child = np.zeros((size, size))
    inner = np.flatnonzero(tree.heads >= 0)
    child[tree.heads[inner], inner] = 1
    reached = np.eye(size)
    found = [reached[:0]]
    for _ in range(edges):
        further = reached + child @ reached > 0
        found.append(further[(further != reached).any(axis=1)])
        reached = further.astype(float)
    return np.concatenate(found)


def add_subtree_costs(
    costs: Ragged, subtrees: SubTrees, sources: Ints, targets: Ints, threads: int | None = None
) -> Floats:
    """Add to every cost the mean distance between the sub-trees around the two words.

    Returns
    -------
    What the tokens that stand for no word of their own, the further pieces of words, would add
    to the sum of each pair's costs: the reference recipe averages over them too.
    """
    from movers.measure import cost_kernels

    trees, members = subtrees.vectors, subtrees.members
    found = pair_costs("cosine", trees, subtrees.norms, sources, targets, threads=threads)
    widths, words = trees.lengths[targets], (members.data, members.starts, subtrees.pieces)
    between = Between(found.data, found.starts, widths, *words)
    cells = pair_cells(subtrees.words, sources, targets, costs)
    apart = np.zeros(len(sources))
    share_out(
        lambda low, high: cost_kernels.subtrees(low, high, between, cells, apart),
        costs.lengths * EDGES**2,
        threads,
    )
    return apart
