"""Every architecture loads from a folder, encodes, and compares."""

import shutil

import numpy as np
import pytest
import torch
import transformers

import movers
from movers.encode.encodings import Request
from movers.encode.tokens import TokenRules
from movers.encode.transformer import TransformerEncoder
from movers.errors import ModelError
from tiny_models import ATTENTIVE, PECULIAR, SENTENCES, TINY

ROUNDING = 3e-5
"""What a GPU and a processor may differ by on the same tiny model."""


def plain_forward(folder, sentence):
    """Hidden states and attention of one sentence by transformers alone."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModel.from_pretrained(folder, attn_implementation="eager").eval()
    with torch.no_grad():
        ids = torch.tensor([tokenizer(sentence)["input_ids"]])
        mask = torch.ones_like(ids)
        output = model(ids, attention_mask=mask, output_hidden_states=True, output_attentions=True)
    return [state[0].numpy() for state in output.hidden_states], np.concatenate(
        [matrix[0].numpy() for matrix in output.attentions]
    )


@pytest.mark.parametrize("name", ATTENTIVE)
def test_agrees_with_a_plain_forward_pass(tiny, name):
    encoder = TransformerEncoder(tiny(name))
    hidden, attention = plain_forward(tiny(name), SENTENCES[3])
    sentences = [*SENTENCES[:3], SENTENCES[3]]
    layers, heads, tokens = 3, 2, len(hidden[0])
    assert (encoder.layers, encoder.heads, encoder.dimension) == (layers, heads, 16)
    for layer in range(layers + 1):
        states = encoder.states(sentences, layer)[3]
        assert states.shape == (tokens, 16)
        np.testing.assert_allclose(states, hidden[layer], atol=ROUNDING)
    full = max(encoder.attentions(sentences), key=lambda matrix: matrix.shape[1])
    assert full.shape == (layers * heads, tokens, tokens)
    np.testing.assert_allclose(full, attention, atol=ROUNDING)
    np.testing.assert_allclose(full.sum(axis=2), 1, atol=ROUNDING)


@pytest.mark.parametrize("name", ATTENTIVE)
def test_reference_recipe_keeps_sums_of_the_full_matrix(tiny, name):
    encoder = TransformerEncoder(tiny(name))
    every = tuple((layer, head) for layer in (1, 2, 3) for head in (1, 2))
    request = Request((0, 3), every, TokenRules(recipe="reference"))
    encodings = encoder.encode(SENTENCES, request)
    hidden, attention = plain_forward(tiny(name), SENTENCES[0])
    assert encodings.sizes[0] == attention.shape[1]
    np.testing.assert_allclose(encodings.sums[0], attention.sum(axis=(1, 2)), rtol=1e-5)
    np.testing.assert_allclose(encodings.squares[0], np.square(attention).sum((1, 2)), rtol=1e-5)
    words = encodings.counts[0]
    assert encodings.vectors[3][0].shape == (words, 16)
    assert encodings.structure[0].shape == (len(every) * words * words,)
    # without filtering, every word's first piece is a row of the plain states
    distances = np.abs(encodings.vectors[3][0][:, None] - hidden[3][None]).max(axis=2)
    assert (distances.min(axis=1) < ROUNDING).all()
    assert (np.diff(distances.argmin(axis=1)) > 0).all()


@pytest.mark.parametrize("name", ATTENTIVE)
def test_compares(tiny, name):
    scorer = movers.load("wsmd", model=str(tiny(name)), whitening="none")
    found = scorer.compare(*SENTENCES[:2])
    assert len(found.heads) == 6
    assert 0 < found.distance < 2
    assert found.source_words == ("press", "greets", "president", "Chicago")
    np.testing.assert_allclose(found.plan.sum(), 1)


@pytest.mark.parametrize("name", ["bert", "roberta", "xlm-roberta", "mpnet", "modernbert"])
def test_reads_up_to_the_last_position(tiny, tmp_path, name):
    """The longest input that is let through must not run past the position table."""
    folder = shutil.copytree(tiny(name), tmp_path / name)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    tokenizer.model_max_length = 10**6
    tokenizer.save_pretrained(folder)
    encoder = TransformerEncoder(folder)
    assert 70 <= encoder.max_length <= 80
    with pytest.warns(match=f"1 sentence longer than the {encoder.max_length} tokens"):
        encodings = encoder.encode(["dog " * 200], Request((1,)))
    assert encodings.counts[0] <= encoder.max_length
    assert np.isfinite(encodings.vectors[1].data).all()


def test_a_model_without_attention_has_words_only(tiny):
    wmd = movers.load("wmd", tiny("fnet"), whitening="none")
    assert wmd.compare(*SENTENCES[:2]).distance > 0
    with pytest.raises(movers.ModelError, match="no attention"):
        wmd.using("wsmd").compare(*SENTENCES[:2])


def test_heads_are_those_a_model_has(tiny):
    """Half of a ConvBERT's heads are convolutions."""
    scorer = movers.load(model=tiny("convbert"), layers="all")
    assert scorer.encoder.config.num_attention_heads == 2
    assert scorer.encoder.heads == 1
    assert [*scorer.heads] == [(1, 1), (2, 1), (3, 1)]
    assert scorer.distances([SENTENCES[:2]])[0] > 0


@pytest.mark.parametrize("name", [*PECULIAR, "xlnet"])
def test_sentences_of_unequal_length_change_nothing(tiny, name):
    """Convolutions and Fourier transforms would take padding for words."""
    encoder = TransformerEncoder(tiny(name), device="cpu")  # a GPU rounds convolutions more
    for sentence, found in zip(SENTENCES, encoder.states(SENTENCES, 3), strict=True):
        (alone,) = encoder.states([sentence], 3)
        np.testing.assert_allclose(found, alone, atol=ROUNDING * np.abs(alone).max())


def test_attention_to_neighbours_alone_is_refused(tiny):
    """Its matrices have a column for every distance, not for every token."""
    with pytest.raises(ModelError, match=r"not attend from every token .* \d+, 9\); use a mea"):
        movers.load(model=tiny("longformer")).distances([SENTENCES[3:5]])
    wmd = movers.load("wmd", tiny("longformer"), whitening="none")
    assert wmd.distances([SENTENCES[:2]])[0] > 0


def test_the_table_covers_the_three_families():
    assert {family for family, *_ in TINY.values()} == {"wordpiece", "bpe", "unigram"}
