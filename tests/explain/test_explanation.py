"""An explanation adds up: parts, prices, words alone, every head; the command writes it."""

import json
from base64 import b64decode

import numpy as np
import pytest

from movers import cli
from movers.explain.explanation import Explanation
from movers.explain.relations import charged_plans, strain
from tiny_models import SENTENCES

PAIR = SENTENCES[0], SENTENCES[1]
SWAP = "the press greets the president", "the president greets the press"


@pytest.fixture(scope="module")
def payload(bert):
    return bert.explain(*PAIR).to_dict()


def plan_of(flows, words):
    plan = np.zeros(words)
    for i, j, mass, *_ in flows:
        plan[i, j] = mass
    return plan


def test_the_distance_is_that_of_the_library(bert, payload):
    expected = bert.compare(*PAIR)
    structure = payload["structure"]
    for part in ("distance", "linear", "structural"):
        assert structure[part] == pytest.approx(getattr(expected, part), abs=1e-12)
    assert payload["signature"] == str(expected.signature)
    assert structure["selected"] == [[head.layer, head.head] for head in expected.heads]


def test_words_alone_are_the_measure_underneath(bert, payload):
    expected = bert.using("wrd").compare(*PAIR)
    assert payload["words"]["method"] == "wrd"
    assert payload["words"]["distance"] == pytest.approx(expected.distance, abs=1e-12)
    found = plan_of(payload["words"]["plan"], expected.plan.shape)
    np.testing.assert_allclose(found, expected.plan, atol=1e-4)


def test_every_head_is_there_whichever_make_the_distance(bert):
    chosen = bert.using(layers="1", heads="2")
    structure = chosen.explain(*PAIR).to_dict()["structure"]
    everything = bert.using(layers="all").compare(*PAIR)
    assert structure["selected"] == [[1, 2]]
    assert len(structure["heads"]) == bert.encoder.layers * bert.encoder.heads
    for found, expected in zip(structure["heads"], everything.heads, strict=True):
        assert (found["layer"], found["head"]) == (expected.layer, expected.head)
        assert found["value"] == pytest.approx(expected.value, rel=1e-4)
    assert structure["distance"] == pytest.approx(chosen.compare(*PAIR).distance, abs=1e-12)


@pytest.mark.parametrize("method", ["movers", "wsmd-wrd", "wsmd-wmd", "smd", "lambda-wrd"])
@pytest.mark.parametrize("recipe", ["paper", "reference"])
def test_prices_of_the_flows_add_up_to_the_structural_part(bert, method, recipe):
    found = bert.using(method, recipe=recipe).compare(*PAIR)
    charged = (found.plans * strain(found)).sum(axis=(1, 2))
    np.testing.assert_allclose(charged, [head.structural for head in found.heads], atol=1e-12)


@pytest.mark.parametrize("layers", [None, "1", "all"])
def test_the_default_measure_is_explained_under_every_head(bert, layers):
    scorer = bert.using("movers", layers=layers)
    found, expected = scorer.explain(*PAIR), scorer.compare(*PAIR)
    assert found.distance == expected.distance
    assert sum(expected.parts.values()) == pytest.approx(expected.distance, abs=1e-15)
    assert list(expected.parts) == ["sentence", "structure"] and expected.gate > 0
    structure = found.to_dict()["structure"]
    assert len(structure["heads"]) == bert.encoder.layers * bert.encoder.heads
    values = {(head["layer"], head["head"]): head["value"] for head in structure["heads"]}
    own = [values[head] for head in found.selected]
    assert np.mean(own) == pytest.approx(expected.distance, rel=1e-4)
    assert structure["sentence"] + structure["shares"][1] * structure["structural"] == (
        pytest.approx(expected.distance, abs=1e-15)
    )


@pytest.mark.parametrize("method", ["movers", "wsmd", "smd"])
def test_broken_relations_are_the_dearest_of_all_terms(embedded, method):
    """Of a trained model: what structure charges under a random one may be next to nothing."""
    found = embedded.using(method).compare(*PAIR)
    charged = charged_plans(found)
    a, b = found.source_attention, found.target_attention
    gaps = (a[:, :, None, :, None] - b[:, None, :, None, :]) ** 2  # heads, i, j, k, l
    terms = gaps * charged[:, :, :, None, None] * charged[:, None, None, :, :]
    terms *= np.array([head.scale for head in found.heads])[:, None, None, None, None]
    terms = found.shares[1] * terms.mean(axis=0) / found.distance
    assert terms.sum() == pytest.approx(found.parts["structure"] / found.distance, abs=1e-12)
    np.testing.assert_allclose(
        [one.share for one in found.broken], np.sort(terms, axis=None)[:-4:-1], rtol=1e-9
    )
    i, j, k, l = np.unravel_index(terms.argmax(), terms.shape)  # noqa: E741
    first = found.broken[0]
    assert first.source == (found.source_words[i], found.source_words[k])
    assert first.target == (found.target_words[j], found.target_words[l])
    assert first.source_attention == pytest.approx(a[:, i, k].mean())
    assert first.target_attention == pytest.approx(b[:, j, l].mean())


def test_nothing_is_broken_where_structure_costs_nothing(bert):
    assert bert.using("movers").compare(PAIR[0], PAIR[0]).broken == ()
    assert bert.using("lambda").compare(*PAIR).broken == ()
    assert bert.using("wmd").compare(*PAIR).broken == ()


def test_chance_is_the_distance_of_the_product_plan(bert):
    found = bert.compare(*PAIR)
    u, v = found.plan.sum(axis=1), found.plan.sum(axis=0)
    a, b = found.source_attention[3], found.target_attention[3]
    gaps = (a[:, None, :, None] - b[None, :, None, :]) ** 2
    structural = found.heads[3].scale * np.einsum("ijkl,i,j,k,l", gaps, u, v, u, v)
    expected = (1 - found.mix) * (u @ found.cost @ v) + found.mix * structural
    head = Explanation(found, found).to_dict()["structure"]["heads"][3]
    assert head["chance"] == pytest.approx(expected, rel=1e-4)


def test_attention_survives_as_bytes(bert, payload):
    found = bert.using(layers="all").compare(*PAIR)
    head = payload["structure"]["heads"][5]
    shown = np.frombuffer(b64decode(head["target_attention"]), np.uint8) / 255
    np.testing.assert_allclose(shown, found.target_attention[5].ravel(), atol=0.002)


def test_parts_put_the_sentence_together_again(payload):
    for side in ("source", "target"):
        parts = payload[f"{side}_parts"]
        assert "".join(text for text, _ in parts) == payload[side]
        words = [text for text, number in parts if number is not None]
        assert words == payload[f"{side}_words"]


def test_lambda_reports_the_words_under_the_structural_plan(bert):
    scorer = bert.using("lambda-wrd")
    structure = scorer.explain(*PAIR).to_dict()["structure"]
    assert structure["distance"] == pytest.approx(scorer.compare(*PAIR).distance, abs=1e-12)
    assert tuple(structure["shares"]) == (1.0, 0.0)


@pytest.mark.parametrize("method", ["wmd", "bow", "bertscore", "smd", "wmdo"])
def test_every_kind_of_measure_says_what_it_has(bert, method):
    scorer = bert.using(method)
    found = scorer.explain(*PAIR).to_dict()
    json.dumps(found, allow_nan=False)
    expected = scorer.compare(*PAIR)
    half = found["structure"] if method == "smd" else found["words"]
    assert half["distance"] == pytest.approx(expected.distance, abs=1e-12)
    assert (found["structure"] is None) == (method != "smd")
    assert (found["words"] is None) == (method == "smd")


def test_a_pair_without_distance_is_strict_json(bert):
    found = bert.using(empty="nan").explain("", "lazy dog").to_dict()
    assert json.loads(json.dumps(found, allow_nan=False))["structure"]["distance"] is None


def run(*arguments):
    try:
        return cli.main([str(argument) for argument in arguments])
    except SystemExit as stop:
        return stop.code


def test_the_command_writes_the_page(tmp_path, capsys):
    path = tmp_path / "swap.html"
    assert run("explain", *SWAP, "--html", path, "--layers", "5") == 0
    page = path.read_text("utf-8")
    assert page.startswith("<!doctype html>") and "layers:5" in page
    assert f"wrote {path}" in capsys.readouterr().err
    assert run("explain", *SWAP, SWAP[0], "--html", path, "--layers", "5") == 0
    assert " | ".join([*SWAP, SWAP[0]]) in path.read_text("utf-8")


def test_the_command_prints_json(capsys, embedded):
    assert run("explain", *SWAP, "--json", "--whitening", "none", "--method", "wsmd-wmd") == 0
    found = json.loads(capsys.readouterr().out)
    expected = embedded.using("wsmd-wmd").compare(*SWAP)
    assert found["structure"]["distance"] == pytest.approx(expected.distance, abs=1e-12)


def test_the_command_asks_where_to_write(capsys):
    assert run("explain", *SWAP) == 1
    assert "--html out.html" in capsys.readouterr().err


def test_words_alone_may_stay_at_home_where_the_measure_lets_them(bert):
    scorer, pair = bert.using("wsmd", null=0.3), (SENTENCES[0], SENTENCES[6])
    payload = scorer.explain(*pair).to_dict()
    words = bert.using("wrd", null=0.3).compare(*pair)
    assert payload["words"]["distance"] == pytest.approx(words.distance, rel=1e-9)
    assert payload["home"] == scorer.compare(*pair).parts["at home"] > 0
    heads = {(head["layer"], head["head"]): head for head in payload["structure"]["heads"]}
    own = [heads[tuple(head)] for head in payload["structure"]["selected"]]
    for name, mean in (("value", payload["structure"]["distance"]), ("home", payload["home"])):
        assert np.mean([head[name] for head in own]) == pytest.approx(mean, rel=1e-3)


def test_links_are_there_if_asked_for(bert):
    found = bert.explain(*PAIR, links=True).to_dict()["links"]
    expected = bert.align(*PAIR)
    links = [tuple(link[:2]) for link in found["links"]]
    assert links == sorted(expected.pairs)
    assert found["unmatched_target"] == [*expected.unmatched_target]
    for side in ("source", "target"):
        pieces = found[f"{side}_parts"]
        assert "".join(text for text, _ in pieces) == getattr(expected, side)
        assert [text for text, word in pieces if word is not None] == found[f"{side}_words"]
    assert bert.explain(*PAIR).to_dict()["links"] is None
