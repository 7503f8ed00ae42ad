"""ROTS: levels of trees, and the recursion over them against a plain transcription."""

import numpy as np
import ot
import pytest

import movers
from movers_research.baselines.rots import segmentations
from movers_research.trees import Tree
from tiny_models import PAIRS, SENTENCES
from tree_parsers import MadeUp


def tree_of(heads):
    return Tree.of([(k, k + 1) for k in range(len(heads))], heads)


@pytest.mark.parametrize(
    ("heads", "expected"),
    [
        # the press greets the president
        ([1, 2, -1, 4, 2], [[0], [0, 2, 3], [0, 1, 2, 3, 4]]),
        # a chain: its top is the last word
        ([1, 2, 3, -1], [[0], [0, 3], [0, 2, 3], [0, 1, 2, 3]]),
        # two roots hang below an artificial one
        ([1, -1, 3, -1], [[0], [0, 2], [0, 1, 2, 3]]),
        # crossing edges: the sub-tree of 2 spans 0-2, that of 3 begins inside it and is passed by
        ([2, 3, 4, 4, -1], [[0], [0, 3, 4], [0, 1, 2, 3, 4]]),
        ([-1], [[0]]),
        ([], [[]]),
    ],
)
def test_segments_level_by_level(heads, expected):
    cuts = segmentations(tree_of(heads))
    found = [cut.begins.tolist() for cut in cuts]
    assert len(found) == 5
    assert found[: len(expected)] == expected
    assert found[-1] == list(range(len(heads)))
    assert cuts[-1].own.all()


@pytest.mark.parametrize(
    ("heads", "own"),
    [
        ([1, 2, -1, 4, 2], [0, 1, 2, 3, 4]),
        # 0 and 2 make a sub-tree around 1, which hangs from 4: word 1 is in no segment
        ([2, 4, 4, 4, -1], [0, 2, 3, 4]),
        # the sub-tree of 0, 2 and 4 reaches over that of 1 and 3
        ([2, 5, 5, 1, 2, -1], [0, 2, 4, 5]),
        # that of 1 and 4 begins inside the one of 0 and 2: its last word stands alone
        ([2, 5, 5, 5, 1, -1], [0, 2, 3, 4, 5]),
    ],
)
def test_a_segment_holds_the_words_of_its_own_sub_tree(heads, own):
    assert np.flatnonzero(segmentations(tree_of(heads))[1].own).tolist() == own


def plain_similarity(sides):
    """The mean of five levels; a side is (tree, weighted vectors)."""
    levels = [segmentations(tree) for tree, _ in sides]
    cuts = [[cut.begins.tolist() for cut in level] for level in levels]
    if any(len(vectors) == 1 for _, vectors in sides):
        s, t = (vectors.sum(axis=0) for _, vectors in sides)
        return s @ t / np.linalg.norm(s) / np.linalg.norm(t)
    sums = [np.linalg.norm(vectors.sum(axis=0)) for _, vectors in sides]
    scores = []
    for depth in range(5):
        ends = [[*cut[depth][1:], len(v)] for cut, (_, v) in zip(cuts, sides, strict=True)]
        x, y = (
            np.array(
                [
                    v[a:b][level[depth].own[a:b]].sum(axis=0)
                    for a, b in zip(cut[depth], end, strict=True)
                ]
            )
            for level, cut, end, (_, v) in zip(levels, cuts, ends, sides, strict=True)
        )
        a, b = np.linalg.norm(x, axis=1), np.linalg.norm(y, axis=1)
        cost = 1 - x @ y.T / (a[:, None] * b + 1e-10)
        spread = a.sum() * b.sum() / (sums[0] * sums[1] + 1e-3)
        a, b = a / a.sum(), b / b.sum()
        if depth == 0:
            plan = ot.emd(a, b, cost)
        else:
            up = [
                [
                    max(k for k, begin in enumerate(cut[depth - 1]) if begin <= own)
                    for own in cut[depth]
                ]
                for cut in cuts
            ]
            prior = np.zeros((len(a), len(b)))
            for i, j in np.ndindex(prior.shape):
                left = sum(a[k] for k in range(len(a)) if up[0][k] == up[0][i])
                right = sum(b[k] for k in range(len(b)) if up[1][k] == up[1][j])
                prior[i, j] = plan[up[0][i], up[1][j]] * a[i] * b[j] / (left * right)
            plan = ot.sinkhorn(
                a, b, cost - 10 * np.log(prior + 1e-10), 10, method="sinkhorn_stabilized"
            )
        scores.append((1 - (plan * cost).sum()) * spread)
    return np.mean(scores)


@pytest.fixture(scope="module", params=["paper", "reference"])
def scorer(request, tiny):
    return movers.load("rots", tiny("bert"), recipe=request.param, parser=MadeUp()).fit(SENTENCES)


def sides_of(scorer, pair):
    measured = scorer.weigh(pair)
    encodings = measured.encodings
    for text in pair:
        row = encodings.rows[text]
        vectors, spans = measured.vectors[row].astype(float), encodings.spans[row].astype(int)
        weights = measured.weights[row] * measured.totals[row] / len(vectors)
        if scorer.settings.recipe == "paper":
            white = scorer.statistics.whitening[scorer.embedding]
            spread = np.linalg.pinv(white.matrix)
            moments = spread.T @ spread + np.outer(white.mean, white.mean)
            negation = np.eye(len(moments)) - moments @ np.linalg.inv(moments + np.eye(16) / 4)
            kept = [k for k, word in enumerate(encodings.surface(row)) if word not in ".,!?"]
            vectors, spans, weights = (vectors @ negation)[kept], spans[kept], weights[kept]
            vectors = vectors / (np.linalg.norm(vectors, axis=0) + 1e-10)
            tree = MadeUp.tree(text).over(spans)
        else:  # the published code parses what is left of the sentence
            tokens = scorer.encoder.tokenizer.tokenize(text)
            stop = scorer.settings.rules.stopwords | {*".,!?"}
            words = [token for token in tokens if not token.startswith("##") and token not in stop]
            ends = np.cumsum([len(word) + 1 for word in words]) - 1
            spans = np.array(
                [(end - len(word), end) for word, end in zip(words, ends, strict=True)]
            )
            tree = MadeUp.tree(" ".join(words)).over(spans)
        yield tree, vectors * weights[:, None]


def test_distances_by_their_definition(scorer):
    for pair in PAIRS[:10]:
        expected = 1 - plain_similarity([*sides_of(scorer, pair)])
        assert scorer.compare(*pair).distance == pytest.approx(expected, abs=1e-5)


def test_one_word_is_compared_by_cosine(scorer):
    pair = ("fox", SENTENCES[4])
    s, t = (vectors.sum(axis=0) for _, vectors in sides_of(scorer, pair))
    cosine = s @ t / np.linalg.norm(s) / np.linalg.norm(t)
    assert scorer.compare(*pair).distance == pytest.approx(max(0, 1 - cosine), abs=1e-6)


def test_pairs_do_not_depend_on_their_company(scorer):
    together = scorer.distances(PAIRS)
    alone = [scorer.distances([pair])[0] for pair in PAIRS[:5]]
    assert together[:5] == pytest.approx(alone, abs=1e-12)


def test_looked_up_trees_are_cut_to_the_words_left(scorer):
    class Lookup(MadeUp):
        lookup = True

    made_up, lookup = MadeUp(), Lookup()
    scorer.using(parser=made_up).distances(PAIRS[:1])
    scorer.using(parser=lookup).distances(PAIRS[:1])
    assert set(lookup.calls) == set(PAIRS[0])
    assert (set(made_up.calls) == set(PAIRS[0])) == (scorer.settings.recipe == "paper")


def test_published_code_parses_lower_case_first_pieces(tiny):
    made_up = MadeUp()
    text = "The Press greets Chicagoans"
    scorer = movers.load("rots", tiny("bert"), recipe="reference", parser=made_up)
    scorer.using(whitening="none").distances([(text, text)])
    pieces = scorer.encoder.tokenizer.tokenize("press greets chicagoans")
    assert any(piece.startswith("##") for piece in pieces)
    assert made_up.calls == [" ".join(p for p in pieces if not p.startswith("##"))]


def test_trees_are_needed(tiny):
    with pytest.raises(movers.InputError, match="no parser is set"):
        movers.load("rots", tiny("bert")).fit(SENTENCES).distances(PAIRS)
