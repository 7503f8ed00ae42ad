"""Syntax-aware word flow: a word that is central in the trees of a corpus counts less.

Wei, Wang and Kuo (2023), SynWMD: Syntax-aware Word Mover's Distance for Sentence Similarity
Evaluation.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import numpy as np

from movers.arrays import Floats, Ints
from movers.encode.encodings import Encodings
from movers.encode.tokens import Recipe
from movers.encode.trees import Tree
from movers.errors import InputError
from movers.measure.wordtable import WordTable, spelled

HOPS = 3
DAMPING = 0.2
CODED_TOLERANCE = 1e-6
TOLERANCE = 1e-12
NOT_BLANK = re.compile(r"\S+")


def fit_swf(
    encodings: Encodings, counts: Sequence[int], trees: Sequence[Tree], recipe: Recipe
) -> WordTable:
    """Weigh words by one over their PageRank among the words they stand near in trees.

    Two words are linked by ``1 / hops`` for every time they stand within three hops.

    Parameters
    ----------
    encodings
        Distinct sentences.
    counts
        How often each occurs in the corpus; 0 leaves it out.
    trees
        Their dependency trees.
    recipe
        ``"paper"`` links the words as they are compared, in lower case, and weighs an unseen
        word like the rarest. ``"reference"`` links what stands between blanks, in whatever case,
        stops PageRank where networkx does, and gives whatever it does not find the smallest
        weight, to names under an uncased model for instance.
    """
    numbers: dict[str, int] = {}
    cells, shares = [np.zeros((0, 2), np.int64)], [np.zeros(0)]
    for words, tree, count in _sentences(encodings, counts, trees, recipe):
        ids = np.array([numbers.setdefault(word, len(numbers)) for word in words], np.int64)
        near = nearness(tree)
        places = np.argwhere(near > 0)
        cells.append(ids[places])
        shares.append(count * near[tuple(places.T)])
    if not numbers:
        raise InputError("swf weights need sentences with words, got none")
    tolerance = CODED_TOLERANCE if recipe == "reference" else TOLERANCE
    links = np.concatenate(cells)
    rank = pagerank(links, np.concatenate(shares), len(numbers), tolerance=tolerance)
    values = dict(zip(numbers, (1 / rank).tolist(), strict=True))
    pick = min if recipe == "reference" else max
    return WordTable(values, pick(values.values()), recipe)


def _sentences(
    encodings: Encodings, counts: Sequence[int], trees: Sequence[Tree], recipe: Recipe
) -> Iterator[tuple[list[str], Tree, int]]:
    """Words to link, the tree over them, and how often the sentence occurs."""
    for row, (text, count, tree) in enumerate(zip(encodings.sentences, counts, trees, strict=True)):
        if not count:
            continue
        if recipe == "paper":
            words, spans = spelled(encodings, row, recipe), encodings.spans[row]
        else:
            found = list(NOT_BLANK.finditer(text))
            words = [match[0] for match in found]
            spans = np.array([match.span() for match in found])
        if len(words) > (recipe == "reference"):  # one word alone links nothing as coded
            yield words, tree.over(spans.astype(np.int64)), count


def nearness(tree: Tree, hops: int = HOPS) -> Floats:
    """One over the hops between two words, 0 beyond ``hops`` and on the diagonal."""
    size = len(tree)
    step = np.zeros((size, size))
    inner = np.flatnonzero(tree.heads >= 0)
    step[inner, tree.heads[inner]] = step[tree.heads[inner], inner] = 1
    reached, out = np.eye(size), np.zeros((size, size))
    for hop in range(1, hops + 1):
        further = (reached @ step > 0) | (reached > 0)
        out[further & (reached == 0)] = 1 / hop
        reached = further.astype(float)
    return out


def pagerank(
    links: Ints,
    shares: Floats,
    size: int,
    *,
    damping: float = DAMPING,
    tolerance: float = TOLERANCE,
    iterations: int = 100,
) -> Floats:
    """PageRank by power iteration, as networkx does it.

    ``links`` lead from one node to another, ``(links, 2)``, and repeated ones add up; ``tolerance``
    is the largest mean change of a node's rank to stop at.
    """
    out = np.bincount(links[:, 0], shares, size)
    dangling = out == 0
    shares = shares / np.where(dangling, 1, out)[links[:, 0]]
    rank = np.full(size, 1 / size)
    for _ in range(iterations):
        last = rank
        rank = np.bincount(links[:, 1], shares * last[links[:, 0]], size)
        rank = damping * (rank + last[dangling].sum() / size) + (1 - damping) / size
        if np.abs(rank - last).sum() < size * tolerance:
            break
    return rank
