"""Cuts against counting by hand."""

import numpy as np
import pytest

import movers
from movers.errors import InputError
from movers.evaluate.thresholds import thresholds_of_corpus, thresholds_of_pairs
from tiny_models import PAIRS, SENTENCES


@pytest.fixture(scope="module")
def bow():
    return movers.load("bow")


@pytest.fixture(scope="module")
def labels():
    return (np.random.default_rng(0).random(len(PAIRS)) < 0.5).astype(float)


@pytest.mark.parametrize("precision", [0.3, 0.6, 0.9])
def test_the_recommended_cut_is_the_largest_that_is_precise_enough(bow, labels, precision):
    found = thresholds_of_pairs(bow, PAIRS, labels, precision=precision)
    distances = bow.distances(PAIRS)

    def right(cut):
        return labels[distances <= cut].mean()

    good = [cut for cut in distances if right(cut) >= precision]
    assert found.recommended == (max(good) if good else None)
    assert found.best == pytest.approx(max(map(right, distances)))
    for cut in found.cuts:
        inside = distances <= cut.threshold
        assert cut.pairs == inside.sum() and cut.share == pytest.approx(inside.mean())
        assert cut.precision == pytest.approx(labels[inside].mean())
        assert cut.recall == pytest.approx(labels[inside].sum() / labels.sum())


def test_pairs_around_a_cut_are_its_neighbours(bow, labels):
    cut = float(np.median(bow.distances(PAIRS)))
    found = thresholds_of_pairs(bow, PAIRS, labels, cut=cut)
    assert found.cut == cut
    ranked = np.sort(bow.distances(PAIRS))
    expected = [*ranked[ranked <= cut][-5:], *ranked[ranked > cut][:5]]
    assert [near.distance for near in found.around] == expected
    assert thresholds_of_pairs(bow, PAIRS).recommended is None


def test_a_corpus_tells_how_near_its_sentences_are(bow):
    found = thresholds_of_corpus(bow, [*SENTENCES, *SENTENCES])
    texts = list(dict.fromkeys(SENTENCES))
    matrix = bow.matrix(texts)
    np.fill_diagonal(matrix, np.inf)
    for cut in found.cuts:
        assert cut.pairs == (matrix <= cut.threshold).sum() / 2
        assert cut.share == pytest.approx((matrix.min(axis=1) <= cut.threshold).mean())
    assert thresholds_of_corpus(bow, SENTENCES, sample=5).about.startswith("5 of ")
    assert found.to_dict()["cuts"][0].keys() >= {"threshold", "pairs", "precision"}


def test_what_cannot_be_cut_is_told(bow):
    with pytest.raises(InputError, match=r"labels must be 0 or 1.*found 2.5"):
        thresholds_of_pairs(bow, PAIRS[:2], [2.5, 0])
    with pytest.raises(InputError, match="two different sentences"):
        thresholds_of_corpus(bow, ["a dog", "a dog"])
    with pytest.raises(InputError, match="precision must lie"):
        thresholds_of_pairs(bow, PAIRS[:2], [1, 0], precision=2)


def test_a_string_is_no_corpus(bow):
    with pytest.raises(InputError, match="must be a list of sentences, got one string"):
        thresholds_of_corpus(bow, "a dog barks")


def test_labels_may_be_written_out_and_are_counted(bow):
    found = thresholds_of_pairs(bow, PAIRS[:2], ["yes", "no"])
    assert found == thresholds_of_pairs(bow, PAIRS[:2], [1, 0])
    with pytest.raises(InputError, match="there are 1 labels while there are 2 pairs"):
        thresholds_of_pairs(bow, PAIRS[:2], [1])
