"""Weights from the trees of a corpus: the graph, PageRank, and the two recipes."""

from collections import Counter, defaultdict

import networkx as nx
import numpy as np
import pytest

import movers
from movers.encode.trees import Tree
from movers.measure.syntax import fit_swf, nearness, pagerank
from tiny_models import SENTENCES
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
    encodings = scorer.measure(SENTENCES).encodings
    trees = MadeUp().parse(encodings.sentences)
    counts = Counter(SENTENCES[:2])
    times = [counts[text] for text in encodings.sentences]
    assert "obama" not in fit_swf(encodings, times, trees, "paper").values
    with pytest.raises(movers.InputError, match="swf weights need sentences with words"):
        fit_swf(encodings, [0] * len(encodings), trees, "paper")
