"""Word weights and document frequencies."""

from math import log

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer

from movers.encode.encodings import Request
from movers.encode.stopwords import load_stopwords
from movers.encode.tokens import TokenRules
from movers.encode.transformer import TransformerEncoder
from movers.errors import InputError
from movers.measures.parts.context import Context
from movers.measures.parts.statistics import Statistics
from movers.measures.parts.word_tables import count_words, idf_table, load_frequencies
from movers.measures.sentences import normalised, raw_weights
from tiny_models import SENTENCES

CORPUS = ["the dog sees a fox", "The fox, the dog!", "a dog-house in 1999", "the dog sees a fox"]


def encode(folder, sentences, recipe):
    rules = TokenRules(load_stopwords("english"), recipe)
    return TransformerEncoder(folder).encode(
        list(dict.fromkeys(sentences)), Request((1,), (), rules)
    )


def fit_idf(encodings, counts, recipe):
    return idf_table(count_words(encodings, counts, recipe), sum(counts), recipe)


@pytest.mark.parametrize("name", ["bert", "roberta"])
def test_reference_idf_is_that_of_scikit_learn(tiny, name):
    encodings = encode(tiny(name), CORPUS, "reference")
    table = fit_idf(encodings, [2, 1, 1], "reference")
    vectorizer = TfidfVectorizer().fit(CORPUS)
    expected = {word: vectorizer.idf_[place] for word, place in vectorizer.vocabulary_.items()}
    assert table.values == pytest.approx(expected)
    assert table.missing == pytest.approx(min(expected.values()))


def test_reference_looks_up_what_the_pieces_spell(tiny):
    """RoBERTa's capitalised or punctuated words miss the lower-case table."""
    encodings = encode(tiny("roberta"), ["President greets", "lazy President."], "reference")
    table = fit_idf(encodings, [1, 1], "reference")
    words = ["".join(spelling) for spelling in encodings.spellings[0]]
    assert words == ["President", "greets"]
    assert table.of(encodings)[:2].tolist() == [table.missing, table.values["greets"]]
    assert table.values["greets"] > table.missing == table.values["president"]


def test_paper_idf_by_hand(tiny):
    corpus = ["the President greets the press", "The press, the press!", "Chicago press"]
    encodings = encode(tiny("roberta"), corpus, "paper")
    table = fit_idf(encodings, [2, 1, 1], "paper")
    assert table.values == pytest.approx(
        {
            "press": log(5 / 5) + 1,
            "president": log(5 / 3) + 1,
            "greets": log(5 / 3) + 1,
            "chicago": log(5 / 2) + 1,
        }
    )
    assert table.missing == pytest.approx(log(5 / 1) + 1)
    unseen = encode(tiny("roberta"), ["Press in Illinois"], "paper")
    assert table.of(unseen).tolist() == [table.values["press"], table.missing]


@pytest.mark.parametrize("kind", ["uniform", "norm", "idf"])
def test_weights_sum_to_one_in_every_sentence_with_words(tiny, kind):
    encodings = encode(tiny("bert"), ["", *SENTENCES, "to the"], "paper")
    norms = np.linalg.norm(encodings.vectors[1].data.astype(float), axis=1)
    table = fit_idf(encodings, [1] * 12, "paper")
    context = Context(None, Statistics("", tables={"idf": table}))
    weights = normalised(raw_weights(kind, encodings, norms, context))
    assert weights.lengths.tolist() == encodings.counts.tolist()
    np.testing.assert_allclose(weights.sums()[1:-1], 1)
    raw = {
        "uniform": np.ones(encodings.counts[1]),
        "norm": norms[: encodings.counts[1]],
        "idf": table.of(encodings)[: encodings.counts[1]],
    }[kind]
    np.testing.assert_allclose(weights[1], raw / raw.sum())


@pytest.mark.parametrize("bad", [np.nan, np.inf, 0.0])
def test_unusable_weights_name_the_sentence(tiny, bad):
    encodings = encode(tiny("bert"), ["quick fox", "lazy dog"], "paper")
    norms = np.array([1.0, 1.0, bad, bad])
    with pytest.raises(InputError, match="norm weights of 'lazy dog'"):
        raw_weights("norm", encodings, norms, Context(None, Statistics("")))


@pytest.mark.parametrize("recipe", ["paper", "reference"])
def test_idf_without_a_fit_is_that_of_the_language(tiny, recipe):
    encodings = encode(tiny("bert"), ["quick brown xqzzy"], recipe)
    found = raw_weights("idf", encodings, None, Context(None, Statistics(""), recipe=recipe))[0]
    table = load_frequencies()
    frequent, *known = 1 + table.idf(["the", "quick", "brown"])
    unseen = 1 + table.idf(["xqzzy"])[0] if recipe == "paper" else frequent
    assert found.tolist() == pytest.approx([*known, unseen])
    assert frequent < min(known) < max(known) < 1 + table.idf(["xqzzy"])[0]
