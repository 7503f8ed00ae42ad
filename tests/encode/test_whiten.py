"""Whitening: identity covariance, noise directions, and rows that do not feel their neighbours."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from movers.encode.whiten import Moments, OrderedMoments, Whitening
from movers.errors import InputError


def layer_normed(count, dimension, seed=0):
    """Single-precision vectors whose entries sum to zero, as behind a plain layer norm."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(count, dimension)) @ rng.normal(size=(dimension, dimension))
    rows -= rows.mean(axis=1, keepdims=True)
    rows /= rows.std(axis=1, keepdims=True)
    return rows.astype(np.float32)


def moments_of(rows, weights=None, batch=64, kind=Moments):
    """Moments of rows, each a sentence of its own."""
    moments = kind(rows.shape[1])
    weights = np.ones(len(rows), int) if weights is None else weights
    for low in range(0, len(rows), batch):
        cut = slice(low, low + batch)
        moments.add(rows[cut], weights[cut], np.arange(len(rows))[cut])
    moments.complete(len(rows))
    return moments


def fitted(rows, kind="clean"):
    ordered = OrderedMoments if kind == "as-coded" else Moments
    return Whitening.fit(moments_of(rows, kind=ordered), kind)


@given(st.integers(0, 1000), st.integers(2, 40), st.integers(1, 9), st.floats(-1e3, 1e3))
def test_moments_are_those_of_numpy_with_multiplicity(seed, count, batch, offset):
    rng = np.random.default_rng(seed)
    rows = (rng.normal(size=(count, 3)) + offset).astype(np.float32)
    weights = rng.integers(1, 4, count)
    moments = moments_of(rows, weights, batch)
    repeated = np.repeat(rows.astype(float), weights, axis=0)
    np.testing.assert_allclose(moments.mean, repeated.mean(axis=0), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(moments.covariance, np.cov(repeated.T), rtol=1e-8, atol=1e-8)


def test_as_coded_moments_are_taken_in_single_precision_and_in_order():
    rows = np.random.default_rng(3).normal(100, 1, size=(3000, 4)).astype(np.float32)
    sentences = np.repeat(np.arange(300), 10)
    shuffle = np.random.default_rng(4).permutation
    moments = OrderedMoments(4)
    for part in np.arange(300).reshape(3, 100):  # parts in order, any order within a part
        for batch in shuffle(part).reshape(2, 50):
            picked = np.concatenate([np.flatnonzero(sentences == number) for number in batch])
            moments.add(rows[picked], np.full(len(picked), 1), sentences[picked] - part[0])
        moments.complete(100)
    mean, covariance = moments.rounded()
    np.testing.assert_array_equal(mean, rows.mean(axis=0))
    assert not np.array_equal(mean, rows.astype(float).mean(axis=0).astype(np.float32))
    np.testing.assert_allclose(covariance, np.cov((rows - mean).T), rtol=1e-12)
    white = Whitening.fit(moments, "as-coded")
    np.testing.assert_array_equal(white.mean, mean)


def test_repeated_sentences_count_where_they_stand():
    rows = np.random.default_rng(5).normal(100, 1, size=(40, 4)).astype(np.float32)
    order = np.random.default_rng(6).integers(0, 40, 4000)
    times = np.bincount(order, minlength=40)
    moments = moments_of(rows, times, kind=OrderedMoments)
    together = moments.rounded()[0]
    moments.order = order.tolist()
    np.testing.assert_array_equal(moments.rounded()[0], rows[order].mean(axis=0))
    np.testing.assert_array_equal(together, np.repeat(rows, times, axis=0).mean(axis=0))
    assert not np.array_equal(moments.rounded()[0], together)


def test_as_coded_differences_are_rounded_to_single_precision():
    rows = np.random.default_rng(8).normal(100, 1e-3, size=(500, 6)).astype(np.float32)
    white = fitted(rows, "as-coded")
    found = rows.astype(float)  # double, to show bits that rounding to single would hide
    white.apply(found)
    mean = white.mean.astype(np.float32)
    np.testing.assert_allclose(found, (rows - mean).astype(float) @ white.matrix, rtol=1e-9)
    shifted = Whitening(white.mean + 1e-7, white.matrix, "as-coded", 500)
    again = rows.astype(float)
    shifted.apply(again)  # below the spacing of single precision at 100
    np.testing.assert_array_equal(again, found)


def test_as_coded_needs_rows_in_their_order():
    with pytest.raises(InputError, match="keep rows in their order"):
        Whitening.fit(moments_of(layer_normed(100, 12)), "as-coded")


@pytest.mark.parametrize(("kind", "directions"), [("clean", 11), ("as-coded", 12)])
def test_whitened_tokens_have_identity_covariance(kind, directions):
    rows = layer_normed(4000, 12)
    white = fitted(rows, kind)
    assert white.tokens == 4000
    assert np.count_nonzero(np.abs(white.matrix).sum(axis=0)) == directions
    found = (rows.astype(float) - white.mean) @ white.matrix
    # the variance of the last direction is noise in as-coded, and a processor's own
    expected = np.eye(12)[:11, :11]
    np.testing.assert_allclose(np.cov(found.T)[:11, :11], expected, atol=1e-5)
    if kind == "clean":
        np.testing.assert_allclose(np.cov(found.T), np.diag([1.0] * 11 + [0.0]), atol=1e-9)
        np.testing.assert_allclose(found.mean(axis=0), 0, atol=1e-12)
    else:
        # the mean is a single-precision one, off by more than rounding in double
        assert np.array_equal(white.mean, white.mean.astype(np.float32))


def test_kinds_agree_where_there_is_no_noise():
    rows = np.random.default_rng(1).normal(size=(500, 6)).astype(np.float32)
    clean, coded = (fitted(rows, kind) for kind in ("clean", "as-coded"))
    signs = np.sign(np.sum(clean.matrix * coded.matrix, axis=0))  # a direction has two ends
    np.testing.assert_allclose(clean.matrix, coded.matrix * signs, atol=1e-5)
    np.testing.assert_allclose(clean.mean, coded.mean, atol=1e-6)


@pytest.mark.parametrize("kind", ["clean", "as-coded"])
@pytest.mark.parametrize("dimension", [16, 384])
def test_apply_is_in_place_and_blind_to_company(dimension, kind):
    # rows in double precision show bits that rounding to single would mostly hide
    rows = layer_normed(2 * dimension + 4200, dimension).astype(float)
    clean = Whitening.fit(moments_of(rows, batch=1000))
    white = Whitening(clean.mean, clean.matrix, kind, clean.tokens)
    together = rows.copy()
    white.apply(together)
    np.testing.assert_allclose(together, (rows - white.mean) @ white.matrix, rtol=1e-4, atol=1e-4)
    for low, high in ((0, 1), (5, 7), (4090, 4100), (100, 131), (100, 133), (0, 4096)):
        alone = rows[low:high].copy()
        white.apply(alone)
        np.testing.assert_array_equal(alone, together[low:high])
    white.apply(rows[:0])


def test_too_few_tokens_are_refused():
    rows = layer_normed(23, 12)
    with pytest.raises(InputError, match="at least 24 tokens for 12-dimensional vectors, got 23"):
        Whitening.fit(moments_of(rows))
