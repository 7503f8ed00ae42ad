"""Order-preserving Wasserstein distance: intended, and as published."""

import numpy as np
import pytest

import movers
from movers.arrays import Ragged
from movers_research.baselines.opwd import Grid, log_kernel, shares_of_largest
from tiny_models import PAIRS, SENTENCES


@pytest.fixture(scope="module")
def scorer(tiny):
    return movers.load("opwd", tiny("bert")).fit(SENTENCES)


def plain_log_kernel(cost):
    n, m = cost.shape
    out = np.zeros((n, m))
    for i, j in np.ndindex(n, m):
        away = abs(i / n - j / m) / np.sqrt(1 / n**2 + 1 / m**2)
        p = np.exp(-(away**2) / (2 * 10**2)) / (10 * np.sqrt(2 * np.pi))
        s = 10 / ((i / n - j / m) ** 2 + 1)
        out[i, j] = np.log(p) + (s - cost[i, j]) / 0.03
    return out


def plain_distance(cost, largest=1.0):
    """Twenty rounds with u = 1/n and v = 1/m, on a kernel shifted into range."""
    n, m = cost.shape
    logs = plain_log_kernel(cost / largest)
    kernel = np.exp((logs - logs.max()).astype(np.longdouble))
    b = np.full(m, 1 / m, np.longdouble)
    for _ in range(20):
        a = 1 / n / (kernel @ b)
        b = 1 / m / (kernel.T @ a)
    return float((a[:, None] * kernel * b * cost).sum())


def test_the_kernel_by_its_definition():
    rng = np.random.default_rng(0)
    costs = [rng.random(shape) for shape in ((3, 5), (1, 2), (4, 4))]
    grid = Grid.of(np.array([cost.shape for cost in costs]))
    found = log_kernel(np.concatenate([cost.ravel() for cost in costs]), grid)
    expected = np.concatenate([plain_log_kernel(cost).ravel() for cost in costs])
    assert found == pytest.approx(expected)


@pytest.mark.parametrize(("name", "cost"), [("opwd", "l2"), ("opwd-cos", "cosine")])
def test_distances_by_their_definition(scorer, name, cost):
    other = scorer.using(name)
    base = scorer.using("wmd")
    for source, target in PAIRS[:8]:
        measured = base.weigh([source, target])
        x, y = (
            measured.vectors[measured.encodings.rows[t]].astype(float) for t in (source, target)
        )
        if cost == "l2":
            matrix = np.linalg.norm(x[:, None] - y, axis=2)
        else:
            x, y = (side / np.linalg.norm(side, axis=1, keepdims=True) for side in (x, y))
            matrix = np.maximum(0, 1 - x @ y.T)
        assert other.compare(source, target).distance == pytest.approx(
            plain_distance(matrix, matrix.max() if cost == "l2" else 1.0), rel=1e-5
        )


@pytest.mark.parametrize("name", ["opwd", "opwd-cos"])
def test_shuffled_words_are_farther(scorer, name):
    one, other = "fox dog brother house soup", "soup house brother dog fox"
    ordered = scorer.using(name)
    assert ordered.compare(one, other).distance > ordered.compare(one, one).distance


@pytest.mark.parametrize(("name", "free"), [("opwd", "wmd"), ("opwd-cos", "wrd")])
def test_a_swap_of_words_is_dearer_than_without_regard_to_order(embedded, name, free):
    swap = "the cat chased the dog in the garden", "the dog chased the cat in the garden"
    found = embedded.using(name).compare(*swap).distance
    assert found > 1.2 * embedded.using(free).compare(*swap).distance


def test_a_swap_counts_whatever_the_unit_of_the_vectors():
    rng = np.random.default_rng(1)
    points = rng.normal(size=(6, 400))
    cost = np.linalg.norm(points[:, None] - points[[1, 0, 2, 3, 4, 5]], axis=2)
    for unit in (1.0, 1e-3, 1e3):
        flat = Ragged((unit * cost).ravel(), np.array([0, 36]))
        grid = Grid.of(np.array([[6, 6]]))
        found = log_kernel(shares_of_largest(flat), grid)
        np.testing.assert_allclose(found, plain_log_kernel(cost / cost.max()).ravel(), rtol=1e-9)
    assert not shares_of_largest(Ragged(np.zeros(4), np.array([0, 4]))).any()
    assert len(shares_of_largest(Ragged(np.zeros(0), np.array([0])))) == 0


def test_the_published_rows_are_word_movers(tiny):
    scorer = movers.load("opwd", tiny("bert"), recipe="reference").fit(SENTENCES)
    assert np.array_equal(scorer.distances(PAIRS), scorer.using("wmd").distances(PAIRS))
    assert scorer.compare(*PAIRS[0]).method == "opwd"


def test_plans_have_the_target_marginals(scorer):
    plan = scorer.compare(*PAIRS[0]).plan
    assert plan.sum(axis=0) == pytest.approx(np.full(plan.shape[1], 1 / plan.shape[1]))
