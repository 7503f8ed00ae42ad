"""Encoded sentences are found by text, whichever block they lie in, and held within a bound."""

import numpy as np
import pytest

from movers.encode.encodings import Request, Store
from movers.encode.tokens import TokenRules
from movers.encode.transformer import TransformerEncoder
from tiny_models import SENTENCES

REQUEST = Request((3,), ((1, 1), (2, 2)), TokenRules())


@pytest.fixture(scope="module")
def encoder(tiny):
    return TransformerEncoder(tiny("bert"))


@pytest.fixture
def encoded(encoder):
    """What a store asks for, in order."""
    asked = []

    def encode(texts, request):
        asked.append(texts)
        return encoder.encode(texts, request)

    encode.asked = asked
    return encode


def assert_same(found, expected, texts):
    for text in texts:
        mine, other = found.rows[text], expected.rows[text]
        np.testing.assert_array_equal(found.vectors[3][mine], expected.vectors[3][other])
        np.testing.assert_array_equal(found.structure[mine], expected.structure[other])
        assert found.spellings[mine] == expected.spellings[other]


def test_what_lies_apart_is_put_together(encoder, encoded, monkeypatch):
    monkeypatch.setattr("movers.encode.encodings.GROWTH_BYTES", 0)
    store, whole = Store(REQUEST), encoder.encode(SENTENCES, REQUEST)
    for low in range(0, 6, 2):
        store.get(SENTENCES[low : low + 2], encoded)
    assert len(store.blocks) == 3
    wanted = [SENTENCES[5], SENTENCES[0], SENTENCES[3]]
    assert_same(store.get([*wanted, SENTENCES[7]], encoded), whole, [*wanted, SENTENCES[7]])
    assert [text for texts in encoded.asked for text in texts] == [*SENTENCES[:6], SENTENCES[7]]


def test_small_blocks_grow_and_the_least_used_are_forgotten(encoded, monkeypatch):
    store = Store(REQUEST)
    for text in SENTENCES[:4]:
        store.get([text], encoded)
    assert [len(block) for block in store.blocks] == [4]
    store.limit = 0
    monkeypatch.setattr("movers.encode.encodings.GROWTH", 1)  # too large to be joined
    store.get([SENTENCES[5]], encoded)
    assert [len(block) for block in store.blocks] == [1]
    assert [*store.blocks[0].rows] == [SENTENCES[5]]
