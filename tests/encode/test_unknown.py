"""Words that a model does not know: each is itself, and no other."""

import subprocess
import sys

import numpy as np
import pytest
import torch

from movers.encode.encodings import Request
from movers.encode.tokens import DRAWN, _pieces, own_vectors, read
from movers.encode.transformer import TransformerEncoder
from tiny_models import SENTENCES, TINY

KNOWING = [name for name, (family, *_) in TINY.items() if family != "bpe"]
BPE = [name for name, (family, *_) in TINY.items() if family == "bpe"]
ROUNDING = 1e-4
FISH = ("鮪", "鯖")
MEASURES = [
    "movers",
    "wmd",
    "wrd",
    "smd",
    "wsmd",
    "wsmd-wmd",
    "average",
    "cls",
    "bertscore",
    "moverscore",
    "dynamax",
    "opwd",
    "bow",
]
UNLIKE = [
    ("😀 😀", "😡 😡"),
    ("☃☃", "☂☂"),
    ("鮪 鯖 鰯", "鯛 鮭 鱈"),
    ("I ate 鮪 today", "I ate 鯖 today"),
]

pytestmark = pytest.mark.filterwarnings("ignore::movers.runtime.notices.UnknownWarning")


def everything(encoder, sentences):
    whole = encoder.heads > 1 and encoder.config.model_type != "longformer"
    heads = ((1, 1), (2, 2)) if whole else ()
    return encoder.encode(sentences, Request((0, 1, 2, 3), heads, pooled=True))


@pytest.mark.parametrize("name", KNOWING)
def test_the_same_word_is_the_same_and_another_is_not(tiny, name):
    encoder = TransformerEncoder(tiny(name))
    texts = [*FISH, "the dog", "a 鮪 the 鯖"]
    found = everything(encoder, [*texts, "鮪\t", SENTENCES[0]])
    alone = everything(encoder, ["鮪"])
    np.testing.assert_allclose(found.pooled[0], alone.pooled[0], atol=ROUNDING)
    for layer, vectors in found.vectors.items():
        np.testing.assert_allclose(vectors[0], alone.vectors[layer][0], atol=ROUNDING)
        np.testing.assert_allclose(vectors[0], vectors[4], atol=ROUNDING)
        assert np.abs(vectors[0] - vectors[1]).max() > 0.01
    assert np.abs(found.pooled[0] - found.pooled[1]).max() > 0.01


@pytest.mark.parametrize("name", BPE)
def test_bytes_are_always_known(tiny, name):
    encoder = TransformerEncoder(tiny(name))
    text = read(encoder.tokenizer, FISH, encoder.max_length)
    assert encoder.tokenizer.unk_token_id not in text.ids.data
    assert text.unknown == ()


def test_sentences_of_known_words_do_not_change_beside_unknown_ones(bert):
    encoder = bert.encoder
    alone = everything(encoder, [SENTENCES[0]])
    mixed = everything(encoder, ["鮪 sold 鯖", SENTENCES[0], "the 鰯 " * 20])
    np.testing.assert_array_equal(mixed.pooled[1], alone.pooled[0])
    np.testing.assert_array_equal(mixed.structure[1], alone.structure[0])
    np.testing.assert_array_equal(mixed.vectors[3][1], alone.vectors[3][0])


def test_batches_and_order_change_no_bit(bert, monkeypatch):
    encoder = bert.encoder
    texts = [f"the {a} greets {b}" for a in (*FISH, "dog") for b in (*FISH, "fox", "鰯鰯")]
    whole = everything(encoder, texts)
    monkeypatch.setattr(encoder, "batch_size", 3)
    other = everything(encoder, texts[::-1])
    for row in range(len(texts)):
        np.testing.assert_array_equal(whole.pooled[row], other.pooled[-1 - row])
        np.testing.assert_array_equal(whole.structure[row], other.structure[-1 - row])


def test_case_does_not_matter_to_a_model_of_lower_case(tiny):
    encoder = TransformerEncoder(tiny("bert"))
    found = everything(encoder, ["ЖУК", "жук", "Ж"])
    np.testing.assert_array_equal(found.pooled[0], found.pooled[1])
    assert np.abs(found.pooled[0] - found.pooled[2]).max() > 0.01


def test_the_tokens_own_name_is_known(tiny):
    encoder = TransformerEncoder(tiny("bert"))
    assert read(encoder.tokenizer, ["[UNK] greets"], encoder.max_length).unknown == ()


def test_states_and_attentions_read_the_same_vectors(bert):
    texts = [f"the {fish} sleeps" for fish in FISH]
    found = everything(bert.encoder, texts)
    for row, states in enumerate(bert.encoder.states(texts, 3)):
        np.testing.assert_array_equal(states[1:-1], found.vectors[3][row])
    first, second = bert.encoder.attentions(texts)
    assert np.abs(first - second).max() > 0.001


def test_own_vectors_have_the_mean_and_covariance_of_the_vocabulary():
    known = np.random.default_rng(0).normal(size=(500, 4)) * [0.1, 1, 2, 5] + [3, 0, 0, -1]
    found = own_vectors(known.__getitem__, 500, [f"word {n}" for n in range(4000)])[1:]
    spread = known.std(axis=0)
    np.testing.assert_allclose(found.mean(axis=0) / spread, known.mean(axis=0) / spread, atol=0.08)
    np.testing.assert_allclose(found.std(axis=0) / spread, 1.0, atol=0.05)


def test_what_a_word_draws_does_not_depend_on_the_process():
    code = "from movers.encode.tokens import _pieces; print(_pieces('鮪', 30522).tolist())"
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert other.stdout.strip() == str(_pieces("鮪", 30522).tolist())
    assert _pieces("鮪", 30522)[:3].tolist() == [4976, 23350, 13685]
    assert len(_pieces("鮪", 30522)) == DRAWN


@pytest.fixture(scope="module")
def default(embedded):
    return embedded.using("movers")


@pytest.mark.parametrize("method", MEASURES)
def test_unknown_words_are_equal_only_to_themselves(default, method):
    scorer = default.using(method, empty="keep")
    pairs = UNLIKE[2:] if method == "bow" else UNLIKE  # which has letters only
    if method == "smd":  # structure alone: two words attend to each other or to themselves
        pairs = [pair for pair in UNLIKE if pair[0] != "☃☃"]
    same = scorer.distances([(source, source) for source, _ in pairs[-1:]])
    found = scorer.distances(pairs)
    assert np.abs(same).max() < 1e-9
    assert (found > 1e-3).all()
    np.testing.assert_allclose(scorer.distances([pair[::-1] for pair in pairs]), found, atol=1e-9)


def test_the_default_measure_takes_them_for_unrelated_words(default):
    assert (default.distances(UNLIKE[:3]) > 0.6).all()
    unlike, known = default.distances([UNLIKE[3], ("I ate tuna today", "I ate rocks today")])
    assert 0.5 * known < unlike < 2 * known


def test_their_order_is_seen(default):
    swapped, same = default.distances(
        [("鮪 eats 鯖", "鯖 eats 鮪"), ("鮪 eats 鯖", "鯖 is eaten by 鮪")]
    )
    assert swapped > same + 0.05 and swapped > 0.15


def test_alignment_links_a_word_to_itself(default):
    found = default.align("the 鮪 saw a 鯖", "a 鯖 saw the 鮪")
    linked = {(link.source, link.target) for link in found.links}
    assert {("鮪", "鮪"), ("鯖", "鯖")} <= linked
    assert ("鮪", "鯖") not in linked


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
@pytest.mark.parametrize("name", [name for name in KNOWING if name != "convbert"])
def test_cuda_reads_the_same_vectors(tiny, monkeypatch, name):
    """Convolutions aside, which a GPU rounds to ten bits."""
    monkeypatch.setattr("movers.encode.encoder.WINDOW_BYTES", 3000)
    texts = [*FISH, "the 鮪 sold a 鯖", *SENTENCES[:4], "鰯 greets the 鮪"]
    near, far = (
        everything(TransformerEncoder(tiny(name), device=d), texts) for d in ("cpu", "cuda")
    )
    np.testing.assert_allclose(far.pooled, near.pooled, atol=1e-3)
    for layer, vectors in near.vectors.items():
        np.testing.assert_allclose(far.vectors[layer].data, vectors.data, atol=1e-3)
