"""A plan drawn with matplotlib shows its words, its flows, and the cost as colour."""

import sys

import matplotlib
import matplotlib.pyplot as plt
import pytest

from movers import DependencyError
from tiny_models import SENTENCES

matplotlib.use("agg")


@pytest.fixture(autouse=True)
def _closed():
    yield
    plt.close("all")


def test_words_and_flows_are_drawn(bert):
    found = bert.compare(*SENTENCES[:2])
    axes = found.plot()
    assert [text.get_text() for text in axes.texts] == [*found.source_words, *found.target_words]
    assert len(axes.patches) == (found.plan > 0).sum()
    widths = [patch.get_linewidth() for patch in axes.patches]
    assert sum(widths) == pytest.approx(48)
    assert found.method in axes.get_title()


def test_it_draws_where_it_is_told(bert):
    _, (left, right) = plt.subplots(1, 2)
    assert bert.compare(*SENTENCES[:2]).plot(right) is right
    assert right.texts and not left.texts


def test_without_cost_there_is_one_colour(bert):
    axes = bert.using("smd").compare(*SENTENCES[:2]).plot()
    assert len({patch.get_edgecolor() for patch in axes.patches}) == 1


def test_dear_is_darker_than_cheap(bert):
    found = bert.using("wmd").compare(*SENTENCES[:2])
    axes = found.plot()
    costs = found.cost[found.plan > 0]
    green = [patch.get_edgecolor()[1] for patch in axes.patches]
    assert green[costs.argmax()] < green[costs.argmin()]


def test_a_missing_matplotlib_is_named(bert, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(DependencyError, match=r"pip install movers\[plot\]"):
        bert.compare(*SENTENCES[:2]).plot()
