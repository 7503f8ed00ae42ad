"""Dependency trees, what makes them, and carrying them over to other words of the same sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from movers.arrays import Ints
from movers.errors import DependencyError, InputError
from movers.runtime.entry_points import load_entries

GROUP = "movers.parsers"
"""Entry points of this group lead to functions that make a parser of what users name."""
EXTRA = "pip install movers[parse]"
CACHED = 1 << 17
"""Trees to keep; a cache that is full starts afresh."""


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


class Parser(Protocol):
    """Anything that parses sentences.

    A parser may have a ``name`` for signatures, and ``lookup = True`` if it only knows certain
    sentences.
    """

    def parse(self, sentences: Sequence[str]) -> list[Tree]:
        """Parse sentences, in order."""


class CachedParser:
    """A parser that parses a sentence once."""

    def __init__(self, parser: Parser) -> None:
        self.parser = parser
        self.name = str(getattr(parser, "name", type(parser).__name__))
        self.lookup = bool(getattr(parser, "lookup", False))
        self._trees: dict[str, Tree] = {}

    def parse(self, sentences: Sequence[str]) -> list[Tree]:
        """Parse the sentences not seen before."""
        if len(self._trees) > CACHED:
            self._trees = {}
        missing = [text for text in dict.fromkeys(sentences) if text not in self._trees]
        if missing:
            self._trees.update(zip(missing, self.parser.parse(missing), strict=True))
        return [self._trees[text] for text in sentences]


def load_parser(parser: Any) -> CachedParser | None:
    """Make a parser of what a user passes; None stays None.

    An object with ``parse``, or what a package that offers parsers takes; those of movers-research
    are ``"spacy:en_core_web_sm"``, ``"conllu:PATH"``, ``"stanza:en"``, paths of CoNLL-U files or
    folders, and a loaded spaCy pipeline.
    """
    if parser is None or isinstance(parser, CachedParser):
        return parser
    if hasattr(parser, "parse"):
        return CachedParser(parser)
    offered = load_entries(GROUP)
    for _, _, make in offered:
        if (made := make(parser)) is not None:
            return CachedParser(made)
    if not offered:
        raise DependencyError(
            f"the parser {parser!r} needs movers-research, which is not installed; in a checkout "
            "of movers: pip install ./research, or pass an object with parse()"
        )
    raise InputError(f"parser must be a name, a path or an object with parse(), got {parser!r}")
