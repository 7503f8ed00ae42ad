import json
import warnings
from dataclasses import replace

import numpy as np
import pytest
from corpus import make_corpus
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import movers
from movers.errors import InputError
from movers.runtime.atomic import UNFINISHED
from movers.search import layouts
from movers.search.index import Index
from movers.search.manifest import _digest
from movers.search.search_ranking import STAGES

METHODS = ["wmd", "wrd", "wmd-idf", "smd", "smd-norm", "wsmd", "wsmd-wmd", "lambda", "lambda-wmd"]
QUERIES = ["the press greets the president", "dog", "tourists and soup served rates", "the of"]


def assert_same(index, query, top_k):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", movers.runtime.notices.UndefinedWarning)
        expected = index.scorer.rank(query, index.sentences, top_k=top_k)
    found = index.search(query, top_k)
    assert [match.index for match in found] == [match.index for match in expected]
    np.testing.assert_array_equal(
        [match.distance for match in found], [match.distance for match in expected]
    )
    assert [match.text for match in found] == [match.text for match in expected]
    return found


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("options", [{}, {"recipe": "reference"}, {"empty": "keep"}])
def test_search_equals_brute_force(bert, corpus, small_shards, method, options):
    index = Index.build(bert.using(method, **options), corpus)
    assert len(index.shards) > 2
    for query in QUERIES:
        for top_k in (1, 7, 200):
            assert_same(index, query, top_k)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.integers(0, 50),
    st.sampled_from(METHODS),
    st.integers(1, 12),
    st.floats(0, 1),
)
def test_search_equals_brute_force_whatever_the_corpus(bert, seed, method, top_k, mix):
    texts = make_corpus(40, seed)
    index = Index.build(bert.using(method, mix=mix), texts)
    assert_same(index, make_corpus(6, seed + 1)[-1], top_k)
    assert_same(index, texts[seed % len(texts)], top_k)


@pytest.mark.parametrize("method", METHODS)
def test_within_leaves_out_what_is_farther(bert, corpus, small_shards, method):
    index = Index.build(bert.using(method), corpus)
    every = [
        match for match in index.search(QUERIES[0], len(corpus)) if match.distance == match.distance
    ]
    for place in (0, 5, 60):
        limit = every[place].distance  # itself within, and all that tie with it
        near = tuple(match for match in every if match.distance <= limit)
        assert index.search(QUERIES[0], len(corpus), within=limit).matches == near
        assert index.search(QUERIES[0], 3, within=limit).matches == near[:3]
        some = index.search(QUERIES[0], 3, within=limit, candidates=range(len(corpus)))
        assert some.matches == near[:3]
        assert sum(getattr(some.pruning, stage) for stage in STAGES) == len(corpus)


def test_most_of_a_corpus_is_pruned(embedded):
    texts = make_corpus(400)
    found = assert_same(Index.build(embedded, texts), "the press greets the president", 3)
    report = found.pruning
    assert report.solved < len(texts) / 2
    assert report.corpus == len(texts) == sum(getattr(report, stage) for stage in STAGES)
    assert "solved" in str(report)


def test_repeated_and_empty_sentences_are_left_out(bert):
    index = Index.build(bert, ["a dog", "", "a fox", "a dog", "  "])
    assert index.sentences == ["a dog", "a fox"]
    assert index.sentence(1) == "a fox" and len(index) == 2


def test_saved_index_opens_with_its_own_scorer(bert, corpus, small_shards, tmp_path):
    made = Index.build(bert, (text for text in corpus), tmp_path / "built")
    Index.build(bert, corpus).save(tmp_path / "saved")
    expected = made.search(QUERIES[0], 5)
    for name in ("built", "saved"):
        opened = Index.open(tmp_path / name, verify=True)
        assert str(opened.scorer.signature) == str(bert.signature)
        assert opened.search(QUERIES[0], 5).matches == expected.matches
        assert opened.sentences == corpus


def test_add_keeps_what_is_there(bert, corpus, small_shards, tmp_path):
    index = Index.build(bert, corpus[:50], tmp_path / "index")
    left = tmp_path / "index" / f"{UNFINISHED}x.safetensors"
    left.touch()  # as if killed before while it was adding
    assert index.add(corpus[40:]) == len(corpus) - 50
    assert not left.exists()
    assert index.sentences == corpus
    assert_same(Index.open(tmp_path / "index"), QUERIES[0], 9)


def test_files_are_read_line_by_line(bert, tmp_path):
    path = tmp_path / "corpus.txt"
    path.write_text("﻿a dog barks\n\na café\r\n", "utf-8")
    assert Index.build(bert, path).sentences == ["a dog barks", "a café"]
    path.write_bytes(b"a dog\n\xff\n")
    with pytest.raises(InputError, match="line 2: not UTF-8"):
        Index.build(bert, path)


def test_a_broken_off_build_is_resumed(bert, corpus, small_shards, tmp_path, monkeypatch):
    folder, made = tmp_path / "index", []
    original = layouts.WORDS.make

    def failing(scorer, chunk, *, progress=False):
        made.append(len(chunk))
        if len(made) == 3:
            raise KeyboardInterrupt
        return original(scorer, chunk, progress=progress)

    monkeypatch.setattr(layouts, "WORDS", replace(layouts.WORDS, make=failing))
    with pytest.raises(KeyboardInterrupt):
        Index.build(bert, corpus, folder)
    with pytest.raises(InputError, match="broken off; build it again"):
        Index.open(folder)
    Index.build(bert, corpus, folder)
    assert len(made) == 3 + 2, "the two finished shards are not made again"
    assert Index.open(folder, verify=True).sentences == corpus


def test_another_corpus_or_measure_replaces_finished_shards(bert, corpus, tmp_path):
    Index.build(bert, corpus, tmp_path / "index")
    with pytest.raises(InputError, match="holds an index already"):
        Index.build(bert, corpus, tmp_path / "index")
    Index.build(bert.using("wmd"), corpus[:20], tmp_path / "index", replace=True)
    opened = Index.open(tmp_path / "index")
    assert opened.scorer.measure.name == "wmd" and len(opened) == 20


@pytest.fixture
def folder(bert, corpus, tmp_path):
    Index.build(bert, corpus[:20], tmp_path / "index")
    return tmp_path / "index"


def test_foreign_folders_are_refused(folder, tmp_path):
    with pytest.raises(InputError, match="no index in"):
        Index.open(tmp_path)
    manifest = folder / "manifest.json"
    content = json.loads(manifest.read_text())
    manifest.write_text(json.dumps({**content, "signature": "other"}))
    with pytest.raises(InputError, match="checksum differs"):
        Index.open(folder)
    manifest.write_text(json.dumps({**content, "format": "movers-index-9"}))
    with pytest.raises(InputError, match="format 'movers-index-9', expected 'movers-index-6'"):
        Index.open(folder)
    for broken in (
        "[1",
        "[" * 100_000,
        sealed(content | {"parts": 3}),
        sealed({**content, "a": 1}),
    ):
        manifest.write_text(broken)
        with pytest.raises(InputError, match=r"manifest\.json' is damaged"):
            Index.open(folder)


def sealed(content):
    """A manifest with the checksum of whatever it says."""
    content = {name: value for name, value in content.items() if name != "checksum"}
    return json.dumps({**content, "checksum": _digest(content)})


def test_another_model_is_refused(folder, tiny):
    other = Index.open(folder, scorer=movers.load("wsmd", tiny("roberta"), whitening="none"))
    with pytest.raises(InputError, match="the index was built with"):
        other.search("a dog")


def test_measures_without_a_bound_are_refused(bert):
    with pytest.raises(InputError, match="bertscore is not one transport problem"):
        Index.build(bert.using("bertscore"), ["a dog"])
    with pytest.raises(InputError, match=r"null == 0\.5: bounds hold where all words move"):
        Index.build(bert.using(null=0.5), ["a dog"])
    with pytest.raises(InputError, match="empty='nan' or empty='keep'"):
        Index.build(bert.using(empty="raise"), ["a dog"])
    with pytest.raises(InputError, match="no sentence to index"):
        Index.build(bert, [])
    with pytest.raises(InputError, match="got one string"):
        Index.build(bert, "a dog")


def test_candidates_are_ranked_exactly(bert, corpus):
    index = Index.build(bert, corpus)
    exact = index.search(QUERIES[0], 5)
    every = index.search(QUERIES[0], 5, candidates=len(corpus))
    assert every.matches == exact.matches
    few = index.search(QUERIES[0], 5, candidates=10)
    assert few.pruning.left_out == len(corpus) - 10
    ranked = {match.index: match.distance for match in index.search(QUERIES[0], len(corpus))}
    assert all(ranked[match.index] == match.distance for match in few)
    own = index.search(QUERIES[0], 2, candidates=[3, 5, 5, 8])
    assert {match.index for match in own} <= {3, 5, 8}
    assert index.search(QUERIES[0], 5, candidates=np.int64(10)).matches == few.matches
    for wrong in (-5, 0, 2.5):
        with pytest.raises(InputError, match=f"candidates must be at least 1, .* got {wrong}"):
            index.search("dog", candidates=wrong)
    for wrong in ([500], [-1], [0.5], np.ones(3, bool)):
        with pytest.raises(InputError, match="the index has 120 sentences"):
            index.search("dog", candidates=wrong)
    with pytest.raises(InputError, match="no word vectors to pick candidates by"):
        Index.build(bert.using("smd"), corpus[:9]).search("dog", candidates=3)


def test_alignments_on_request_and_batches_of_queries(bert, corpus):
    index = Index.build(bert, corpus)
    first, second = index.search_many(QUERIES[:2], 3, align=1)
    comparison = first.comparisons[0]
    assert comparison.target == first[0].text and comparison.distance == first[0].distance
    assert first.matches == index.search(QUERIES[0], 3).matches
    assert second.query == "dog"
    assert json.loads(json.dumps(first.to_dict()))["pruning"]["corpus"] == len(corpus)
    for wrong in (0, -2, 2.5):
        with pytest.raises(InputError, match="top_k must be at least 1"):
            index.search("dog", wrong)
    for blank in ("", " \n"):
        with pytest.raises(InputError, match="the query is empty"):
            index.search(blank)
    for wrong in (-0.1, float("nan")):
        with pytest.raises(InputError, match="within must be a distance of at least 0"):
            index.search("dog", within=wrong)


def test_a_manifest_that_is_a_folder_is_refused(bert, tmp_path):
    (tmp_path / "manifest.json").mkdir()
    with pytest.raises(InputError, match=r"manifest.json' is a folder, not the manifest"):
        Index.open(tmp_path)
    with pytest.raises(InputError, match=r"manifest.json' is a folder"):
        Index.build(bert, ["a dog barks"], tmp_path, replace=True)


def test_a_string_is_not_many_queries(bert):
    index = Index.build(bert, ["a dog", "a cat"])
    with pytest.raises(InputError, match="queries must be a list of sentences, got 'ab'"):
        index.search_many("ab")
    with pytest.raises(InputError, match="queries must be a list of sentences, got None"):
        index.search_many(None)
