"""A corpus kept on disk: the same bits as the model gives, each sentence through it once."""

from collections import Counter

import numpy as np
import pytest

from movers.encode.encodings import Request
from movers.encode.stopwords import load_stopwords
from movers.encode.tokens import TokenRules
from movers.encode.transformer import TransformerEncoder
from movers_research import encoded_corpus as corpus_file
from movers_research.encoded_corpus import CorpusEncoder
from tiny_models import SENTENCES

HEADS = tuple((layer, head) for layer in (1, 2, 3) for head in (1, 2))
WORDS = Request((0, 3), HEADS, TokenRules(load_stopwords("english")))
TOKENS = Request((3,), (), TokenRules(unit="token"))
COUNTS = Counter([*SENTENCES, *SENTENCES[:3], "the of"])


@pytest.fixture
def model(tiny):
    return TransformerEncoder(tiny("bert"))


@pytest.fixture
def forwards(monkeypatch):
    """Sentences that went through the model."""
    seen = []
    forward = TransformerEncoder._forward

    def counted(self, batch, *rest):
        seen.extend(batch.rows)
        return forward(self, batch, *rest)

    monkeypatch.setattr(TransformerEncoder, "_forward", counted)
    return seen


@pytest.fixture
def small_parts(monkeypatch):
    monkeypatch.setattr(corpus_file, "PART_BYTES", 8_000)


def made(model, folder, requests=(WORDS, TOKENS)):
    encoder = CorpusEncoder(model, folder, COUNTS, requests, ordered=True)
    encoder.run()
    return encoder


def assert_equal(found, expected):
    assert found.sentences == expected.sentences and found.spellings == expected.spellings
    assert found.vectors.keys() == expected.vectors.keys()
    for layer in found.vectors:
        np.testing.assert_array_equal(found.vectors[layer].data, expected.vectors[layer].data)
    np.testing.assert_array_equal(found.structure.data, expected.structure.data)
    for name in ("sums", "squares", "sizes"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
    np.testing.assert_array_equal(found.spans.data, expected.spans.data)


def test_sentences_come_back_as_the_model_gives_them(model, tmp_path, small_parts, forwards):
    encoder = made(model, tmp_path)
    assert len(list(tmp_path.iterdir())) > 2
    assert len(forwards) == len(COUNTS)
    shuffled = list(np.random.default_rng(0).permutation(list(COUNTS)))
    for asked in (
        WORDS,
        TOKENS,
        Request((3,), HEADS[1:3], WORDS.rules),
        Request((0,), (), WORDS.rules),
    ):
        found = encoder.encode(shuffled, asked)
        assert len(forwards) == len(COUNTS), "read, not computed"
        expected = model.encode(shuffled, asked)
        del forwards[len(COUNTS) :]
        assert_equal(found, expected)


def test_files_are_mapped_one_by_one_where_there_is_no_room(
    model, tmp_path, small_parts, monkeypatch
):
    monkeypatch.setattr(corpus_file, "OPEN_BYTES", 2)
    encoder = made(model, tmp_path)
    assert_equal(encoder.encode(SENTENCES, WORDS), model.encode(SENTENCES, WORDS))
    store = encoder.stores[0]
    assert len(store.mapped) == 1 < len(store.files)
    assert_equal(encoder.encode(SENTENCES[::-1], WORDS), model.encode(SENTENCES[::-1], WORDS))


def test_other_sentences_and_requests_go_through_the_model(model, tmp_path):
    encoder = made(model, tmp_path)
    other = [SENTENCES[0], "a sentence nobody announced"]
    assert_equal(encoder.encode(other, WORDS), model.encode(other, WORDS))
    pieces = Request((1,), (), TokenRules(unit="piece"))
    assert_equal(encoder.encode(SENTENCES, pieces), model.encode(SENTENCES, pieces))


def test_a_broken_run_goes_on_where_it_stopped(model, tmp_path, small_parts, forwards):
    whole = made(model, tmp_path / "whole")
    expected = {layer: corpus_file.sums_of(moments) for layer, moments in whole.moments.items()}
    forwards.clear()
    broken = made(model, tmp_path / "broken")
    for part in sorted((tmp_path / "broken").glob("part-*"))[2:]:
        part.unlink()
    kept = sum(len(part) for part in list(broken._parts())[:2])
    forwards.clear()
    resumed = made(model, tmp_path / "broken")
    assert len(forwards) == len(COUNTS) - kept
    for layer, moments in resumed.moments.items():
        for name, array in corpus_file.sums_of(moments).items():
            np.testing.assert_array_equal(array, expected[layer][name])
    assert_equal(resumed.encode(SENTENCES, WORDS), whole.encode(SENTENCES, WORDS))


def test_moments_do_not_depend_on_being_cut(model, tmp_path, monkeypatch):
    whole = made(model, tmp_path / "whole").moments[3]
    monkeypatch.setattr(corpus_file, "PART_BYTES", 8_000)
    cut = made(model, tmp_path / "cut").moments[3]
    for found, expected in zip(cut.rounded(), whole.rounded(), strict=True):
        np.testing.assert_array_equal(found, expected)
    np.testing.assert_allclose(cut.covariance, whole.covariance, rtol=1e-9, atol=1e-12)
