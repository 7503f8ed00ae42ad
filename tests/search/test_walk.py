"""Walks along lower bounds: exact where they may be, and always at an end."""

import numpy as np
import pytest

from movers.search.walk import Nearest, walk


class Coarse:
    """Sentences with exact bounds that are offered so many at a time; of the rest it knows less."""

    def __init__(self, distances, error):
        self.distances, self.error = np.asarray(distances), error

    def nearest(self, count):
        rows = np.argsort(self.distances, kind="stable")
        rest = self.distances[rows[count]] - self.error if count < len(rows) else np.inf
        return Nearest(rows[:count], self.distances[rows[:count]], rest)


@pytest.mark.timeout(60)
@pytest.mark.parametrize("error", [0.0, 0.45])
@pytest.mark.parametrize("budget", [None, 1, 5, 6, 64, 70, 200])
def test_walks_end_whatever_is_known_of_the_rest(budget, error):
    distances = np.random.default_rng(0).permutation(200) / 10
    compared = []

    def compare(rows):
        compared.extend(rows.tolist())
        return distances[rows]

    found = walk(Coarse(distances, error).nearest, compare, wanted=5, budget=budget)
    assert len(compared) == len(set(compared)) <= (budget or 200)
    np.testing.assert_array_equal(found.rows, np.argsort(distances)[: min(5, budget or 5)])
    np.testing.assert_array_equal(found.distances, distances[found.rows])
    assert not found.certified or (budget or 200) >= 5
    if budget is None:
        assert found.certified
