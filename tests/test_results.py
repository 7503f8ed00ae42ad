"""Results explain themselves: text, plain values, alignment."""

import json

import numpy as np
import pytest

from movers.results import Comparison, HeadValue, Signature
from tiny_models import SENTENCES


def comparison(**changes):
    fields = {
        "source": "the quick fox",
        "target": "a lazy dog",
        "source_words": ("quick", "fox"),
        "target_words": ("lazy", "dog"),
        "method": "wsmd-wrd",
        "distance": 0.25,
        "linear": 0.3,
        "structural": 0.2,
        "mix": 0.5,
        "plans": np.array([[[0.5, 0.0], [1e-5, 0.49999]]]),
        "cost": np.array([[0.1, 0.9], [0.8, 0.4]]),
        "heads": (HeadValue(1, 2, 0.25, 0.3, 0.2, 3.0, 4, 0.0),),
        "signature": Signature((("movers", "1"), ("mix", "0.5"))),
    }
    return Comparison(**{**fields, **changes})


def test_alignment_leaves_traces_out():
    flows = comparison().alignment
    assert [(flow.source, flow.target, flow.mass, flow.cost) for flow in flows] == [
        ("quick", "lazy", 0.5, 0.1),
        ("fox", "dog", 0.49999, 0.4),
    ]


def test_text_shows_parts_flows_and_signature():
    text = str(comparison())
    assert text.splitlines() == [
        "wsmd-wrd 0.2500  (words 0.3000, structure 0.2000)",
        "  quick → lazy  0.500",
        "  fox → dog  0.500",
        "  movers:1|mix:0.5",
    ]
    assert "(words" not in str(comparison(heads=()))


@pytest.mark.parametrize("distance", [0.25, float("nan"), float("inf")])
def test_plain_values_are_strict_json(distance):
    head = HeadValue(1, 2, distance, distance, 0.2, 3.0, 4, distance)
    found = comparison(distance=distance, linear=distance, heads=(head,)).to_dict()
    read = json.loads(json.dumps(found, allow_nan=False))
    expected = distance if np.isfinite(distance) else None
    assert read["distance"] == read["linear"] == read["heads"][0]["value"] == expected
    assert read["heads"][0]["layer"] == 1
    assert read["alignment"][0] == {
        **{"source": "quick", "target": "lazy", "mass": 0.5, "cost": 0.1},
        **{"source_index": 0, "target_index": 0},
    }
    assert read["signature"] == "movers:1|mix:0.5"


def test_a_measure_without_cost_aligns_without_cost(bert):
    found = bert.using("smd").compare(*SENTENCES[:2])
    assert found.cost.size == 0 and found.alignment
    flows = json.loads(json.dumps(found.to_dict(), allow_nan=False))["alignment"]
    assert {flow["cost"] for flow in flows} == {None}


def test_a_comparison_without_words_is_strict_json(bert):
    found = bert.using(empty="keep").compare("", "lazy dog").to_dict()
    assert json.loads(json.dumps(found, allow_nan=False))["distance"] is None
