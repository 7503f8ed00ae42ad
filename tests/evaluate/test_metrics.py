"""Metrics against scikit-learn and scipy; intervals against slow twins and simulation."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn.metrics import average_precision_score, roc_auc_score

from movers.agreement import METRICS, draw_weights
from movers.errors import InputError
from movers.evaluate.metrics import (
    apply_empty_policy,
    compare,
    estimate,
    score,
)

OUTSIDE = {
    "auc": roc_auc_score,
    "ap": average_precision_score,
    "spearman": lambda gold, similarity: stats.spearmanr(gold, similarity).statistic,
    "pearson": lambda gold, similarity: stats.pearsonr(gold, similarity).statistic,
}


def labelled(seed, pairs, metric, ties=True):
    """Gold values and distances that agree somewhat."""
    random = np.random.default_rng(seed)
    gold = (random.random(pairs) < 0.4).astype(float)
    if metric not in ("auc", "ap"):
        gold = np.round(random.uniform(0, 5, pairs), 1)
    distances = random.normal(size=pairs) - gold
    return gold, np.round(distances, 1) if ties else distances


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("ties", [True, False])
def test_metrics_equal_well_known_ones(metric, ties):
    gold, distances = labelled(1, 300, metric, ties)
    assert score(metric, gold, distances) == pytest.approx(OUTSIDE[metric](gold, -distances))


@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 4)), min_size=2, max_size=12))
def test_metrics_with_many_ties(rows):
    gold, distances = np.array(rows).T
    if len(set(gold)) == 1:
        with pytest.raises(InputError, match="gold values are the same"):
            score("auc", gold, distances)
        return
    assert score("auc", gold, distances) == pytest.approx(roc_auc_score(gold, -distances))
    assert score("ap", gold, distances) == pytest.approx(OUTSIDE["ap"](gold, -distances))
    if len(set(distances)) > 1:
        assert score("spearman", gold, distances) == pytest.approx(
            OUTSIDE["spearman"](gold, -distances)
        )
        assert score("pearson", gold, distances) == pytest.approx(
            OUTSIDE["pearson"](gold, -distances)
        )


def test_constant_distances_agree_with_nothing():
    gold = np.array([0.0, 1.0, 1.0, 0.0])
    for level in (0.0, 0.7):
        same = np.full(4, level)
        assert score("auc", gold, same) == 0.5
        assert np.isnan(score("spearman", gold, same)) and np.isnan(score("pearson", gold, same))
        assert np.isnan([*vars(estimate("spearman", gold, same)).values()]).all()


@pytest.mark.parametrize("metric", ["auc", "spearman"])
def test_rounding_noise_breaks_no_ties(metric):
    gold, distances = labelled(2, 200, metric)
    noise = np.random.default_rng(3).uniform(-1e-15, 1e-15, 200)
    assert score(metric, gold, 1e3 * (distances + noise)) == score(metric, gold, distances)


@pytest.mark.parametrize(
    ("gold", "distances", "message"),
    [
        ([0, 1], [0.1], r"shape \(2,\) while distances have \(1,\)"),
        ([0, 1], [0.1, np.nan], "1 pairs have no distance; settle them first"),
        ([0, 1], [0.1, np.inf], "1 pairs have no distance"),
        ([0, 2], [0.1, 0.2], "take spearman for scores"),
        ([1, 1], [0.1, 0.2], "all 2 gold values are the same"),
        ([], [], "all 0 gold values are the same"),
    ],
)
def test_unusable_input_is_refused(gold, distances, message):
    with pytest.raises(InputError, match=message):
        score("auc", gold, distances)


def test_unknown_metrics_are_refused():
    with pytest.raises(InputError, match="no metric 'kendall'; there are: auc, ap, spearman"):
        score("kendall", [0, 1], [0, 1])
    with pytest.raises(InputError, match="resamples must be at least 1, got 0"):
        estimate("auc", [0, 1], [0, 1], resamples=0)


def test_pairs_without_distance_are_dropped_or_least_similar():
    gold, distances = [3.0, 1.0, 2.0, 5.0], [0.5, np.nan, 0.9, 0.2]
    dropped, last = (
        apply_empty_policy(gold, distances, "drop"),
        apply_empty_policy(gold, distances, "least"),
    )
    assert dropped.gold.tolist() == [3.0, 2.0, 5.0]
    assert dropped.dropped == 1
    assert last.distances.tolist() == [0.5, 0.9, 0.9, 0.2]
    assert last.dropped == 0


def test_methods_that_are_compared_settle_together():
    distances = [[0.5, np.nan, 0.9, 0.2], [np.nan, 0.1, 0.3, 0.4]]
    dropped, last = (
        apply_empty_policy([1, 0, 1, 0], distances, empty) for empty in ("drop", "least")
    )
    assert dropped.distances.tolist() == [[0.9, 0.2], [0.3, 0.4]]
    assert dropped.dropped == 2
    assert last.distances.tolist() == [[0.5, 0.9, 0.9, 0.2], [0.4, 0.1, 0.3, 0.4]]


def test_nothing_to_settle_is_refused():
    with pytest.raises(InputError, match="no pair has a distance"):
        apply_empty_policy([0, 1], [np.nan, np.nan], "least")
    with pytest.raises(InputError, match="3 distances while there are 2 gold values"):
        apply_empty_policy([0, 1], [1, 2, 3], "drop")


@pytest.mark.parametrize("metric", METRICS)
def test_intervals_equal_the_slow_obvious_twin(metric):
    gold, distances = labelled(4, 60, metric)
    found = estimate(metric, gold, distances, resamples=200, seed=5)
    values = []
    for weights in draw_weights(60, 200, 5):
        drawn = np.repeat(np.arange(60), weights)
        assert len(drawn) == 60
        values.append(OUTSIDE[metric](gold[drawn], -distances[drawn]))
    assert [found.low, found.high] == pytest.approx(np.percentile(values, [2.5, 97.5]))
    assert found.value == score(metric, gold, distances)


@pytest.mark.parametrize("metric", METRICS)
def test_intervals_agree_with_scipy(metric):
    gold, distances = labelled(6, 150, metric)
    found = estimate(metric, gold, distances, resamples=4000)
    outside = stats.bootstrap(
        (gold, -distances),
        OUTSIDE[metric],
        paired=True,
        vectorized=False,
        method="percentile",
        n_resamples=500,
        rng=np.random.default_rng(7),
    ).confidence_interval
    tolerance = (found.high - found.low) / 8
    assert [found.low, found.high] == pytest.approx([outside.low, outside.high], abs=tolerance)


def binormal(random):
    gold = (random.random(200) < 0.45).astype(float)
    return gold, random.normal(size=200) - gold


def bivariate(random):
    gold = random.normal(size=200)
    return gold, -0.5 * gold + np.sqrt(0.75) * random.normal(size=200)


@pytest.mark.parametrize(
    ("metric", "draw", "truth"),
    [
        ("auc", binormal, stats.norm.cdf(np.sqrt(0.5))),
        ("spearman", bivariate, 6 / np.pi * np.arcsin(0.25)),
        ("pearson", bivariate, 0.5),
    ],
)
def test_intervals_cover_the_truth(metric, draw, truth):
    random = np.random.default_rng(0)
    found = [estimate(metric, *draw(random), resamples=400) for _ in range(2000)]
    covered = np.mean([row.low <= truth <= row.high for row in found])
    assert covered == pytest.approx(0.95, abs=0.02)


@pytest.mark.parametrize("metric", ["auc", "spearman"])
def test_comparisons_of_equally_good_methods_are_uniform(metric):
    random = np.random.default_rng(9)
    found = []
    for _ in range(600):
        gold, distances = (binormal if metric == "auc" else bivariate)(random)
        sides = [distances + 0.7 * random.normal(size=200) for _ in range(2)]
        found.append(compare(metric, gold, *sides, resamples=300).p)
    assert stats.kstest(found, "uniform").statistic < 0.07
    assert np.mean(np.array(found) < 0.05) == pytest.approx(0.05, abs=0.025)


def test_a_real_difference_is_found():
    random = np.random.default_rng(10)
    gold, distances = binormal(random)
    noisy = distances + 3 * random.normal(size=200)
    better, worse = compare("auc", gold, distances, noisy), compare("auc", gold, noisy, distances)
    assert better.p < 0.01 and better.low > 0
    assert better.value == score("auc", gold, distances) - score("auc", gold, noisy)
    assert (worse.value, worse.low, worse.high) == pytest.approx(
        (-better.value, -better.high, -better.low)
    )
    assert worse.p == better.p


def test_a_method_does_not_differ_from_itself():
    gold, distances = labelled(11, 100, "auc")
    found = compare("auc", gold, distances, 2 * distances)
    assert (found.value, found.low, found.high, found.p) == (0, 0, 0, 1)


def test_draws_depend_on_the_seed_alone():
    assert draw_weights(50, 20, 1) is draw_weights(50, 20, 1)
    assert (draw_weights(50, 20, 1) != draw_weights(50, 20, 2)).any()
    assert (draw_weights(50, 20, 1).sum(axis=1) == 50).all()
    gold, distances = labelled(12, 50, "auc")
    assert estimate("auc", gold, distances, seed=3) == estimate("auc", gold, distances, seed=3)
    assert estimate("auc", gold, distances, seed=3) != estimate("auc", gold, distances, seed=4)


def test_resamples_without_a_value_do_not_count():
    """One positive of ten is missing from a third of the resamples."""
    gold = np.array([1.0] + 9 * [0.0])
    found = estimate("auc", gold, np.arange(10.0))
    assert (found.value, found.low, found.high) == (1, 1, 1)
