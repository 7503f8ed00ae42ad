"""Evaluations: scores, gains and choices of layers add up to what the values say."""

import numpy as np
import pytest

import movers
from labelled import dataset
from movers.errors import InputError
from movers.evaluate.metrics import compare, score
from movers.measures.parts.structure import contextual_layers
from movers.scorer import Scorer
from movers_research.evaluation import (
    LayerChoice,
    Task,
    check_selections,
    evaluate,
    evaluate_as_used,
)
from movers_research.scores import Column, MeasureGrid
from tiny_models import PAIRS

GRID = MeasureGrid(("wmd", "wsmd-wmd", "lambda-wmd", "smd"), ("paper",), (3,), (0.3, 0.5))
DEVELOPMENT = {("paper", 0): np.array([0.9, 0.5, 0.6, 0.8]), ("paper", 4): np.array([0.1] * 4)}
CHOICE = LayerChoice(4, (3, 4), DEVELOPMENT)
SELECTIONS = ("top1", "best", "BV", "all", "2")


@pytest.fixture(scope="module")
def base(tiny):
    return movers.load("wsmd", tiny("bert"))


@pytest.fixture(scope="module")
def results(base, tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "run"
    tasks = [Task(dataset("test"), GRID), Task(dataset("graded", metric="spearman"), GRID)]
    return evaluate(base, tasks, folder, selections=SELECTIONS, dev=dataset("dev"))


def test_every_cell_has_a_score_inside_its_interval(results):
    # per data set: wmd once; two structural measures with two mixes, and smd, once per selection
    expected = {"test": 1 + 5 * 5, "graded": 1 + 5 * 5, "dev": 1 + 5}
    for name, count in expected.items():
        scores = [row for row in results.scores if row.column.dataset == name]
        assert len(scores) == count
        for row in scores:
            assert row.low <= row.value <= row.high and row.pairs == len(PAIRS)
            assert row.published is None
    assert {row.metric for row in results.scores} == {"auc", "spearman"}


def test_scores_are_those_of_the_mean_over_the_selected_heads(base, results):
    sentences = [text for pair in PAIRS for text in pair]
    column = Column("test", "wsmd-wmd", "paper", 3, 0.3)
    row = next(row for row in results.scores if (row.column, row.selection) == (column, "2"))
    fitted = base.using("wsmd-wmd", mix=0.3, layers="2").fit(sentences)
    gold = dataset("test").gold
    assert row.value == pytest.approx(score("auc", gold, fitted.distances(PAIRS)), abs=1e-9)
    gain = next(row for row in results.gains if (row.column, row.selection) == (column, "2"))
    words = fitted.using("wmd").distances(PAIRS)
    expected = compare("auc", gold, fitted.distances(PAIRS), words)
    assert gain.base == "wmd" and gain.value == pytest.approx(expected.value, abs=1e-9)
    assert gain.p == pytest.approx(expected.p, abs=0.01)


def test_layers_are_picked_on_the_development_set(results):
    means = results.layer_means[Column("dev", "wsmd-wmd", "paper", 3, 0.5)]
    contextual = contextual_layers(results.variability["dev"])
    assert results.contextual == {"dev": contextual}
    picked = {row.selection: row.layers for row in results.scores if row.column.dataset == "test"}
    assert int(picked["best"]) == 1 + np.argmax(means)
    assert int(picked["top1"]) == max(contextual, key=lambda layer: means[layer - 1])


def test_nothing_runs_when_a_choice_is_impossible(base, tmp_path):
    with pytest.raises(InputError, match="development set"):
        evaluate(base, [Task(dataset(), GRID)], tmp_path / "run", selections=["top1"])
    assert not (tmp_path / "run").exists()


def test_changed_settings_are_named(base, tmp_path):
    small = MeasureGrid(("wmd",), ("paper",), (3,))
    evaluate(base, [Task(dataset(), small)], tmp_path / "run")
    for changed, message in (
        (base.using(subwords="mean"), "subwords was first, is mean"),
        (base.using(stopwords=None), "stopwords was .*, is none"),
    ):
        with pytest.raises(InputError, match=message):
            evaluate(changed, [Task(dataset(), small)], tmp_path / "run", resume=True)
    other = dataset(pairs=PAIRS[:20])
    with pytest.raises(InputError, match=r"data set made-up was [0-9a-f]{8}, is [0-9a-f]{8}"):
        evaluate(base, [Task(other, small)], tmp_path / "run", resume=True)
    again = evaluate(base, [Task(dataset(), small)], tmp_path / "run", resume=True)
    assert len(again.scores) == 1


@pytest.mark.parametrize(
    ("selection", "layers"),
    [
        ("top1", (4,)),  # the best of the contextual layers, as in the paper
        ("best", (1,)),
        ("BV", (3, 4)),
        ("all", (1, 2, 3, 4)),
        ("2-3", (2, 3)),
        ("1,4", (1, 4)),
    ],
)
def test_selections(selection, layers):
    assert CHOICE.layers(selection, "paper", 0) == layers


def test_the_first_of_equal_layers_is_best():
    assert CHOICE.layers("best", "paper", 4) == (1,)


@pytest.mark.parametrize("selection", ["top1", "best", "BV"])
def test_picking_needs_a_development_set(selection):
    with pytest.raises(InputError, match="picked on a development set; pass dev="):
        LayerChoice(4).layers(selection, "paper", 0)
    with pytest.raises(InputError, match="development set"):
        check_selections([selection], 4, dev=False)
    check_selections([selection], 4, dev=True)


def test_bad_selections_are_refused_before_anything_runs():
    with pytest.raises(InputError, match="layer 5 is out of range"):
        check_selections(["all", "5"], 4, dev=True)
    with pytest.raises(InputError, match="cannot read layers 'top'"):
        check_selections(["top"], 4, dev=True)


AS_USED = MeasureGrid(("movers", "wmd", "wsmd-wmd"), ("paper",), (3,))


def test_a_run_goes_on_and_other_statistics_are_refused(bert, tmp_path, monkeypatch):
    before = evaluate_as_used(bert, dataset(), AS_USED, tmp_path / "run")
    with monkeypatch.context() as patched:
        patched.setattr(Scorer, "distances", lambda *_, **__: pytest.fail("computed again"))
        again = evaluate_as_used(bert, dataset(), AS_USED, tmp_path / "run", resume=True)
    assert again.scores == before.scores
    other = bert.using("wsmd").fit([text for pair in PAIRS for text in pair])
    with pytest.raises(InputError, match="statistics was"):
        evaluate_as_used(other, dataset(), AS_USED, tmp_path / "run", resume=True)
    (tmp_path / "run" / "distances" / "000.npy").write_bytes(b"")
    with pytest.raises(InputError, match="damaged"):
        evaluate_as_used(bert, dataset(), AS_USED, tmp_path / "run", resume=True)
    assert np.isfinite([row.value for row in again.scores]).all()
