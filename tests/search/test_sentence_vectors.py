"""Stored vectors: put together to the last bit, and bounds that no distance lies below."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from movers.measures.sentences import sentence_distances
from movers.search.corpus import Corpus, Shard
from movers.search.cosine import scan
from movers.search.vectors import StoredVectors, put_together, taken_apart
from movers.search.walk import Nearest, walk


@given(st.lists(st.floats(width=32), min_size=1, max_size=40))
def test_halves_give_the_number_back(numbers):
    whole = np.array(numbers, np.float32)
    again = put_together(*taken_apart(whole))
    np.testing.assert_array_equal(again.view(np.int32), whole.view(np.int32))


def vectors_of(seed, count, dimension=48):
    """Vectors of all lengths, some of them the same, nearly the same, or nothing."""
    rng = np.random.default_rng(seed)
    found = rng.standard_normal((count, dimension)) * 10 ** rng.uniform(-3, 3, (count, 1))
    found[1], found[2], found[3] = found[0], 3 * found[0], found[0] * (1 + 1e-4)
    found[4] = 0
    found[5] *= 1e-25
    return found.astype(np.float32)


def distances(pooled, row):
    targets = np.arange(len(pooled))
    return sentence_distances(pooled, np.stack([np.full_like(targets, row), targets], axis=1))


@pytest.mark.parametrize("precision", ["float32", "int8"])
@given(seed=st.integers(0, 10_000))
def test_bounds_lie_below_the_distances_of_the_vectors(precision, seed):
    pooled = vectors_of(seed, 60)
    stored = StoredVectors.of(pooled, precision)
    corpus = Corpus([Shard.of([str(row) for row in range(60)], vectors=stored)])
    truth = np.stack([distances(pooled, row) for row in range(60)])
    for rows in (np.arange(60), np.array([0]), np.array([7])):  # many queries, or one
        for row, found in zip(rows, scan(corpus, pooled[rows], 60), strict=True):
            assert sorted(found.rows.tolist()) == list(range(60)) and np.isinf(found.rest)
            assert np.all(found.bounds <= truth[row][found.rows])
    slack = 0.01 if precision == "float32" else 0.1
    sound = scan(corpus, pooled[7:8], 60)[0]
    tight = np.isfinite(sound.bounds)
    assert np.all(truth[7][sound.rows[tight]] - sound.bounds[tight] < slack)
    if precision == "float32":
        np.testing.assert_array_equal(stored.pooled(slice(None)), pooled)


@given(st.integers(0, 1000), st.integers(1, 30))
def test_the_lowest_are_kept_whatever_their_order(seed, wanted):
    rng = np.random.default_rng(seed)
    pooled = rng.integers(-2, 3, (400, 3)).astype(np.float32)  # many of the same direction
    parts = [pooled[low : low + 37] for low in range(0, 400, 37)]
    shards = [
        Shard.of([str(row) for row in range(len(one))], vectors=StoredVectors.of(one))
        for one in parts
    ]
    hidden = np.sort(rng.choice(400, 50, replace=False))
    query = np.ones((1, 3), np.float32)
    every = scan(Corpus(shards, hidden), query, 400)[0]
    assert sorted(every.rows.tolist()) == sorted({*range(400)} - {*hidden.tolist()})
    found = scan(Corpus(shards, hidden), query, wanted)[0]
    assert found.bounds.tolist() == every.bounds[:wanted].tolist()
    assert found.rest == every.bounds[wanted]
    known = dict(zip(every.rows.tolist(), every.bounds.tolist(), strict=True))
    assert [known[row] for row in found.rows.tolist()] == found.bounds.tolist()


def listing(bounds):
    """A source that knows some lower bounds."""

    def nearest(count):
        order = np.argsort(bounds, kind="stable")
        rest = bounds[order[count]] if count < len(order) else np.inf
        return Nearest(order[:count], bounds[order[:count]], float(rest))

    return nearest


@given(st.integers(0, 10_000), st.integers(1, 40), st.sampled_from([None, 1, 10, 70, 150]))
def test_a_walk_finds_what_sorting_finds(seed, wanted, budget):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 12, 300) / 8  # many ties
    source, seen = listing(truth * rng.uniform(0.5, 1, 300)), []

    def compare(rows):
        seen.extend(rows.tolist())
        return truth[rows]

    found = walk(source, compare, wanted=wanted, budget=budget)
    assert len(seen) == len(set(seen)) and (budget is None or len(seen) <= budget)
    best = np.argsort(truth, kind="stable")[:wanted]
    if found.certified:
        assert found.rows.tolist() == best.tolist()
    else:
        assert budget is not None
        assert found.bound <= min(truth[sorted(set(range(300)) - set(seen))])
    within = walk(source, truth.__getitem__, wanted=300, within=0.5)
    expected = [row for row in np.argsort(truth, kind="stable") if truth[row] <= 0.5]
    assert within.rows.tolist() == expected
