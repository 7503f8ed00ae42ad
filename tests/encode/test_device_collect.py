"""Attention cut to words: the compiled loops and the tensors of a GPU say the same."""

import numpy as np
import pytest

from movers.encode.collect import Collector
from movers.encode.device_collect import DeviceCollector
from movers.encode.encodings import MEAN_HEAD, Request
from movers.encode.tokens import TokenRules
from movers.encode.transformer import TransformerEncoder
from tiny_models import SENTENCES

HEADS = ((1, 1), (1, MEAN_HEAD), (2, 2), (2, 1), (3, 1))
MIXED = ["", "the of", "unquestionably misunderstood, untranslatable!", *SENTENCES]


@pytest.fixture(scope="module")
def encoders(tiny):
    """One that cuts by kernels, and one that cuts by tensors, as on a GPU."""
    kernels, tensors = (TransformerEncoder(tiny("bert")) for _ in range(2))
    tensors.gathers = True
    return kernels, tensors


def without_some(take):
    """Attention of which some tokens have none at all."""

    def changed(self, layer, matrices):
        take(self, layer, matrices * (matrices > 0.08))

    return changed


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("subwords", ["mean", "first"])
@pytest.mark.parametrize("recipe", ["paper", "reference"])
def test_kernel_and_tensors_agree_bit_for_bit(encoders, monkeypatch, recipe, subwords, sparse):
    request = Request((3,), HEADS, TokenRules(None, recipe, subwords))
    for kind in (Collector, DeviceCollector) if sparse else ():
        monkeypatch.setattr(kind, "take_attention", without_some(kind.take_attention))
    found, expected = (encoder.encode(MIXED, request) for encoder in encoders)
    assert np.diff(found.structure.starts).max() > 0
    np.testing.assert_array_equal(found.structure.data, expected.structure.data)
    np.testing.assert_array_equal(found.sums, expected.sums)
    np.testing.assert_array_equal(found.squares, expected.squares)
