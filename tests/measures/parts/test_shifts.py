"""How words changed that moved, against plain loops and scikit-learn."""

import numpy as np
import pytest
from sklearn.decomposition import TruncatedSVD

from movers.arrays import Ragged
from movers.measures.parts.shifts import differences, principal, shifts, spreads

RANDOM = np.random.default_rng(5)
LENGTHS = [4, 6, 1, 5]
VECTORS = Ragged.from_rows([RANDOM.normal(size=(n, 24)).astype(np.float32) for n in LENGTHS])
ROWS = np.array([[0, 1], [3, 0], [2, 2], [1, 3], [2, 0]])
SHAPES = VECTORS.lengths[ROWS]
DIRECTIONS = np.linalg.qr(RANDOM.normal(size=(24, 3)))[0].T


def plan_of(shape):
    """A plan that leaves some words at home, and splits others."""
    plan = RANDOM.uniform(size=shape) * (RANDOM.uniform(size=shape) < 0.3)
    return plan / max(1.0, plan.sum(axis=0).max(), plan.sum(axis=1).max())


PLANS = [plan_of(shape) for shape in SHAPES]
PLANS[4] = np.zeros(SHAPES[4])  # nothing moved
PLAN = np.concatenate([plan.ravel() for plan in PLANS])


def test_shifts_agree_with_plain_loops():
    found = shifts(DIRECTIONS, VECTORS, ROWS, SHAPES, PLAN)
    for (one, other), plan, values in zip(ROWS, PLANS, found, strict=True):
        for direction, value in zip(DIRECTIONS, values, strict=True):
            total = 0.0
            for i, x in enumerate(VECTORS[one].astype(float)):
                for j, y in enumerate(VECTORS[other].astype(float)):
                    total += plan[i, j] * float((x - y) @ direction) ** 2
            mean = total / plan.sum() if plan.sum() else 0.0
            assert value == pytest.approx(np.sqrt(mean), abs=1e-12)


def test_differences_have_the_same_spreads():
    apart, mass = differences(VECTORS, ROWS, SHAPES, PLAN)
    along = spreads(Ragged(apart.data @ DIRECTIONS.T, apart.starts), mass)
    assert along == pytest.approx(shifts(DIRECTIONS, VECTORS, ROWS, SHAPES, PLAN), abs=1e-6)


def test_a_pair_has_the_same_bits_in_any_company():
    whole = shifts(DIRECTIONS, VECTORS, ROWS, SHAPES, PLAN, threads=2)
    for pair, plan in enumerate(PLANS):
        alone = slice(pair, pair + 1)
        found = shifts(DIRECTIONS, VECTORS, ROWS[alone], SHAPES[alone], plan.ravel())
        assert found.tobytes() == whole[alone].tobytes()


def test_the_way_back_shifts_as_far():
    back = np.concatenate([plan.T.ravel() for plan in PLANS])
    found = shifts(DIRECTIONS, VECTORS, ROWS[:, ::-1], SHAPES[:, ::-1], back)
    assert found == pytest.approx(shifts(DIRECTIONS, VECTORS, ROWS, SHAPES, PLAN), abs=1e-12)


def test_principal_directions_are_those_of_a_singular_value_decomposition():
    given = RANDOM.normal(size=(500, 24)) * np.linspace(3, 0.1, 24)
    found = principal(given, 5)
    known = TruncatedSVD(5, algorithm="arpack").fit(given).components_
    assert np.abs((found * known).sum(axis=1)) == pytest.approx(np.ones(5), abs=1e-9)


def test_no_more_directions_than_dimensions():
    assert principal(RANDOM.normal(size=(50, 24)), 32).shape == (24, 24)
