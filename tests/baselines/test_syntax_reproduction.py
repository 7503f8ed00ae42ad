"""Known numbers of the embedded model on STSB with trees: the reference recipe."""

import numpy as np
import pytest
from scipy.stats import spearmanr

import movers

FOUND = {"wmdo": 78.21, "rots": 79.83, "synwmd": 79.63, "synwmd-cos": 79.08}


@pytest.fixture(scope="module")
def stsb(data):
    lines = (data / "STSB" / "sts-test.csv").read_text("utf-8").splitlines()
    rows = [line.split("\t") for line in lines]
    gold = np.array([float(row[4]) for row in rows])
    return gold, [(" ".join(row[5].split()), " ".join(row[6].split())) for row in rows]


@pytest.fixture(scope="module")
def fitted(data, stsb):
    """Fitted on the test set itself, as published; pairs without words on a side are left out."""
    parser = data / "parses" / "STSB_test.conllu.gz"
    counts = data / "sif" / "enwiki_vocab_min200.txt"
    scorer = movers.load("wmd", recipe="reference", parser=parser, empty="nan")
    scorer = scorer.using(frequencies=counts)
    scorer.fit([a for a, _ in stsb[1]] + [b for _, b in stsb[1]])
    return scorer, np.isfinite(scorer.distances(stsb[1]))


@pytest.mark.filterwarnings("ignore::movers.notices.UndefinedWarning")
@pytest.mark.parametrize("method", FOUND)
def test_stsb(stsb, fitted, method):
    gold, pairs = stsb
    scorer, there = fitted
    other = scorer.using(method).fit([a for a, _ in pairs] + [b for _, b in pairs])
    distances = other.distances(pairs)[there]
    assert len(distances) == 1362
    found = 100 * spearmanr(-distances, gold[there]).statistic
    assert found == pytest.approx(FOUND[method], abs=0.1)
