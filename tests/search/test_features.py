"""An index of a measure with a bound of its own finds what brute force finds."""

from dataclasses import dataclass

import numpy as np
import pytest

import movers
from movers.measures.base import Measure
from movers.measures.bounds import FeatureBound
from movers.measures.registry import METHODS
from movers.search.index import Index
from tiny_models import SENTENCES


@dataclass(frozen=True)
class WordCount(Measure):
    """How many words two sentences differ by, and a little for words that are not the same."""

    reads_vectors = False

    def distances(self, sentences, rows):
        words = [set(sentences.encoded.surface(row)) for row in range(len(sentences))]
        apart = [len(words[a] ^ words[b]) for a, b in rows]
        counts = np.array([len(one) for one in words])
        return np.abs(np.diff(counts[rows], axis=1))[:, 0] + 0.01 * np.array(apart)

    @property
    def bound(self):
        return FeatureBound(self.counts, lambda one, many: np.abs(many - one)[:, 0].astype(float))

    def counts(self, texts):
        encodings = self.context.encoder.encode(texts, self.requirements)
        return np.array([[len(set(encodings.surface(row)))] for row in range(len(texts))])


@pytest.fixture
def scorer(bert, monkeypatch):
    monkeypatch.setitem(METHODS, "word-count", WordCount("word-count", "number of words"))
    return bert.using("word-count", stopwords=None)


CORPUS = [*SENTENCES, "dog", "the fox", "a b c d", "the quick fox sees the lazy dog in the park"]


def test_the_nearest_are_those_of_brute_force(scorer):
    index = Index.build(scorer, CORPUS)
    for query in (SENTENCES[0], "a fox", "dog"):
        found, expected = index.search(query, top_k=3), scorer.rank(query, index.sentences, top_k=3)
        assert [match.distance for match in found] == [match.distance for match in expected]
        assert [match.text for match in found] == [match.text for match in expected]
        assert found.certified and 0 < found.pruning.solved <= len(index)
    within = index.search("dog", top_k=9, within=0.5)
    assert {match.text for match in within} >= {"dog"}
    assert all(match.distance <= 0.5 for match in within)


def test_some_candidates_are_no_proof(scorer):
    index = Index.build(scorer, CORPUS)
    few = index.search(SENTENCES[0], top_k=2, candidates=[0, 3])
    assert {match.index for match in few} <= {0, 3} and not few.certified
    assert few.pruning.solved == 2 and few.pruning.left_out == len(index) - 2


def test_an_index_lies_on_disk(scorer, tmp_path):
    index = Index.build(scorer, CORPUS, tmp_path / "index")
    again = Index.open(tmp_path / "index", scorer=scorer)
    assert again.layout.name == "features"
    assert again.search("dog", top_k=2)[0].text == "dog"
    again.add(["a cat"])
    again.delete(["dog"])
    assert len(again) == len(index.sentences) and again.search("dog", top_k=1)[0].text != "dog"


def test_a_measure_without_a_bound_is_refused(bert):
    with pytest.raises(movers.InputError, match="no bound holds for it"):
        Index.build(bert.using("average"), CORPUS)
