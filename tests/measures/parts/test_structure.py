"""Head selection, the scale of structure, and attention variability."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from movers.errors import InputError
from movers.measures.parts.structure import (
    attention_variability,
    contextual_layers,
    describe_numbers,
    select_heads,
)
from movers.measures.structural_transport import structure_errors, structure_scales


def chosen(layers, heads="1", **options):
    return [layer for layer, _ in select_heads(layers, heads, available=(12, 4), **options)]


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        ("5", [5]),
        ("5-12", [5, 6, 7, 8, 9, 10, 11, 12]),
        ("1,3,5-6", [1, 3, 5, 6]),
        (" 2 - 3 , 1 ", [1, 2, 3]),
        ("all", list(range(1, 13))),
        ("3,3,2-3", [2, 3]),
        (7, [7]),
        (np.int64(7), [7]),
        ([2, 1], [1, 2]),
        (np.array([2, 1]), [1, 2]),
        (range(1, 4), [1, 2, 3]),
    ],
)
def test_choices_of_layers(choice, expected):
    assert chosen(choice) == expected
    assert all(type(layer) is int for layer in chosen(choice))


def test_heads_are_taken_in_every_layer():
    found = select_heads("2,4", "1,3", available=(4, 4))
    assert found == ((2, 1), (2, 3), (4, 1), (4, 3))


@pytest.mark.parametrize(
    ("layers", "heads", "message"),
    [
        ("13", "1", "layer 13 is out of range; the model has layers 1 to 12"),
        ("0", "1", "layer 0 is out of range"),
        ("11-14", "1", "layer 13, 14 is out of range"),
        ("11-99999999999999", "1", "layer 13, 14, 15"),
        ([], "1", "out of range; the model has layers 1 to 12"),
        ("1", "5", "head 5 is out of range; the model has heads 1 to 4"),
        ("", "1", "cannot read layers ''; write '5', '5-12', '1,3,5-6' or 'all' or 'BV'"),
        ("last", "1", "cannot read layers 'last'"),
        ("5-2", "1", "cannot read layers '5-2'"),
        ("-1", "1", "cannot read layers '-1'"),
        ("1", "BV", "cannot read heads 'BV'; write '5', '5-12', '1,3,5-6' or 'all'$"),
        ("BV", "1", "need attention variability"),
        (1.5, "1", "layer"),
        ([1.5], "1", "layer"),
        (None, "1", "layer"),
    ],
)
def test_bad_choices_say_what_exists(layers, heads, message):
    with pytest.raises(InputError, match=message):
        select_heads(layers, heads, available=(12, 4))


@given(st.sets(st.integers(1, 30), min_size=1))
def test_described_numbers_read_back(numbers):
    text = describe_numbers(numbers)
    layers = [layer for layer, _ in select_heads(text, "1", available=(30, 1))]
    assert layers == sorted(numbers)


def encoded(matrices):
    """Full attention matrices by sentence, each (heads, n, n), as the encodings sum them up."""
    return SimpleNamespace(
        sums=np.array([m.sum(axis=(1, 2)) for m in matrices]),
        squares=np.array([np.square(m).sum(axis=(1, 2)) for m in matrices]),
        sizes=np.array([m.shape[1] for m in matrices]),
    )


def test_structure_error_is_the_mean_over_quadruples():
    rng = np.random.default_rng(0)
    matrices = [rng.dirichlet(np.ones(n), (3, n)) for n in (2, 3, 5)]
    sources, targets = np.array([0, 1, 2, 2]), np.array([1, 2, 2, 0])
    found = structure_errors(encoded(matrices), sources, targets)
    for pair, (a, b) in enumerate(zip(sources, targets, strict=True)):
        for head in range(3):
            A, B = matrices[a][head], matrices[b][head]
            brute = np.mean([(x - y) ** 2 for x in A.ravel() for y in B.ravel()])
            np.testing.assert_allclose(found[pair, head], brute, rtol=1e-12)


def test_equal_constant_structures_have_no_error_and_no_scale():
    matrices = [np.full((1, n, n), 1 / n) for n in (1, 1, 3, 3, 2)]
    sources, targets = np.array([0, 2, 0, 3]), np.array([1, 3, 2, 4])
    errors = structure_errors(encoded(matrices), sources, targets)
    assert (errors[:2] == 0).all() and (errors[2:] > 0).all()
    scales = structure_scales(np.array([1.0, 2.0, 3.0, 4.0]), errors)
    assert (scales[:2] == 0).all()
    np.testing.assert_allclose(scales[2:, 0], [3 / (2 / 3) ** 2, 4 / (1 / 6) ** 2])


def loop_variability(matrices):
    """Bidirectional attention variability of one head, written out."""
    longest = max(len(A) for A in matrices)
    mean = np.zeros((longest, longest))
    for A in matrices:
        for i in range(len(A)):
            for j in range(len(A)):
                mean[i, j] += A[i, j] / len(matrices)
    above = below = 0.0
    for A in matrices:
        for i in range(len(A)):
            for j in range(len(A)):
                above += abs(A[i, j] - mean[i, j])
                below += 2 * A[i, j]
    return above / below


@pytest.mark.parametrize("order", [[2, 5, 3], [5, 2], [3], [4, 4, 4]])
def test_variability_is_the_plain_loop(order):
    rng = np.random.default_rng(len(order))
    matrices = [rng.dirichlet(np.ones(n), (2, n)).astype(np.float32) for n in order]
    found = attention_variability(lambda: iter(matrices))
    expected = [loop_variability([m[head].astype(float) for m in matrices]) for head in range(2)]
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_variability_of_nothing_is_refused():
    with pytest.raises(InputError, match="at least one sentence"):
        attention_variability(lambda: iter(()))


@pytest.mark.parametrize(
    ("means", "start"),
    [
        ([0.30, 0.28, 0.33, 0.35, 0.62, 0.66, 0.70, 0.71, 0.69, 0.68, 0.66, 0.64], 5),
        ([0.31, 0.33, 0.60, 0.66, 0.64, 0.63], 3),
        ([0.2, 0.7], 2),
        ([0.5], 1),
    ],
)
def test_contextual_layers_start_where_variability_rises(means, start):
    heads = np.array(means)[:, None] + np.array([-0.1, 0.1])
    assert contextual_layers(heads) == tuple(range(start, len(means) + 1))
    expected = list(range(start, len(means) + 1))
    found = select_heads("bv", "1", available=(len(means), 2), variability=heads)
    assert [layer for layer, _ in found] == expected
