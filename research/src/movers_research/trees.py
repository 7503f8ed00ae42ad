"""Dependency trees, and carrying them over to other words of the same sentence."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from movers.arrays import Ints
from movers.errors import InputError


@dataclass(frozen=True, eq=False)
class Tree:
    """The dependency tree of a sentence.

    Parameters
    ----------
    spans
        Character range of every word in the sentence, shape ``(words, 2)``.
    heads
        Index of every word's head, shape ``(words,)``; -1 for a root, of which there may be
        several.

    Examples
    --------
    >>> tree = Tree.of([(0, 4), (5, 10), (11, 16)], [1, 2, -1])
    >>> tree.depths.tolist()
    [2, 1, 0]
    """

    spans: Ints
    heads: Ints

    @classmethod
    def of(cls, spans: Any, heads: Any) -> Tree:
        """Make a tree from lists."""
        return cls(np.array(spans, np.int64).reshape(-1, 2), np.array(heads, np.int64).ravel())

    def __post_init__(self) -> None:
        count = len(self.heads)
        if self.spans.shape != (count, 2):
            raise InputError(f"a tree of {count} heads needs {count} spans, got {len(self.spans)}")
        if np.any((self.heads < -1) | (self.heads >= count)):
            raise InputError(f"heads must lie between -1 and {count - 1}, got {self.heads}")

    def __len__(self) -> int:
        return len(self.heads)

    @cached_property
    def depths(self) -> Ints:
        """Edges between every word and its root."""
        depths = np.zeros(len(self), np.int64)
        node = self.heads
        for _ in range(len(self) + 1):
            below = node >= 0
            if not below.any():
                return depths
            depths += below
            node = np.where(below, self.heads[node], -1)
        raise InputError(f"the heads {self.heads.tolist()} form a circle, not a tree")

    def over(self, spans: Ints) -> Tree:
        """Return the tree over other words of the same sentence, given by their character ranges.

        A word takes the place of the tree word it overlaps, of several the one nearest to the
        root. Where a tree word holds several words, the first takes its place and the others
        depend on it. Words of the tree that no word overlaps are left out: their dependents
        move up to the next head. A word that overlaps none is a root of its own.
        """
        overlap = (self.spans[:, 0] < spans[:, None, 1]) & (spans[:, None, 0] < self.spans[:, 1])
        if np.array_equal(overlap, np.eye(len(self), dtype=bool)):  # one to one
            return Tree(spans, self.heads)
        anchor = np.where(overlap, self.depths, len(self)).argmin(axis=1) if len(self) else spans
        placed = np.flatnonzero(overlap.any(axis=1))
        heads = np.full(len(spans), -1)
        if len(placed):
            owner = np.where(overlap.any(axis=0), overlap.argmax(axis=0), -1)
            owner[anchor[placed][::-1]] = placed[::-1]  # written last, so the first word wins
            heads[placed] = self._climb(placed, anchor[placed], owner)
        return Tree(spans, heads)

    def _climb(self, words: Ints, anchor: Ints, owner: Ints) -> Ints:
        """Next word above each word; ``owner`` names the word that stands at a tree word."""
        first = owner[anchor]
        node = self.heads[anchor]
        while True:
            held = np.where(node >= 0, owner[node], -1)
            stuck = (node >= 0) & ((held < 0) | (held == words))
            if not stuck.any():
                return np.where(first == words, held, first)
            node = np.where(stuck, self.heads[node], node)
