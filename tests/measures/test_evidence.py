"""What a judge looks at: the same both ways round, in any company, and next to nothing."""

import numpy as np
import pytest

import movers
from movers.measures.evidence import ORDER, PLAIN, Plans, names_of

PAIRS = [
    ("The dog bit the man.", "The man bit the dog."),
    ("The dog bit the man.", "The man was bitten by the dog."),
    ("A cat sleeps.", "Shares fell sharply in London on Tuesday."),
    ("yes", "No, 12 men did not come?"),
    ("...", "A cat sleeps."),
]


@pytest.fixture(scope="module")
def judge():
    return movers.load(judge="same")


def test_every_column_has_a_name(judge):
    found = judge.evidence(PAIRS)
    assert found.shape == (len(PAIRS), len(names_of(judge.measure)))
    assert len({*names_of(judge.measure)}) == found.shape[1]
    assert np.isfinite(found).all()


def test_sentences_may_change_places(judge):
    turned = judge.evidence([(target, source) for source, target in PAIRS])
    assert judge.evidence(PAIRS) == pytest.approx(turned, abs=1e-6)


def test_a_pair_is_the_same_in_any_company(judge):
    alone = np.concatenate([judge.evidence([pair]) for pair in PAIRS])
    assert judge.evidence(PAIRS) == pytest.approx(alone, abs=1e-5)


def test_the_same_sentence_has_nothing_against_it(judge):
    (found,) = judge.evidence([(PAIRS[0][0],) * 2])
    known = dict(zip(names_of(judge.measure), found, strict=True))
    for name in ("sentence vectors", "uneven lengths", "negation", *ORDER):
        assert known[name] == pytest.approx(0.0, abs=1e-6), name


def test_kinds_of_differences_are_told(judge):
    pairs = [("Take 2 tablets.", "Do not take 20 tablets."), ("It is late.", "It is late, Sir.")]
    names = names_of(judge.measure)
    denied, more = (dict(zip(names, row, strict=True)) for row in judge.evidence(pairs))
    assert (denied["negation"], denied["number"], denied["added"]) == (1.0, 1.0, 0.0)
    assert (more["negation"], more["added"]) == (0.0, 1.0)
    assert 0.0 < more["added while near"] < 1.0


def order_of(places, words=5):
    plan = np.zeros((len(places), words))
    plan[np.arange(len(places)), places] = 1.0
    columns = Plans(np.array([plan.shape]), plan.ravel()).order()
    return dict(zip(ORDER, (float(column[0]) for column in columns), strict=True))


def test_order_is_told_by_matched_words():
    assert order_of([0, 1, 2, 3, 4])["inverted"] == 0.0
    assert order_of([4, 3, 2, 1, 0])["inverted"] == 1.0
    swapped = order_of([1, 0, 2, 3, 4])
    assert swapped["inverted"] == pytest.approx(np.sqrt(1 / 10))
    assert swapped["neighbours parted"] == pytest.approx(2 / 4)
    assert order_of([0, 1, 3], words=4)["neighbours parted"] == 0.0  # a word between, left over
    assert order_of([0, 1, 3], words=4)["unmatched"] == pytest.approx(1 - 6 / 7)


def test_prices_are_those_of_a_slow_reading():
    rng = np.random.default_rng(0)
    shapes, costs, plans = np.array([[2, 3], [4, 2]]), [], []
    for n, m in shapes:
        costs.append(rng.random((n, m)))
        plan = np.zeros((n, m))
        plan[0, 1] = plan[1, 0] = 1.0
        plans.append(plan)
    flat = [np.concatenate([one.ravel() for one in many]) for many in (costs, plans)]
    found = np.stack(list(Plans(shapes, flat[1]).prices(flat[0])), axis=1)
    for row, cost, plan in zip(found, costs, plans, strict=True):
        near = (cost.min(axis=1).mean() + cost.min(axis=0).mean()) / 2
        paid = (plan * cost).sum() / plan.sum()
        far = max(cost.min(axis=1).max(), cost.min(axis=0).max())
        left = max(
            (cost.min(axis=1) * (1 - plan.sum(axis=1))).max(),
            (cost.min(axis=0) * (1 - plan.sum(axis=0))).max(),
        )
        mean = cost.mean()
        wanted = [mean, near, near / mean, far, paid, paid / mean, cost[plan > 0].max(), left]
        assert row == pytest.approx(wanted)


def test_plain_columns_come_first(judge):
    assert names_of(judge.measure)[: len(PLAIN)] == PLAIN
