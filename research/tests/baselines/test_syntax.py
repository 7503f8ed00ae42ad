"""What trees add: weights from those of a corpus, and costs that look at sub-trees."""

from collections import Counter, defaultdict

import networkx as nx
import numpy as np
import pytest

import movers
from movers.measures.parts.costs import mean_costs
from movers.measures.structural_transport import structure_errors
from movers_research.baselines.syntax import fit_swf, nearness, pagerank, subtree_members
from movers_research.trees import Tree
from tiny_models import PAIRS, SENTENCES
from tree_parsers import MadeUp


def chain(size):
    return Tree.of([(2 * k, 2 * k + 1) for k in range(size)], [-1, *range(size - 1)])


def test_nearness_is_one_over_hops_up_to_three():
    near = nearness(chain(6))
    assert near[0] == pytest.approx([0, 1, 1 / 2, 1 / 3, 0, 0])
    assert np.array_equal(near, near.T)
    star = Tree.of([(k, k + 1) for k in range(4)], [1, -1, 1, -1])
    assert nearness(star)[0] == pytest.approx([0, 1, 1 / 2, 0])


@pytest.mark.parametrize("tolerance", [1e-6, 1e-12])
def test_pagerank_is_that_of_networkx(tolerance):
    rng = np.random.default_rng(1)
    size = 30
    weights = np.triu(rng.random((size, size)) * (rng.random((size, size)) < 0.1))
    weights[:3] = weights[:, :3] = 0  # nodes without links
    weights += np.triu(weights, 1).T
    links = np.argwhere(weights > 0)
    graph = nx.Graph()
    graph.add_nodes_from(range(size))
    graph.add_weighted_edges_from((i, j, weights[i, j]) for i, j in links)
    expected = nx.pagerank(graph, alpha=0.2, tol=tolerance)
    found = pagerank(links, weights[tuple(links.T)], size, tolerance=tolerance)
    assert found == pytest.approx([expected[k] for k in range(size)], abs=1e-15)


def plain_swf(sentences, trees):
    """The weights by their definition, over words between blanks."""
    totals = defaultdict(float)
    for sentence, tree in zip(sentences, trees, strict=True):
        graph = nx.Graph()
        graph.add_nodes_from(range(len(tree)))
        graph.add_edges_from((k, int(head)) for k, head in enumerate(tree.heads) if head >= 0)
        words = sentence.split()
        for p, hops in nx.all_pairs_shortest_path_length(graph, cutoff=3):
            for q, hop in hops.items():
                if p != q:
                    totals[words[p], words[q]] += 1 / hop
    graph = nx.Graph()
    graph.add_nodes_from(word for sentence in sentences for word in sentence.split())
    graph.add_weighted_edges_from((a, b, total) for (a, b), total in totals.items())
    return {word: 1 / rank for word, rank in nx.pagerank(graph, alpha=0.2).items()}


def over_blanks(sentence):
    tree, place, spans = MadeUp.tree(sentence), 0, []
    for word in sentence.split():
        spans.append((place, place + len(word)))
        place += len(word) + 1
    return tree.over(np.array(spans))


def test_the_reference_recipe_weighs_cased_words_between_blanks(tiny):
    sentences = [*SENTENCES, *SENTENCES[:3], "the the fox sees the fox", "alone"]
    scorer = movers.load("synwmd-cos", tiny("bert"), recipe="reference", parser=MadeUp())
    table = scorer.fit(sentences).statistics.tables["swf"]
    linked = sentences[:-1]  # what stands alone is not part of the published graph
    expected = plain_swf(linked, [over_blanks(sentence) for sentence in linked])
    assert table.values == pytest.approx(expected, rel=1e-9)
    assert {"The", "the", "dog,"} <= set(table.values)
    assert table.missing == min(table.values.values())


def test_the_paper_recipe_gives_names_their_own_weight(tiny):
    scorer = movers.load("synwmd-cos", tiny("bert"), parser=MadeUp()).fit(SENTENCES)
    table = scorer.statistics.tables["swf"]
    assert {"obama", "the", ","} <= set(table.values)
    assert not any(word != word.lower() for word in table.values)
    assert table.missing == max(table.values.values())
    assert table.values["obama"] > table.values["the"]


def test_sentences_that_do_not_count_are_left_out(tiny):
    scorer = movers.load("synwmd-cos", tiny("bert"), parser=MadeUp()).fit(SENTENCES)
    encodings = scorer.weigh(SENTENCES).encodings
    trees = MadeUp().parse(encodings.sentences)
    counts = Counter(SENTENCES[:2])
    times = [counts[text] for text in encodings.sentences]
    assert "obama" not in fit_swf(encodings, times, trees, "paper").values
    with pytest.raises(movers.InputError, match="swf weights need sentences with words"):
        fit_swf(encodings, [0] * len(encodings), trees, "paper")


def test_sub_trees_grow_until_they_are_whole():
    line = Tree.of([(k, k + 1) for k in range(5)], [1, 2, 3, 4, -1])
    found = {tuple(np.flatnonzero(row)) for row in subtree_members(line)}
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
    measured = scorer.weigh(SENTENCES)
    for text in pair:
        row = measured.encodings.rows[text]
        tree = MadeUp.tree(text).over(measured.encodings.spans[row].astype(int))
        vectors = measured.vectors[row].astype(float)
        yield tree.heads.tolist(), vectors, measured.weights[row]


def test_costs_are_cosines_plus_sub_trees(scorer):
    measured = scorer.weigh(SENTENCES)
    for pair in PAIRS[:12]:
        rows = np.array([[measured.encodings.rows[text] for text in pair]])
        source, target = sides_of(scorer, pair)
        cosine = np.array([[1 - unit(x) @ unit(y) for y in target[1]] for x in source[1]])
        expected = np.maximum(cosine, 0) + plain_extra(source, target)
        costs = scorer.measure.pose(measured, rows).costs
        assert costs[0].reshape(expected.shape) == pytest.approx(expected, abs=1e-6)


def test_the_mean_cost_counts_every_piece_of_a_word(scorer):
    """In the reference recipe further pieces have no vector, but the sub-trees of their word."""
    measured = scorer.weigh(SENTENCES)
    encodings, encoder = measured.encodings, scorer.encoder
    assert encodings.sizes.sum() > encodings.counts.sum() or scorer.settings.recipe == "paper"
    for pair in PAIRS[:6]:
        rows = np.array([[encodings.rows[text] for text in pair]])
        source, target = sides_of(scorer, pair)
        problems = scorer.measure.pose(measured, rows)
        costs = problems.costs
        extra = plain_extra(source, target)
        cosine = costs[0].reshape(extra.shape) - extra
        if scorer.settings.recipe == "paper":
            expected = (cosine + extra).mean()
        else:
            _, ranges = encoder.located(pair, scorer.settings.rules)
            n, m = (np.diff(part, axis=1).ravel() for part in ranges)
            expected = (cosine.sum() + n @ extra @ m) / encodings.sizes[rows].prod()
        errors = structure_errors(encodings, *rows.T)[0]
        assert problems.scale[0] * errors == pytest.approx(expected, rel=1e-5)


def test_nothing_apart_leaves_the_mean_alone(scorer):
    measured = scorer.weigh(SENTENCES)
    rows = np.array([[0, 1]])
    costs = scorer.measure.pose(measured, rows).costs
    sizes = measured.encodings.counts
    found = mean_costs("swd", costs, measured.norms, sizes, *rows.T)
    assert found == pytest.approx([costs[0].mean()])
