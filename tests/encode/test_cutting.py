"""Attention cut to words: the compiled loops and the tensors of a GPU say the same."""

import numpy as np
import pytest
import torch

from movers.encode.encodings import MEAN_HEAD, Request
from movers.encode.keeping import Keeper
from movers.encode.tokens import TokenRules
from movers.encode.transformer import TransformerEncoder
from tiny_models import SENTENCES

HEADS = ((1, 1), (1, MEAN_HEAD), (2, 2), (2, 1), (3, 1))
MIXED = ["", "the of", "unquestionably misunderstood, untranslatable!", *SENTENCES]


@pytest.fixture(scope="module")
def encoder(tiny):
    return TransformerEncoder(tiny("bert"))


def without_some(take):
    """Attention of which some tokens have none at all."""

    def changed(self, layer, matrices):
        take(self, layer, torch.where(matrices > 0.08, matrices, 0.0))

    return changed


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("subwords", ["mean", "first"])
@pytest.mark.parametrize("recipe", ["paper", "reference"])
def test_kernel_and_tensors_agree_bit_for_bit(encoder, monkeypatch, recipe, subwords, sparse):
    request = Request((3,), HEADS, TokenRules(None, recipe, subwords))
    if sparse:
        monkeypatch.setattr(Keeper, "take_attention", without_some(Keeper.take_attention))
    found = encoder.encode(MIXED, request)
    monkeypatch.setattr(Keeper, "_cut", Keeper._cut_on_device)
    expected = encoder.encode(MIXED, request)
    assert np.diff(found.structure.starts).max() > 0
    np.testing.assert_array_equal(found.structure.data, expected.structure.data)
    np.testing.assert_array_equal(found.sums, expected.sums)
    np.testing.assert_array_equal(found.squares, expected.squares)
