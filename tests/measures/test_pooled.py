"""Measures of one vector per sentence, against their definitions written out in loops."""

from collections import Counter

import numpy as np
import pytest
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import CountVectorizer

import movers
from movers.measures.parts.frequencies import load_frequencies
from movers.runtime.notices import UnfittedWarning
from tiny_models import PAIRS, SENTENCES

TEXTS = [*SENTENCES, *SENTENCES[:3]]
METHODS = ["bow", "average", "cls", "sif", "usif", "conceptor"]
RECIPES = ["paper", "reference"]


@pytest.fixture(scope="module")
def counts(tmp_path_factory):
    """A small table of word counts with a few frequent words."""
    words = Counter(word for text in SENTENCES for word in text.lower().split())
    rare = {f"rare{k}": 1 for k in range(400)}
    path = tmp_path_factory.mktemp("frequencies") / "counts.txt"
    table = {word: 300 * count for word, count in words.items()} | rare
    path.write_text("\n".join(f"{word} {count}" for word, count in table.items()), "utf-8")
    return path


@pytest.fixture(scope="module", params=RECIPES)
def base(request, tiny, counts):
    return movers.load("wmd", tiny("bert"), recipe=request.param, frequencies=counts).fit(TEXTS)


@pytest.fixture(scope="module", params=RECIPES)
def roberta(request, tiny):
    return movers.load("cls", tiny("roberta"), recipe=request.param).fit(TEXTS)


def vectors_of(scorer):
    measured = scorer.weigh(SENTENCES)
    found = measured.encodings
    return {text: measured.vectors[row].astype(float) for text, row in found.rows.items()}, found


def cosine_distance(a, b):
    return 1 - a @ b / (np.linalg.norm(a) * np.linalg.norm(b))


def check(scorer, sentence_vectors):
    expected = [cosine_distance(sentence_vectors[a], sentence_vectors[b]) for a, b in PAIRS]
    np.testing.assert_allclose(scorer.distances(PAIRS), expected, atol=1e-10)


def weights_of(scorer, kind):
    table = load_frequencies(scorer.settings.frequencies)
    encodings = scorer.weigh(SENTENCES).encodings
    paper = scorer.settings.recipe == "paper"
    return {
        text: getattr(table, kind)(
            [word.lower() for word in encodings.surface(row)] if paper else encodings.spellings[row]
        )
        for text, row in encodings.rows.items()
    }


def test_average(base):
    scorer = base.using("average")
    vectors, _ = vectors_of(scorer)
    check(scorer, {text: rows.mean(axis=0) for text, rows in vectors.items()})


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
    expected = [cosine_distance(first[a], first[b]) for a, b in PAIRS]
    np.testing.assert_allclose(scorer.distances(PAIRS), expected, atol=tolerance)


def test_start_token_of_roberta_is_a_piece_of_text_as_coded(roberta):
    place = 0 if roberta.settings.recipe == "paper" else 1
    vectors, _ = vectors_of(roberta)
    check(roberta, {text: rows[place] for text, rows in vectors.items()})


def components_by_sklearn(matrix, number):
    svd = TruncatedSVD(number, algorithm="arpack", random_state=0).fit(matrix)
    return svd.components_, svd.singular_values_**2 / np.sum(svd.singular_values_**2)


@pytest.mark.parametrize(("name", "number"), [("sif", 1), ("usif", 5)])
def test_common_components(base, name, number):
    scorer = base.using(name).fit(TEXTS)
    vectors, _ = vectors_of(scorer)
    weights = weights_of(scorer, name)
    if paper := scorer.settings.recipe == "paper":
        if name == "usif":
            vectors = {t: rows / np.linalg.norm(rows, axis=0) for t, rows in vectors.items()}
        words = {t: weights[t] for t in vectors}
    else:
        words = {t: weights[t] / len(weights[t]) for t in vectors}
    sums = {
        t: sum(w * v for w, v in zip(words[t], rows, strict=True)) / (len(rows) if paper else 1)
        for t, rows in vectors.items()
    }
    directions, shares = components_by_sklearn(np.array([sums[t] for t in TEXTS]), number)
    found = {}
    for text, rows in vectors.items():
        if paper:
            kept = sums[text].copy()
            for c, share in zip(directions, shares, strict=True):
                kept -= share * (sums[text] @ c) * c
        else:
            kept = np.zeros_like(sums[text])
            for w, v in zip(words[text], rows, strict=True):
                for c, share in zip(directions, shares, strict=True):
                    v = v - share * w / words[text].sum() * (v @ c) * c
                kept += w * v
        found[text] = kept
    check(scorer, found)


def test_conceptor(base):
    scorer = base.using("conceptor").fit(TEXTS)
    vectors, _ = vectors_of(scorer)
    weights = weights_of(scorer, "sif")
    means = {t: weights[t] @ rows for t, rows in vectors.items()}
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
    expected = [cosine_distance(means[a], means[b]) for a, b in PAIRS]
    np.testing.assert_allclose(scorer.distances(PAIRS), expected, atol=1e-6)


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


@pytest.mark.parametrize("name", ["sif", "usif"])
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


def test_conceptor_without_moments_says_what_to_do(tiny):
    scorer = movers.load("conceptor", tiny("bert"))
    with pytest.warns(UnfittedWarning, match=r"conceptor needs .*call fit\(sentences\)"):
        assert np.isfinite(scorer.distances(PAIRS)).all()


def test_signatures_name_frequencies_and_components(bert, counts):
    plain = bert.using("sif").fit(TEXTS)
    other = bert.using("sif", frequencies=counts).fit(TEXTS)
    assert "frequencies:wordfreq-" in str(plain.signature)
    assert "frequencies:counts.txt@" in str(other.signature)
    few = bert.using("sif").fit([*SENTENCES[:9], *SENTENCES[3:9]])
    assert "fitted:" in str(few.signature)
    assert dict(few.signature.fields)["fitted"] != dict(plain.signature.fields)["fitted"]


@pytest.mark.parametrize("name", ["average", "sif", "usif", "conceptor"])
def test_no_bit_depends_on_company_at_full_size(embedded, name):
    scorer = embedded.using(name, statistics=None)
    if name in ("sif", "usif"):
        scorer.fit(TEXTS)
    together = scorer.distances(PAIRS)
    assert [scorer.distances([pair])[0] for pair in PAIRS[::6]] == together[::6].tolist()
