"""The default measure in an index: the answers of brute force, certified, from few comparisons."""

import json

import numpy as np
import pytest
from corpus import make_corpus
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from movers.errors import InputError
from movers.search import cosine
from movers.search.index import Index
from movers.search.mining import mine
from movers.search.search_ranking import STAGES

QUERIES = ["the press greets the president", "dog", "tourists and soup served rates", "the of"]
KINDS = [{}, {"vectors": "int8"}, {"keep": "words"}]


@pytest.fixture(scope="module")
def scorer(bert):
    return bert.using("movers")


@pytest.fixture(scope="module")
def matrix(scorer, corpus):
    return scorer.matrix(corpus)


@pytest.fixture
def small(monkeypatch):
    """Several shards and blocks from a small corpus."""
    monkeypatch.setattr(cosine, "CAPACITY", {"text": 32, "words": 32})
    monkeypatch.setattr(cosine.CosineLayout, "block", 25)


def assert_exact(found, scorer, sentences, top_k):
    assert found.certified and found.bound is None
    assert found.matches == scorer.rank(found.query, sentences, top_k=top_k).matches
    report = found.pruning
    assert report.corpus == len(sentences) == sum(getattr(report, stage) for stage in STAGES)
    assert found.compared == report.solved


@pytest.mark.parametrize("kind", KINDS)
def test_answers_are_those_of_brute_force(scorer, corpus, small, kind):
    index = Index.build(scorer, corpus, **kind)
    assert len(index.shards) == 4
    for top_k in (1, 7, 200):
        for query, found in zip(QUERIES, index.search_many(QUERIES, top_k), strict=True):
            assert_exact(found, scorer, corpus, top_k)
            assert index.search(query, top_k).matches == found.matches


@pytest.mark.filterwarnings("ignore::movers.runtime.notices.UnknownWarning")
@pytest.mark.parametrize("kind", KINDS)
def test_unknown_words_are_found_as_by_brute_force(scorer, small, kind):
    nouns = ["鮪", "鯖", "鰯", "dog"]
    texts = [f"{a} {verb} {b}" for a in nouns for b in nouns for verb in ("greets", "sold", "鱈")]
    index = Index.build(scorer, texts, **kind)
    for query in (texts[1], "鯖 greets the 鮪", "鮭"):
        found = index.search(query, 8)
        assert_exact(found, scorer, texts, 8)
    assert [match.text for match in index.search(texts[1], 1)] == [texts[1]]


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, 50), st.integers(1, 12), st.sampled_from(KINDS))
def test_whatever_the_corpus(scorer, seed, top_k, kind):
    texts = make_corpus(40, seed)
    index = Index.build(scorer, texts, **kind)
    for query in (make_corpus(6, seed + 1)[-1], texts[seed % len(texts)]):
        assert_exact(index.search(query, top_k), scorer, texts, top_k)


def test_few_are_compared_and_unrelated_ones_never(embedded):
    scorer, texts = embedded.using("movers"), make_corpus(80)
    index = Index.build(scorer, texts)
    found = index.search("the press greets the president", 3)
    assert_exact(found, scorer, texts, 3)
    assert 3 <= found.compared < 30
    every = index.search("an entirely unrelated remark about algebra", 80)
    assert_exact(every, scorer, texts, 80)
    assert every.pruning.far > 0


def test_within_and_candidates(scorer, corpus, small):
    index = Index.build(scorer, corpus)
    every = scorer.rank(QUERIES[0], corpus, top_k=None).matches
    limit = every[9].distance
    near = tuple(match for match in every if match.distance <= limit)
    assert index.search(QUERIES[0], 100, within=limit).matches == near
    some = index.search(QUERIES[0], 5, candidates=[3, 5, 5, 8])
    assert [m.index for m in some] == [m.index for m in every if m.index in {3, 5, 8}]
    assert not some.certified and some.bound is None
    few = index.search(QUERIES[0], 5, candidates=6)
    assert few.compared <= 6
    if not few.certified:
        left = [m.distance for m in every if m.index not in {own.index for own in few}]
        assert few.bound <= max(left)
    told = json.loads(json.dumps(index.search(QUERIES[0], 2).to_dict()))
    assert told["certified"] is True and told["compared"] >= 2


@pytest.mark.parametrize("kind", KINDS)
def test_deleting_adding_and_compacting(scorer, corpus, small, tmp_path, kind):
    texts = list(corpus[:80])
    for folder in (None, tmp_path / "index"):
        index = Index.build(scorer, texts, folder, **kind)
        gone = [*texts[3:40:5], texts[79], "not there"]
        assert index.delete(gone) == len(gone) - 1
        left = [text for text in texts if text not in gone]
        assert index.sentences == left and len(index) == len(left)
        assert index.sentence(len(left) - 1) == left[-1] and index.delete(["not there"]) == 0
        before = index.search_many(QUERIES, 9)
        for found in before:
            assert_exact(found, scorer, left, 9)
        assert index.add([gone[0], left[0], corpus[100]]) == 2
        now = [*left, gone[0], corpus[100]]
        assert index.sentences == now
        rows = sum(map(len, index.shards))
        assert index.compact() == len(gone) - 1 and index.compact() == 0
        assert sum(map(len, index.shards)) == rows - len(gone) + 1
        for one in (index, *([Index.open(folder, scorer=scorer, verify=True)] if folder else [])):
            assert one.sentences == now
            for found in one.search_many(QUERIES, 9):
                assert_exact(found, scorer, now, 9)
        with pytest.raises(InputError, match="that would delete all 73 sentences"):
            index.delete(now)


def test_measures_of_transport_delete_as_well(bert, corpus, tmp_path):
    index = Index.build(bert, corpus[:30], tmp_path / "index")
    assert index.delete(corpus[:3]) == 3 and index.sentences == corpus[3:30]
    found = index.search(QUERIES[1], 4)
    assert found.matches == bert.rank(QUERIES[1], corpus[3:30], top_k=4).matches
    assert index.compact() == 3 and index.search(QUERIES[1], 4).matches == found.matches


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("quantile", [0.02, 0.4])
def test_mining_finds_just_the_pairs_of_the_matrix(scorer, corpus, matrix, small, kind, quantile):
    index = Index.build(scorer, corpus, **kind)
    upper = np.triu_indices(len(corpus), 1)
    threshold = float(np.sort(matrix[upper])[int(quantile * len(upper[0]))])
    found = [pair for block in mine(index, threshold) for pair in block]
    first, second = (rows[matrix[upper] <= threshold] for rows in upper)
    expected = {(a, b): matrix[a, b] for a, b in zip(first.tolist(), second.tolist(), strict=True)}
    assert {(pair.first, pair.second): pair.distance for pair in found} == expected
    assert len(found) == len(expected)
    index.delete(corpus[10:20])
    left = {pair for pair in expected if not {*pair} & {*range(10, 20)}}
    again = [pair for block in mine(index, threshold) for pair in block]
    assert {(corpus.index(p.source), corpus.index(p.target)) for p in again} == left


def test_what_does_not_go_together_is_refused(bert, scorer):
    for options, message in (
        ({"keep": "words", "vectors": "int8"}, "needs the vectors as they are"),
        ({"keep": "all"}, "keep is 'text' or 'words'"),
    ):
        with pytest.raises(InputError, match=message):
            Index.build(scorer, ["a dog"], **options)
    with pytest.raises(InputError, match="keeps the words of every sentence"):
        Index.build(bert, ["a dog"], keep="text")


def places(size):
    """Bytes to damage: the first, the last, and some between."""
    return sorted({0, 1, 7, size - 1, *np.linspace(8, size - 2, 12).astype(int).tolist()})


@pytest.mark.parametrize("kind", KINDS)
def test_a_flipped_byte_is_reported_and_never_searched(scorer, corpus, tmp_path, kind):
    folder = tmp_path / "index"
    Index.build(scorer, corpus[:20], folder, **kind).delete(corpus[:2])

    def answer():
        try:
            return Index.open(folder, scorer=scorer).search(QUERIES[0], 20).matches
        except InputError as error:
            return str(error)

    expected = answer()
    assert len(expected) == 18
    for path in sorted(folder.iterdir()):
        original = path.read_bytes()
        if path.name.startswith("statistics"):
            continue  # not read where the scorer is given
        for place in places(len(original)):
            content = bytearray(original)
            content[place] ^= 1 << place % 8
            path.write_bytes(content)
            found = answer()
            harmless = path.name == "manifest.json" and found == expected  # a space
            assert harmless or str(path) in found, (path, place, found)
        path.write_bytes(original)
