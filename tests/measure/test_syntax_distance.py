"""Costs that look at sub-trees, against their definition."""

import numpy as np
import pytest

import movers
from movers.encode.trees import Tree
from movers.measure.costs import mean_costs
from movers.measure.syntax import subtree_members
from movers.pipeline import pose
from tiny_models import PAIRS, SENTENCES
from tree_parsers import MadeUp


def test_sub_trees_grow_until_they_are_whole():
    chain = Tree.of([(k, k + 1) for k in range(5)], [1, 2, 3, 4, -1])
    found = {tuple(np.flatnonzero(row)) for row in subtree_members(chain)}
    whole = {(0, 1), (1, 2), (2, 3), (3, 4), (0, 1, 2), (1, 2, 3), (2, 3, 4)}
    assert found == whole | {(0, 1, 2, 3), (1, 2, 3, 4)}
    star = Tree.of([(k, k + 1) for k in range(4)], [1, -1, 1, -1])
    assert subtree_members(star).tolist() == [[1, 1, 1, 0]]
    assert subtree_members(Tree.of([], [])).shape == (0, 0)


def plain_subtrees(heads):
    """Sub-trees one by one: descendants within 1, 2, 3 edges of every word, while they grow."""
    found = []
    for top in range(len(heads)):
        last = {top}
        for _ in range(3):
            grown = last | {k for k, head in enumerate(heads) if head in last}
            if grown == last:
                break
            found.append(grown)
            last = grown
    return found


def unit(vector):
    return vector / np.linalg.norm(vector)


def plain_extra(source, target):
    """Mean distance of the sub-trees around each pair of words; a side is (heads, X, u)."""
    sides = []
    for heads, vectors, weights in (source, target):
        trees = plain_subtrees(heads)
        means = [unit(sum(weights[t] * unit(vectors[t]) for t in tree)) for tree in trees]
        sides.append((trees, means))
    (trees1, means1), (trees2, means2) = sides
    out = np.zeros((len(source[0]), len(target[0])))
    for i, j in np.ndindex(out.shape):
        found = [
            max(0.0, 1 - a @ b)
            for tree1, a in zip(trees1, means1, strict=True)
            for tree2, b in zip(trees2, means2, strict=True)
            if i in tree1 and j in tree2
        ]
        out[i, j] = np.mean(found) if found else 0.0
    return out


@pytest.fixture(scope="module", params=["paper", "reference"])
def scorer(request, tiny):
    scorer = movers.load("wsmd-synwmd", tiny("bert"), recipe=request.param, parser=MadeUp())
    return scorer.fit(SENTENCES)


def sides_of(scorer, pair):
    measured = scorer._encoded(SENTENCES)
    for text in pair:
        row = measured.encodings.rows[text]
        tree = MadeUp.tree(text).over(measured.encodings.spans[row].astype(int))
        vectors = measured.vectors[row].astype(float)
        yield tree.heads.tolist(), vectors, measured.weights[row]


def test_costs_are_cosines_plus_sub_trees(scorer):
    measured = scorer._encoded(SENTENCES)
    for pair in PAIRS[:12]:
        rows = np.array([[measured.encodings.rows[text] for text in pair]])
        source, target = sides_of(scorer, pair)
        cosine = np.array([[1 - unit(x) @ unit(y) for y in target[1]] for x in source[1]])
        expected = np.maximum(cosine, 0) + plain_extra(source, target)
        costs = pose(scorer.method, measured, rows).costs
        assert costs[0].reshape(expected.shape) == pytest.approx(expected, abs=1e-6)


def test_the_mean_cost_counts_every_piece_of_a_word(scorer):
    """In the reference recipe further pieces have no vector, but the sub-trees of their word."""
    measured = scorer._encoded(SENTENCES)
    encodings, encoder = measured.encodings, scorer.encoder
    assert encodings.sizes.sum() > encodings.counts.sum() or scorer.settings.recipe == "paper"
    for pair in PAIRS[:6]:
        rows = np.array([[encodings.rows[text] for text in pair]])
        source, target = sides_of(scorer, pair)
        problems = pose(scorer.method, measured, rows)
        costs = problems.costs
        extra = plain_extra(source, target)
        cosine = costs[0].reshape(extra.shape) - extra
        if scorer.settings.recipe == "paper":
            expected = (cosine + extra).mean()
        else:
            _, ranges = encoder.located(pair, scorer.settings.rules)
            n, m = (np.diff(part, axis=1).ravel() for part in ranges)
            expected = (cosine.sum() + n @ extra @ m) / encodings.sizes[rows].prod()
        errors = structure_errors_of(encodings, rows)
        assert problems.scale[0] * errors == pytest.approx(expected, rel=1e-5)


def structure_errors_of(encodings, rows):
    from movers.measure.gating import structure_errors

    return structure_errors(encodings, *rows.T)[0]


def test_nothing_apart_leaves_the_mean_alone(scorer):
    measured = scorer._encoded(SENTENCES)
    rows = np.array([[0, 1]])
    costs = pose(scorer.method, measured, rows).costs
    sizes = measured.encodings.counts
    found = mean_costs("swd", costs, measured.norms, sizes, *rows.T)
    assert found == pytest.approx([costs[0].mean()])
