"""Further vectors of sentences, against their definitions written out in loops."""

import numpy as np
import pytest

import movers
from movers.errors import InputError
from movers.measures.parts.word_tables import load_frequencies
from movers.runtime.notices import UnfittedWarning
from movers_research.baselines.vectors import usif_constant
from sentence_vectors import TEXTS, check, check_removal, vectors_of, words_of, write_counts
from tiny_models import PAIRS, SENTENCES

RECIPES = ["paper", "reference"]


@pytest.fixture(scope="module")
def counts(tmp_path_factory):
    return write_counts(tmp_path_factory.mktemp("frequencies") / "counts.txt")


@pytest.fixture(scope="module", params=RECIPES)
def base(request, tiny, counts):
    return movers.load("wmd", tiny("bert"), recipe=request.param, frequencies=counts).fit(TEXTS)


@pytest.fixture(scope="module", params=RECIPES)
def roberta(request, tiny):
    return movers.load("cls", tiny("roberta"), recipe=request.param).fit(TEXTS)


def test_start_token(base):
    scorer = base.using("cls", embedding=0)
    assert scorer.embedding == 3
    scorer = scorer.fit(TEXTS)
    states = dict(zip(SENTENCES, scorer.encoder.states(SENTENCES, 3), strict=True))
    first = {text: rows[0] for text, rows in states.items()}
    if scorer.settings.recipe == "reference":
        white = scorer.statistics.whitening[3]
        mean = white.mean.astype(np.float32)  # the difference is one of single precision
        first = {text: (row - mean) @ white.matrix for text, row in first.items()}
        tolerance = 1e-4
    else:
        tolerance = 1e-10
    first = {text: row.astype(float) for text, row in first.items()}
    check(scorer, first, tolerance)


def test_start_token_of_roberta_is_a_piece_of_text_as_coded(roberta):
    place = 0 if roberta.settings.recipe == "paper" else 1
    check(roberta, {text: rows[place] for text, rows in vectors_of(roberta).items()})


def test_five_components_of_scaled_means(base, counts):
    scorer = base.using("usif").fit(TEXTS)
    table, a = load_frequencies(counts), usif_constant(counts)
    weights = {
        text: a / (a / 2 + table.of(words, table.least)) for text, words in words_of(scorer).items()
    }
    check_removal(scorer, weights, 5, scaled=True)


def test_conceptor(base):
    scorer = base.using("conceptor").fit(TEXTS)
    table, words = load_frequencies(scorer.settings.frequencies), words_of(scorer)
    means = {t: table.sif(words[t]) @ rows for t, rows in vectors_of(scorer).items()}
    if scorer.settings.recipe == "paper":
        # a clean whitening drops one direction of noise, in which R is nothing but noise
        tokens = np.concatenate(scorer.encoder.states(TEXTS, 3)).astype(float)
        count, dimension = tokens.shape
        spread = np.cov(tokens.T)
        mean = tokens.mean(axis=0)
        R = spread + np.outer(mean, mean)
        C = R @ np.linalg.inv(R + np.eye(dimension) / 4)
        means = {t: (np.eye(dimension) - C) @ row for t, row in means.items()}
        assert count > 2 * dimension
    check(scorer, means, 1e-6)


def test_conceptor_without_moments_says_what_to_do(tiny):
    scorer = movers.load("conceptor", tiny("bert"))
    with pytest.warns(UnfittedWarning, match=r"conceptor needs .*call fit\(sentences\)"):
        assert np.isfinite(scorer.distances(PAIRS)).all()


def test_the_constant_of_the_published_file(data):
    path = data / "sif" / "enwiki_vocab_min200.txt"
    a, table = usif_constant(path), load_frequencies(path)
    assert a == pytest.approx(0.00120665, abs=5e-9)
    assert a / (a / 2 + table.least) == pytest.approx(1.99981, abs=5e-6)


def test_the_constant_by_hand(tmp_path):
    path = tmp_path / "counts.txt"
    rare = "".join(f"w{k} 1\n" for k in range(100))
    path.write_text(f"the 900\n{rare}", "utf-8")
    alpha = 1 / 101
    assert usif_constant(path) == pytest.approx((1 - alpha) / (alpha * 101 / 2))
    assert 1e-4 < usif_constant() < 1e-2


def test_the_constant_needs_frequent_and_rare_words(tmp_path):
    path = tmp_path / "three.txt"
    path.write_text("a 4\nb 3\nc 3\n", "utf-8")
    with pytest.raises(InputError, match="usif needs a table with frequent and rare words"):
        usif_constant(path)
