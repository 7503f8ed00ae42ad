"""What is evaluated is what load gives, to the last bit."""

import json

from labelled import dataset
from movers.evaluate.evaluation import evaluate
from movers.evaluate.metrics import compare, score
from tiny_models import PAIRS

METHODS = ("movers", "wmd", "wsmd-wmd")


def test_scores_and_gains_are_those_of_the_distances_that_load_gives(bert):
    labelled = dataset("test")
    results = evaluate(bert, labelled, METHODS)
    assert (results.dataset, results.metric) == ("test", "auc")
    assert [row.method for row in results.scores] == list(METHODS)
    distances = {name: bert.using(name).distances(PAIRS) for name in METHODS}
    for name, row in zip(METHODS, results.scores, strict=True):
        assert row.value == score("auc", labelled.gold, distances[name])
        assert row.low <= row.value <= row.high and row.pairs == len(PAIRS)
        assert row.embedding == bert.using(name).embedding
        assert bool(row.layers) == (name != "wmd")
        expected = compare("auc", labelled.gold, distances[name], distances["movers"])
        assert row.gain == (None if name == "movers" else expected)
    plain = json.loads(json.dumps(results.to_dict()))
    assert plain["scores"][1]["gain"]["p"] == results.scores[1].gain.p
    assert plain["facts"]["model"].endswith(bert.encoder.fingerprint)
