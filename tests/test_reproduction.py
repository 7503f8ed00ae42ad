"""Known numbers of the embedded model on public data."""

import numpy as np
import pytest
from scipy.stats import spearmanr
from sklearn.metrics import roc_auc_score

import movers


def normalised(text):
    return " ".join(text.split())


@pytest.fixture(scope="module")
def stsb(data):
    """Gold scores and pairs of the STS benchmark's test set."""
    lines = (data / "STSB" / "sts-test.csv").read_text("utf-8").splitlines()
    rows = [line.split("\t") for line in lines]
    assert len(rows) == 1379
    return np.array([float(row[4]) for row in rows]), [
        (normalised(row[5]), normalised(row[6])) for row in rows
    ]


@pytest.fixture(scope="module")
def paws(data):
    """Labels and pairs of PAWS-Wiki dev: the 1500 shortest, as the paper uses it."""
    lines = (data / "PAWSWiki" / "dev.tsv").read_text("utf-8").splitlines()[1:]
    rows = [line.split("\t") for line in lines]
    rows = [(normalised(a), normalised(b), int(label)) for _, a, b, label in rows]
    rows.sort(key=lambda row: (len(row[0].split()), len(row[1].split()), row[2]))
    rows = rows[:1500]
    assert np.mean([row[2] for row in rows]) == pytest.approx(0.4227, abs=5e-5)
    return np.array([row[2] for row in rows]), [row[:2] for row in rows]


def both_sides(pairs):
    return [a for a, _ in pairs] + [b for _, b in pairs]


@pytest.mark.published
def test_mean_pooling_on_stsb(embedded, stsb):
    gold, pairs = stsb
    texts = list(dict.fromkeys(both_sides(pairs)))
    states = embedded.encoder.states(texts, 6)
    pooled = {
        t: s.mean(axis=0) / np.linalg.norm(s.mean(axis=0))
        for t, s in zip(texts, states, strict=True)
    }
    cosines = [pooled[a] @ pooled[b] for a, b in pairs]
    assert 100 * spearmanr(cosines, gold).statistic == pytest.approx(82.03, abs=0.01)


@pytest.fixture(scope="module")
def stsb_reference(stsb):
    """Fitted on the test set itself, as published; one encoding serves every method."""
    scorer = movers.load("wsmd", recipe="reference", layers="all", empty="nan")
    return scorer.fit(both_sides(stsb[1]))


@pytest.mark.parametrize(
    ("method", "published"),
    [
        ("wmd", 73.72),
        ("wmd-idf", 74.28),
        ("wrd", 79.15),
        ("wrd-idf", 78.82),
        ("smd", 42.45),
        ("average", 80.41),
        ("bertscore", 73.45),
        ("dynamax", 78.69),
    ],
)
@pytest.mark.filterwarnings("ignore::movers.runtime.notices.UndefinedWarning")
def test_stsb_by_the_reference_recipe(stsb, stsb_reference, method, published):
    gold, pairs = stsb
    scorer = stsb_reference.using(method)
    distances = scorer.distances(pairs)
    there = ~np.isnan(distances)
    assert there.sum() == 1362
    found = 100 * spearmanr(-distances[there], gold[there]).statistic
    assert found == pytest.approx(published, abs=0.05)


@pytest.mark.published
@pytest.mark.parametrize(
    ("base", "embedding", "recipe", "words", "layers"),
    [
        ("wrd", 6, "paper", 66.02, {2: 76.36, 6: 66.24}),
        ("wmd", 0, "reference", 60.66, {2: 63.30, 4: 61.52}),
    ],
)
def test_paws_wiki(paws, base, embedding, recipe, words, layers):
    labels, pairs = paws
    both = movers.load(
        f"wsmd-{base}", embedding=embedding, recipe=recipe, layers=[*layers], whitening="clean"
    ).fit(both_sides(pairs))
    values = both.head_values(pairs).reshape(len(pairs), 2, 12).mean(axis=2)
    found = [100 * roc_auc_score(labels, -column) for column in values.T]
    assert found == pytest.approx([*layers.values()], abs=0.15)
    alone = both.using(base).distances(pairs)
    assert 100 * roc_auc_score(labels, -alone) == pytest.approx(words, abs=0.15)
