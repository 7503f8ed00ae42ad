"""Measures of one vector per sentence, against their definitions written out in loops."""

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer

import movers
from movers.measures.parts.word_tables import load_frequencies
from movers.measures.pooled import ComponentRemoval, Pooled
from movers.runtime.notices import UnfittedWarning
from sentence_vectors import (
    TEXTS,
    check,
    check_removal,
    cosine_distance,
    vectors_of,
    words_of,
    write_counts,
)
from tiny_models import PAIRS, SENTENCES

REMOVING = [name for name, row in movers.METHODS.items() if isinstance(row, ComponentRemoval)]
METHODS = ["bow", *(name for name, row in movers.METHODS.items() if isinstance(row, Pooled))]
RECIPES = ["paper", "reference"]


@pytest.fixture(scope="module")
def counts(tmp_path_factory):
    return write_counts(tmp_path_factory.mktemp("frequencies") / "counts.txt")


@pytest.fixture(scope="module", params=RECIPES)
def base(request, tiny, counts):
    return movers.load("wmd", tiny("bert"), recipe=request.param, frequencies=counts).fit(TEXTS)


def test_average(base):
    scorer = base.using("average")
    check(scorer, {text: rows.mean(axis=0) for text, rows in vectors_of(scorer).items()})


def test_common_components(base):
    scorer = base.using("sif").fit(TEXTS)
    table = load_frequencies(scorer.settings.frequencies)
    weights = {text: table.sif(words) for text, words in words_of(scorer).items()}
    check_removal(scorer, weights, 1)


def test_bag_of_words(base):
    scorer = base.using("bow")
    encodings = scorer.weigh(SENTENCES).encodings
    paper = scorer.settings.recipe == "paper"
    bags = {
        text: " ".join(encodings.surface(row) if paper else encodings.spellings[row])
        for text, row in encodings.rows.items()
    }
    for (a, b), found in zip(PAIRS, scorer.distances(PAIRS), strict=True):
        vectorizer = CountVectorizer(token_pattern=r"\b\w+\b")
        x, y = vectorizer.fit_transform([bags[a], bags[b]]).toarray().astype(float)
        assert found == pytest.approx(cosine_distance(x, y), abs=1e-9)


def test_bags_compare_words_or_their_first_pieces(base):
    first, second = "Dogs lazy", "lazy dogma"
    found = base.using("bow").compare(first, second)
    whole = base.settings.recipe == "paper"
    assert found.distance == pytest.approx(0.5 if whole else 0.0)
    assert (found.source_words == ("Dogs", "lazy")) == whole


def test_bags_need_no_forward_pass(tiny, monkeypatch):
    scorer = movers.load("bow", tiny("bert"))
    monkeypatch.setattr(scorer.encoder, "_forward", None)
    assert scorer.distances([("never seen dogs", "lazy dogs")])[0] > 0


@pytest.mark.parametrize("name", METHODS)
def test_every_way_to_ask_gives_the_same(base, name):
    scorer = base.using(name).fit(TEXTS)
    forth = scorer.distances(PAIRS)
    np.testing.assert_allclose(scorer.distances([(b, a) for a, b in PAIRS]), forth, atol=1e-12)
    assert (forth >= 0).all() and forth.max() > 0.01
    for number in (0, 11):
        assert (
            base.using(name, statistics=scorer.statistics).distances([PAIRS[number]])[0]
            == (forth[number])
        )
    same = scorer.distances([(text, text) for text in [*SENTENCES, "dog"]])
    np.testing.assert_allclose(same, 0, atol=1e-9)
    assert np.isfinite(scorer.distances([("dog", "fox"), ("dog", SENTENCES[3])])).all()


@pytest.mark.parametrize("name", METHODS)
def test_fit_freezes_and_survives_saving(tiny, counts, tmp_path, name):
    scorer = movers.load(name, tiny("bert"), frequencies=counts).fit(TEXTS)
    before, signature = scorer.distances(PAIRS), scorer.signature
    scorer.distances([("quite other words", "come and go")] * 3)
    np.testing.assert_array_equal(scorer.distances(PAIRS), before)
    scorer.save(tmp_path / "statistics")
    again = movers.load(name, tiny("bert"), frequencies=counts, statistics=tmp_path / "statistics")
    np.testing.assert_allclose(again.distances(PAIRS), before, atol=1e-12)
    assert again.signature == signature == scorer.signature


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.filterwarnings("ignore::movers.runtime.notices.UndefinedWarning")
def test_empty_sides_have_no_distance(base, name):
    scorer = base.using(name).fit(TEXTS)
    found = scorer.distances([("", "lazy dog"), ("lazy dog", ""), SENTENCES[:2]])
    assert np.isnan(found).tolist() == [True, True, False]


@pytest.mark.parametrize("name", REMOVING)
def test_components_suit_one_layer_and_recipe(bert, name):
    fresh = bert.using(name)
    with pytest.warns(UnfittedWarning, match=rf"{name} removes .*call fit\(sentences\)"):
        whole = fresh.distances(PAIRS)
    assert dict(fresh.signature.fields)["fitted"] == "none"
    fitted = fresh.fit(TEXTS)
    assert not np.allclose(fitted.distances(PAIRS), whole)
    for change in ({"embedding": 0}, {"recipe": "reference"}):
        with pytest.warns(UnfittedWarning, match=r"call fit\(sentences\)"):
            fitted.using(**change).distances(PAIRS)


def test_signatures_name_frequencies_and_components(bert, counts):
    plain = bert.using("sif").fit(TEXTS)
    other = bert.using("sif", frequencies=counts).fit(TEXTS)
    assert "frequencies:wordfreq-" in str(plain.signature)
    assert "frequencies:counts.txt@" in str(other.signature)
    few = bert.using("sif").fit([*SENTENCES[:9], *SENTENCES[3:9]])
    assert "fitted:" in str(few.signature)
    assert dict(few.signature.fields)["fitted"] != dict(plain.signature.fields)["fitted"]


@pytest.mark.parametrize("name", METHODS)
def test_no_bit_depends_on_company_at_full_size(embedded, name):
    scorer = embedded.using(name, statistics=None)
    if name in REMOVING:
        scorer.fit(TEXTS)
    together = scorer.distances(PAIRS)
    assert [scorer.distances([pair])[0] for pair in PAIRS[::6]] == together[::6].tolist()
