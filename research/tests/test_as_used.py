"""evaluate's default is what load gives, to the last bit."""

from labelled import dataset
from movers.evaluate.metrics import compare, score
from movers_research.as_used import evaluate_as_used
from movers_research.scores import MeasureGrid
from tiny_models import PAIRS

GRID = MeasureGrid(("movers", "wmd", "wsmd-wmd"), ("paper",), (3,))


def test_scores_are_those_of_the_distances_that_load_gives(bert):
    labelled = dataset("test")
    results = evaluate_as_used(bert, labelled, GRID)
    found = {row.column.method: row for row in results.scores}
    assert list(found) == list(GRID.methods)
    for name, row in found.items():
        distances = bert.using(name, layers=None).distances(PAIRS)
        assert row.value == score("auc", labelled.gold, distances)
        assert row.low <= row.value <= row.high and row.pairs == len(PAIRS)
    (gain,) = results.gains
    words, both = (bert.using(name, layers=None).distances(PAIRS) for name in GRID.methods[1:])
    assert (gain.base, gain.value) == ("wmd", compare("auc", labelled.gold, both, words).value)


def test_gains_have_their_base_and_vectors_are_those_in_use(bert):
    grid = MeasureGrid(("movers", "wsmd-wmd"), ("paper",), (bert.encoder.layers,))
    results = evaluate_as_used(bert, dataset("test"), grid)
    (gain,) = results.gains
    words, both = (bert.using(name, layers=None).distances(PAIRS) for name in ("wmd", "wsmd-wmd"))
    assert (gain.base, gain.value) == ("wmd", compare("auc", dataset().gold, both, words).value)
    rows = {row.column.method: row.column for row in results.scores}
    assert list(rows) == ["movers", "wsmd-wmd"] and gain.column == rows["wsmd-wmd"]
    assert rows["movers"].embedding == bert.using("movers").embedding != bert.encoder.layers


def test_layers_may_be_named(bert):
    grid = MeasureGrid(("wmd", "wsmd-wmd"), ("paper",), (3,))
    results = evaluate_as_used(bert, dataset(), grid, selections=["1", "2-3"])
    assert [row.layers for row in results.scores] == ["", "1", "2-3"]
