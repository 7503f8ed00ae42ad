"""MoverScore on unigrams, against the same problem posed to POT."""

from math import log

import numpy as np
import ot
import pytest

import movers
from movers.measures.parts.word_tables import load_frequencies
from tiny_models import PAIRS, SENTENCES


@pytest.fixture(scope="module")
def scorer(tiny):
    return movers.load("moverscore", tiny("bert"), whitening="none").fit(SENTENCES)


def side(scorer, sentence):
    """First pieces of words that are not punctuation: vectors of length 1, idf weights."""
    (states,) = scorer.encoder.states([sentence], scorer.embedding)
    (pieces,) = scorer.encoder.pieces([sentence])
    documents = [set(row) for row in scorer.encoder.pieces(SENTENCES)]
    kept = [
        k
        for k, piece in enumerate(pieces)
        if not piece.startswith(("##", "[")) and piece not in ".,!?"
    ]
    total = len(documents)
    idf = [log((total + 1) / (sum(pieces[k] in row for row in documents) + 1)) for k in kept]
    vectors = states[kept].astype(float)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True), np.array(idf) / sum(idf)


def test_distances_are_those_of_pot(scorer):
    for source, target in PAIRS[:10]:
        (x, u), (y, v) = side(scorer, source), side(scorer, target)
        expected = ot.emd2(u, v, np.linalg.norm(x[:, None] - y, axis=2))
        assert scorer.compare(source, target).distance == pytest.approx(expected, abs=1e-5)


def test_a_sentence_is_at_no_distance_from_itself(scorer):
    assert scorer.compare(SENTENCES[0], SENTENCES[0]).distance == pytest.approx(0, abs=1e-6)


def test_punctuation_alone_is_compared_as_it_is(scorer):
    assert np.isfinite(scorer.compare("! . !", SENTENCES[0]).distance)


def test_weights_come_from_a_fit_or_from_the_language(tiny):
    scorer = movers.load("moverscore", tiny("bert"))
    found = scorer.weigh(["The president, unbelievably, greets the fox!"])
    table = load_frequencies()
    pieces = scorer.encoder.pieces(found.encodings.sentences)[0]
    weights = dict(zip(pieces, found.weights[0] * found.totals[0], strict=True))
    for word in ("the", "president", "greets", "fox"):
        assert weights[word] == pytest.approx(table.idf([word])[0])
    assert {weights[piece] for piece in ("[CLS]", "[SEP]", ",", "!")} == {0}
    rare = table.idf(["unbelievably"])[0]
    assert sum(weight == pytest.approx(rare) for weight in weights.values()) >= 1
    assert dict(scorer.signature.fields)["frequencies"] == table.name
    assert "frequencies" not in dict(scorer.fit(SENTENCES).signature.fields)
