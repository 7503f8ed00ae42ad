"""Dependency trees, and the same over other words."""

import numpy as np
import pytest

import movers
from movers_research.trees import Tree


@pytest.mark.parametrize(
    ("spans", "heads", "message"),
    [
        ([(0, 1)], [0, 1], "2 heads needs 2 spans, got 1"),
        ([(0, 1)], [-2], "between -1 and 0"),
    ],
)
def test_trees_are_checked(spans, heads, message):
    with pytest.raises(movers.InputError, match=message):
        Tree.of(spans, heads)


def test_a_circle_is_no_tree():
    with pytest.raises(movers.InputError, match="form a circle"):
        _ = Tree.of([(0, 1), (1, 2), (2, 3)], [1, 0, -1]).depths


TREE = Tree.of([(0, 2), (2, 5), (6, 9), (10, 17), (17, 18)], [2, 2, -1, 2, 3])
"""Do n't see the-fox . with the full stop below the fox."""


@pytest.mark.parametrize(
    ("spans", "heads"),
    [
        ([(0, 2), (2, 5), (6, 9), (10, 17), (17, 18)], [2, 2, -1, 2, 3]),
        ([(0, 5), (5, 9), (10, 18)], [1, -1, 1]),  # glued: the word nearest to the root counts
        ([(0, 3), (3, 4), (4, 5), (6, 9)], [3, 3, 1, -1]),  # two words inside "n't"
        ([(10, 13), (13, 14), (14, 17)], [-1, 0, 0]),  # three inside "the-fox", its head left out
        ([(0, 2), (17, 18)], [-1, -1]),  # all heads left out
        ([(6, 9), (17, 18)], [-1, 0]),  # the head in between left out
        ([(6, 9), (30, 34)], [-1, -1]),  # behind the end of the tree
        ([], []),
    ],
)
def test_a_tree_over_other_words(spans, heads):
    over = TREE.over(np.array(spans, np.int64).reshape(-1, 2))
    assert over.heads.tolist() == heads


def test_a_tree_without_words():
    assert Tree.of([], []).over(np.array([[0, 3]])).heads.tolist() == [-1]


def test_trees_over_any_words_stay_trees():
    rng = np.random.default_rng(0)
    for _ in range(300):
        size = int(rng.integers(1, 12))
        marks = np.sort(rng.choice(60, 2 * size, replace=False)).reshape(-1, 2)
        heads = [-1, *(int(rng.integers(-1, k)) for k in range(1, size))]
        order = rng.permutation(size)
        shuffled = np.full(size, -1)
        for child, head in enumerate(heads):
            shuffled[order[child]] = -1 if head < 0 else order[head]
        others = np.sort(rng.choice(60, 10, replace=False)).reshape(-1, 2)
        over = Tree.of(marks, shuffled).over(others)
        assert len(over) == 5
        assert over.depths.max() < 5
