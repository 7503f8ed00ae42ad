"""Cost matrices against scipy, and the mean cost against the matrix with its zero rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from movers.arrays import Ragged
from movers.measures.parts.costs import mean_costs, norms_of, pair_costs

KINDS = ["l2", "cosine"]


def sentences(seed, dimension=8):
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, 6, 5)
    return Ragged.from_rows([rng.normal(size=(n, dimension)) for n in lengths], np.float32)


def all_pairs(vectors):
    a, b = np.indices((len(vectors), len(vectors))).reshape(2, -1)
    return a, b


def scipy_cost(kind, x, y):
    return cdist(x.astype(float), y.astype(float), "euclidean" if kind == "l2" else kind)


@pytest.mark.parametrize("kind", KINDS)
@given(seed=st.integers(0, 10**6), threads=st.sampled_from([1, 2, None]))
def test_costs_are_those_of_scipy(kind, seed, threads):
    vectors = sentences(seed)
    a, b = all_pairs(vectors)
    found = pair_costs(kind, vectors, norms_of(vectors), a, b, threads=threads)
    for row, (i, j) in enumerate(zip(a, b, strict=True)):
        expected = scipy_cost(kind, vectors[i], vectors[j])
        np.testing.assert_allclose(found[row], expected.ravel(), rtol=1e-9, atol=1e-12)
        if i == j:
            diagonal = found[row].reshape(expected.shape).diagonal()
            assert (diagonal >= 0).all() and (diagonal < 1e-15 + (kind == "cosine") * 1e-12).all()


@pytest.mark.parametrize(("kind", "expected"), [("l2", [0, 5, 5, 0]), ("cosine", [0, 0, 0, 0])])
def test_the_zero_vector(kind, expected):
    vectors = Ragged.from_rows([[[0, 0], [3, 4]]], np.float32)
    zero = np.array([0])
    found = pair_costs(kind, vectors, norms_of(vectors), zero, zero)
    assert found.data.tolist() == expected


@pytest.mark.parametrize("kind", KINDS)
def test_opposite_vectors_are_farthest(kind):
    vectors = Ragged.from_rows([[[1, 0]], [[-1, 0]]], np.float32)
    assert pair_costs(kind, vectors, norms_of(vectors), np.array([0]), np.array([1])).data == [2]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("recipe", ["paper", "reference"])
def test_mean_cost_is_the_mean_over_zeroed_tokens_too(kind, recipe):
    vectors = sentences(3)
    a, b = all_pairs(vectors)
    idle = np.array([0, 3, 1, 7, 2]) if recipe == "reference" else np.zeros(5, int)
    norms = norms_of(vectors)
    costs = pair_costs(kind, vectors, norms, a, b)
    sizes = vectors.lengths + idle
    found = mean_costs(kind, costs, Ragged(norms, vectors.starts), sizes, a, b)
    for row, (i, j) in enumerate(zip(a, b, strict=True)):
        x, y = (np.pad(vectors[k].astype(float), ((0, idle[k]), (0, 0))) for k in (i, j))
        with np.errstate(invalid="ignore"):
            full = np.nan_to_num(scipy_cost(kind, x, y), nan=0.0)
        assert full.shape == (sizes[i], sizes[j])
        np.testing.assert_allclose(found[row], full.mean(), rtol=1e-9)
