"""evaluate's default is what load gives, to the last bit."""

import numpy as np
import pytest
from labelled import dataset

import movers
from movers.errors import InputError
from movers.evaluate.benchmark import MeasureGrid
from movers.evaluate.metrics import compare, score
from movers.evaluate.usual import evaluate_as_used
from tiny_models import PAIRS

GRID = MeasureGrid(("movers", "wmd", "wsmd-wmd"), ("paper",), (3,))


def test_scores_are_those_of_the_distances_that_load_gives(bert, tmp_path):
    labelled = dataset("test")
    results = evaluate_as_used(bert, labelled, GRID, tmp_path / "run")
    found = {row.column.method: row for row in results.scores}
    assert list(found) == list(GRID.methods)
    for name, row in found.items():
        distances = bert.using(name, layers=None).distances(PAIRS)
        assert row.value == score("auc", labelled.gold, distances)
        assert row.low <= row.value <= row.high and row.pairs == len(PAIRS)
    (gain,) = results.gains
    words, both = (bert.using(name, layers=None).distances(PAIRS) for name in GRID.methods[1:])
    assert (gain.base, gain.value) == ("wmd", compare("auc", labelled.gold, both, words).value)


def test_gains_have_their_base_and_vectors_are_those_in_use(bert, tmp_path):
    grid = MeasureGrid(("movers", "wsmd-wmd"), ("paper",), (bert.encoder.layers,))
    results = evaluate_as_used(bert, dataset("test"), grid, tmp_path / "run")
    (gain,) = results.gains
    words, both = (bert.using(name, layers=None).distances(PAIRS) for name in ("wmd", "wsmd-wmd"))
    assert (gain.base, gain.value) == ("wmd", compare("auc", dataset().gold, both, words).value)
    rows = {row.column.method: row.column for row in results.scores}
    assert list(rows) == ["movers", "wsmd-wmd"] and gain.column == rows["wsmd-wmd"]
    assert rows["movers"].embedding == bert.using("movers").embedding != bert.encoder.layers


def test_layers_may_be_named(bert, tmp_path):
    grid = MeasureGrid(("wmd", "wsmd-wmd"), ("paper",), (3,))
    results = evaluate_as_used(bert, dataset(), grid, tmp_path / "run", selections=["1", "2-3"])
    assert [row.layers for row in results.scores] == ["", "1", "2-3"]


def test_a_run_goes_on_and_other_statistics_are_refused(bert, tmp_path, monkeypatch):
    before = evaluate_as_used(bert, dataset(), GRID, tmp_path / "run")
    with monkeypatch.context() as patched:
        patched.setattr(movers.Scorer, "distances", lambda *_, **__: pytest.fail("computed again"))
        again = evaluate_as_used(bert, dataset(), GRID, tmp_path / "run", resume=True)
    assert again.scores == before.scores
    other = bert.using("wsmd").fit([text for pair in PAIRS for text in pair])
    with pytest.raises(InputError, match="statistics was"):
        evaluate_as_used(other, dataset(), GRID, tmp_path / "run", resume=True)
    (tmp_path / "run" / "distances" / "000.npy").write_bytes(b"")
    with pytest.raises(InputError, match="damaged"):
        evaluate_as_used(bert, dataset(), GRID, tmp_path / "run", resume=True)
    assert np.isfinite([row.value for row in again.scores]).all()
