"""What the default measure sees and what it does not, as docs/behaviour.md tells it."""

import re
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

import movers
from movers_research.default_measure import load_behaviour, load_triples

PAGE = Path(__file__).parents[2] / "docs" / "behaviour.md"
BARE = ("the of", "dog", "...", "I am", "A dog chases a cat.")


@pytest.fixture(scope="module")
def scorer():
    return movers.load()


@pytest.fixture(scope="module")
def kinds(scorer):
    """Distances of the pairs of every kind."""
    pairs = load_behaviour()
    found = defaultdict(list)
    distances = scorer.distances([(one.source, one.target) for one in pairs])
    for one, distance in zip(pairs, distances, strict=True):
        found[one.kind].append(distance)
    return {kind: np.array(values) for kind, values in found.items()}


def test_role_swaps_are_farther_than_swaps_that_keep_the_meaning(kinds):
    def farther(kind):
        return (kinds["role"][:, None] > kinds[kind]).mean()

    assert farther("symmetric") > 0.65
    assert farther("passive") > 0.95
    assert farther("coordination") > 0.95


def test_a_synonym_is_nearer_than_an_antonym_and_that_nearer_than_an_unrelated_word(kinds):
    means = {kind: values.mean() for kind, values in kinds.items()}
    assert means["synonym"] < means["antonym"] < means["unrelated"]
    assert (kinds["synonym"] < kinds["unrelated"]).all()


def test_the_page_tells_what_is_measured(scorer, kinds):
    """Also what is not seen well: its table holds the means of all kinds."""
    rows = re.findall(
        r"^\| (\w+) \| (\d+) \| .* \| (0\.\d+) \| (0\.\d+) \|$", PAGE.read_text("utf-8"), re.M
    )
    assert {kind for kind, *_ in rows} == set(kinds)
    for kind, pairs, distance, similarity in rows:
        assert int(pairs) == len(kinds[kind])
        assert float(distance) == pytest.approx(kinds[kind].mean(), abs=2e-3)
        assert float(similarity) == pytest.approx((1 - kinds[kind] / scorer.far).mean(), abs=2e-2)


def test_the_same_sentence_is_at_exactly_nought(scorer):
    for text in (*BARE, "The dog and the dog and the dog.", load_triples()[0].sentence):
        assert scorer.distances([(text, text)]).tolist() == [0.0]
        assert scorer.similarities([(text, text)]).tolist() == [1.0]


def test_source_and_target_may_change_places(scorer):
    pairs = [(one.source, one.target) for one in load_behaviour()]
    back = scorer.distances([(target, source) for source, target in pairs])
    np.testing.assert_allclose(scorer.distances(pairs), back, rtol=0, atol=1e-9)


def test_every_pair_of_sentences_has_a_distance(scorer):
    pairs = [(first, second) for first in BARE for second in BARE]
    found = scorer.distances(pairs)
    assert np.isfinite(found).all()
    assert (found >= 0).all()
    assert ((scorer.similarities(pairs) >= 0) & (scorer.similarities(pairs) <= 1)).all()
    for first, second in pairs:
        whole = scorer.compare(first, second)
        assert np.isfinite([whole.distance, whole.linear, whole.structural, whole.gate]).all()


def test_most_paraphrases_are_nearer_than_the_same_words_with_roles_swapped(scorer):
    triples = load_triples()
    near = scorer.distances([(one.sentence, one.paraphrase) for one in triples])
    far = scorer.distances([(one.sentence, one.swap) for one in triples])
    assert (near < far).mean() > 0.7
