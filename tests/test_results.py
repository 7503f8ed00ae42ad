"""Results explain themselves: text, plain values, alignment."""

import json

import numpy as np
import pytest

from movers.results import Comparison, HeadValue, Match, Ranking, Signature
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


def test_long_texts_show_their_largest_moves_and_count_the_rest():
    count = 30
    plan = np.diag(np.linspace(1.0, 2.0, count))
    words = tuple(f"word{k}" for k in range(count))
    long = comparison(
        source_words=words, target_words=words, plans=plan[None] / plan.sum(), cost=plan
    )
    flows, left_out = long.largest(20)
    assert [flow.source for flow in flows] == list(words[10:]) and left_out == 10
    assert str(long).count("→") == 20 and "… and 10 smaller moves" in str(long)
    assert len(long.to_dict()["alignment"]) == count
    assert "smaller" not in str(comparison())


def ranking(count, similarity=0.5):
    matches = (Match(k, f"a <b> {k}", 0.1 * k, similarity) for k in range(count))
    return Ranking("a & b", tuple(matches), Signature((("movers", "1"),)))


def test_rankings_show_themselves():
    assert repr(ranking(2)) == "Ranking of 'a & b':\n  1. 0.0000  a <b> 0\n  2. 0.1000  a <b> 1"
    assert repr(ranking(23)).endswith("20. 1.9000  a <b> 19\n     … and 3 more")
    page = ranking(23)._repr_html_()
    assert page.count("<tr>") == 21 and "<th>similarity</th>" in page and "and 3 more" in page
    assert "a &amp; b" in page and "a &lt;b&gt; 0" in page and "<b>" not in page
    assert "similarity" not in ranking(1, None)._repr_html_()


@pytest.mark.parametrize("method", ["wmd", "wsmd", "smd", "lambda-wrd"])
@pytest.mark.parametrize("null", [0.0, 0.4, 30.0])
def test_what_stays_at_home_is_a_part(bert, method, null):
    found = bert.using(method, null=null).compare(SENTENCES[0], SENTENCES[6])
    assert sum(found.parts.values()) == pytest.approx(found.distance, rel=1e-9, abs=1e-12)
    assert ("at home" in found.parts) == (method != "lambda-wrd")  # which reports words alone
    assert found.to_dict()["home"] == found.parts.get("at home")
    for moved, weights in zip((found.plan.sum(1), found.plan.sum(0)), found.weights, strict=True):
        assert weights.sum() == pytest.approx(1)
        assert (moved <= weights + 1e-12).all()
    if found.cost.size and "at home" in found.parts:
        price = null * found.cost.mean()
        assert found.parts["at home"] == pytest.approx(price * (1 - found.plan.sum()), abs=1e-9)


@pytest.mark.parametrize("method", ["wmd", "wsmd"])
def test_words_at_home_are_told_where_they_may_stay_and_only_there(bert, method):
    pair = SENTENCES[0], SENTENCES[6]
    free, bound = (bert.using(method, null=null).compare(*pair) for null in (0.3, None))
    (told,) = [line for line in free.figures if line.startswith("What stays at home pays")]
    (alone, *_), moved = free.source_words, free.plan.sum(axis=1)
    assert (f"“{alone}”" in told) == (moved[0] < free.weights[0][0] / 2)
    assert "at home" in str(free) and "at home" not in str(bound)
    assert "at home" not in bound.parts and bound.home is None
    assert not [line for line in bound.figures if "at home" in line]
