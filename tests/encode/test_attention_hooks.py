"""A model that stops where nothing is left to read."""

from dataclasses import replace

import numpy as np
import pytest

from movers.encode.encodings import Request
from movers.encode.transformer import TransformerEncoder
from tiny_models import SENTENCES

REQUESTS = [
    Request((0,)),
    Request((1,), ((1, 1), (2, 2))),
    Request((2,), ((1, 2),)),
    Request((), ((2, 1),)),
    Request((0, 2), ((3, 1),)),
]
STOPPING = ("bert", "distilbert", "electra", "roberta", "modernbert", "xlm-roberta")


@pytest.mark.parametrize("name", [*STOPPING, "albert"])
def test_what_is_read_has_the_bits_of_a_whole_pass(tiny, name):
    encoder = TransformerEncoder(tiny(name))
    assert encoder.stoppable == (name in STOPPING)
    for request in REQUESTS:
        early = encoder.encode(SENTENCES, request)
        whole = encoder.encode(SENTENCES, replace(request, pooled=True))
        np.testing.assert_array_equal(early.structure.data, whole.structure.data)
        for layer in request.embeddings:
            np.testing.assert_array_equal(early.vectors[layer].data, whole.vectors[layer].data)


def test_layers_behind_the_last_that_is_read_do_not_run(tiny):
    encoder, seen = TransformerEncoder(tiny("bert")), []
    for number, layer in enumerate(encoder.model.encoder.layer, 1):
        layer.intermediate.register_forward_hook(lambda *_, number=number: seen.append(number))
    for request, run in zip(REQUESTS, [[], [1], [1, 2], [1], [1, 2]], strict=True):
        seen.clear()
        encoder.encode(SENTENCES[:2], request)
        assert seen == run
    seen.clear()
    encoder.encode(SENTENCES[:2], Request(pooled=True))
    assert seen == [1, 2, 3]
