"""The light engine says what torch says, in any company, for every kind of request."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import movers
from movers.encode import models
from movers.encode.encodings import MEAN_HEAD, Request
from movers.encode.light import LightEncoder
from movers.encode.tokens import TokenRules, read
from movers.encode.whiten import Moments
from movers.loading import load_encoder
from movers.measures.registry import METHODS
from movers.search.index import Index, any_engine

SENTENCES = [
    "the dog bites the man",
    "the man bites the dog",
    "unquestionably misunderstood, untranslatable économistes!",
    "鮪 eats 鯖 in the 鰯 market",
    "[CLS] written [SEP] out [PAD] loud, and [UNK] too",
    "Tabs\tand\x00control \u200bcharacters\ufffd, 中文字符 ΑΒΓ straße",
    "",
    "of the",
    "a president greets the press in Chicago while the reporters of the evening papers write " * 5,
]
PAIRS = [(a, b) for a in SENTENCES[:5] for b in SENTENCES[:5]]
EVERYTHING = Request(
    (0, 3, 6),
    ((1, 1), (2, MEAN_HEAD), (4, 12), (6, 3)),
    TokenRules(None, "reference", "mean"),
    True,
)
AGREE = 1e-5
"""Rounding of a forward pass in single precision."""
SCORES = 1e-6
"""The same for distances, of their size if that is above 1."""


@pytest.fixture(scope="module")
def light():
    return load_encoder(engine="light")


@pytest.fixture(scope="module")
def torch_engine():
    pytest.importorskip("torch")
    return load_encoder(device="cpu", engine="torch")


def test_the_embedded_model_needs_no_torch():
    assert load_encoder(device="cpu").engine == "light"


def test_weights_may_be_links_to_another_folder(light, tmp_path, monkeypatch):
    for path in models.embedded_folder().iterdir():
        (tmp_path / path.name).symlink_to(path)
    monkeypatch.setattr(models, "embedded_folder", lambda: tmp_path)
    texts = SENTENCES[:2]
    linked, plain = (one.encode(texts, EVERYTHING) for one in (LightEncoder(), light))
    assert all(np.array_equal(linked.vectors[6][k], plain.vectors[6][k]) for k in range(2))


def test_both_engines_read_the_same_tokens(light, torch_engine):
    found, expected = (
        read(one.tokenizer, SENTENCES, one.max_length) for one in (light, torch_engine)
    )
    assert light.max_length == torch_engine.max_length
    assert light.vocabulary.pieces == torch_engine.vocabulary.pieces
    np.testing.assert_array_equal(found.ids.data, expected.ids.data)
    np.testing.assert_array_equal(found.real, expected.real)
    np.testing.assert_array_equal(found.offsets, expected.offsets)


def test_vectors_and_attention_agree(light, torch_engine):
    found, expected = (one.encode(SENTENCES, EVERYTHING) for one in (light, torch_engine))
    for layer in EVERYTHING.embeddings:
        rows = found.vectors[layer].data, expected.vectors[layer].data
        np.testing.assert_allclose(*rows, atol=AGREE)
    np.testing.assert_allclose(found.structure.data, expected.structure.data, atol=AGREE)
    np.testing.assert_allclose(found.pooled, expected.pooled, atol=AGREE)
    np.testing.assert_allclose(found.sums, expected.sums, rtol=AGREE)
    assert found.spellings == expected.spellings


def test_states_attentions_and_moments_agree(light, torch_engine):
    moments = []
    for one in (light, torch_engine):
        moments.append({6: Moments(384)})
        one.encode(SENTENCES[:3], Request(), moments=moments[-1], counts=[1, 2, 3])
    np.testing.assert_allclose(moments[0][6].mean, moments[1][6].mean, atol=AGREE)
    states = zip(light.states(SENTENCES, 4), torch_engine.states(SENTENCES, 4), strict=True)
    for found, expected in states:
        np.testing.assert_allclose(found, expected, atol=AGREE)
    every = zip(light.attentions(SENTENCES), torch_engine.attentions(SENTENCES), strict=True)
    for found, expected in every:
        np.testing.assert_allclose(found, expected, atol=AGREE)


@pytest.mark.parametrize("name", [n for n, row in METHODS.items() if not row.parsed])
def test_every_distance_agrees(torch_engine, name):
    both = (movers.load(name, engine=kind, empty="keep") for kind in ("light", "torch"))
    found, expected = (scorer.distances(PAIRS) for scorer in both)
    np.testing.assert_allclose(found, expected, rtol=SCORES, atol=SCORES)


def test_a_sentence_has_the_same_bits_in_any_company_and_with_any_threads(light):
    rng = np.random.default_rng(0)
    words = ["the", "dog", "president", "greets", "unbelievably", "鮪", "economist", "of", "a"]
    texts = [" ".join(rng.choice(words, size)) for size in rng.integers(1, 160, 24)]
    together = light.encode(texts, EVERYTHING)
    before = light.model_threads
    try:
        for threads in (1, 2):
            light.model_threads = threads
            for row, text in enumerate(texts):
                alone = light.encode([text], EVERYTHING)
                np.testing.assert_array_equal(alone.pooled[0], together.pooled[row])
                np.testing.assert_array_equal(alone.structure[0], together.structure[row])
                for layer, rows in together.vectors.items():
                    np.testing.assert_array_equal(alone.vectors[layer][0], rows[row])
    finally:
        light.model_threads = before


def test_what_is_read_of_a_sentence_changes_nothing(light):
    whole = light.encode(SENTENCES, EVERYTHING)
    early = light.encode(SENTENCES, Request((3,), ((2, MEAN_HEAD),), EVERYTHING.rules))
    np.testing.assert_array_equal(early.vectors[3].data, whole.vectors[3].data)


def test_the_signature_says_which_engine_it_was(torch_engine):
    signatures = [str(movers.load(engine=kind).signature) for kind in ("light", "torch")]
    assert "|engine:light" in signatures[0] and "|engine:torch" in signatures[1]
    assert any_engine(signatures[0]) == any_engine(signatures[1])


@pytest.mark.parametrize("kinds", [("light", "torch"), ("torch", "light")])
def test_an_index_of_one_engine_is_searched_by_the_other(tmp_path, torch_engine, kinds):
    built, asked = (movers.load("wsmd", engine=kind) for kind in kinds)
    Index.build(built, SENTENCES[:6], tmp_path / "index")
    found = Index.open(tmp_path / "index", scorer=asked).search(SENTENCES[0], top_k=3)
    expected = asked.rank(SENTENCES[0], SENTENCES[:6], top_k=3)
    assert [match.text for match in found] == [match.text for match in expected]
    for a, b in zip(found, expected, strict=True):
        assert a.distance == pytest.approx(b.distance, abs=SCORES)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")
def test_a_forked_process_encodes(light):
    expected = light.encode(SENTENCES[:2], Request(pooled=True)).pooled
    child = os.fork()
    if child == 0:
        try:
            found = light.encode(SENTENCES[:2], Request(pooled=True)).pooled
            os._exit(0 if np.array_equal(found, expected) else 1)
        finally:
            os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_the_graph_is_what_the_script_makes():
    pytest.importorskip("onnx")
    root = Path(__file__).parents[2]
    spec = importlib.util.spec_from_file_location("make_graph", root / "scripts" / "make_graph.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    shipped = root / "src" / "movers" / "data" / f"{models.EMBEDDED}.onnx"
    made = script.make(models.embedded_folder())
    assert made == type(made).FromString(shipped.read_bytes())


def test_the_runtime_keeps_nothing_about_this_machine_and_reports_to_nobody(tmp_path):
    code = "import movers; movers.distance('a dog', 'a cat')"
    environment = {k: v for k, v in os.environ.items() if k != "ORT_DISABLE_TELEMETRY"}
    homes = {name: str(tmp_path) for name in ("HOME", "XDG_CACHE_HOME", "LOCALAPPDATA")}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment | homes, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert not [path for path in tmp_path.rglob("*") if "onnxruntime" in path.name]
