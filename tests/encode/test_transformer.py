"""Encoding: the same numbers in any company, each sentence once, no byte too many."""

import numpy as np
import pytest
import torch

from movers.arrays import gathered
from movers.encode import encoder as encoder_file
from movers.encode import models
from movers.encode.encodings import Encodings, Request
from movers.encode.stopwords import load_stopwords
from movers.encode.tokens import TokenRules, read
from movers.encode.transformer import TransformerEncoder
from movers.encode.whiten import Moments
from movers.errors import InputError
from movers.runtime.notices import TruncationWarning, UnknownWarning
from tiny_models import ATTENTIVE, SENTENCES

WORDS = " ".join(SENTENCES).replace(".", "").split()
RULES = TokenRules(load_stopwords("english"))


def of_length(count):
    return " ".join((WORDS * 4)[count % 7 :][:count])


@pytest.fixture
def two_threads():
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


def assert_same(encodings, other, rounding=2e-5):
    """Every sentence of ``encodings`` has the same numbers in ``other``.

    Not the same bits: some matrix libraries look at how many rows they multiply.
    """

    def check(found, expected):
        np.testing.assert_allclose(found, expected, rtol=rounding, atol=rounding)

    for row, sentence in enumerate(encodings.sentences):
        place = other.rows[sentence]
        for layer, vectors in encodings.vectors.items():
            check(vectors[row], other.vectors[layer][place])
        check(encodings.structure[row], other.structure[place])
        check(encodings.sums[row], other.sums[place])
        check(encodings.squares[row], other.squares[place])
        assert encodings.surface(row) == other.surface(place)


def test_numbers_do_not_depend_on_company(embedded, two_threads):
    encoder = embedded.encoder
    request = Request((0, 6), ((2, 1), (6, 12)), RULES)
    lengths = [1, 2, 3, 5, 13, 14, 15, 34, 55, 80, 90, 94, 95, 97, 120, 200]
    longer = [of_length(length) for length in lengths]
    shuffled = [*SENTENCES, *longer, *(of_length(length) for length in range(4, 40, 3))]
    shuffled = list(dict.fromkeys(shuffled))
    np.random.default_rng(0).shuffle(shuffled)
    together = encoder.encode(shuffled, request)
    torch.set_num_threads(1)
    assert_same(encoder.encode(shuffled[::-1], request), together)
    for sentence in [*longer, SENTENCES[0]]:
        assert_same(encoder.encode([sentence], request), together)


def test_numbers_do_not_depend_on_the_batch_budget(tiny):
    request = Request((3,), ((1, 1), (3, 2)), RULES)
    one, many = (TransformerEncoder(tiny("bert"), batch_tokens=size) for size in (1, 4096))
    assert_same(one.encode(SENTENCES, request), many.encode(SENTENCES, request))


@pytest.mark.parametrize("rules", [RULES, TokenRules(None, "reference", "mean")])
def test_gathering_sentences_before_they_are_kept_changes_nothing(tiny, monkeypatch, rules):
    """As on a GPU: some sentences at a time, sorted among themselves, sent off in one piece."""
    monkeypatch.setattr(encoder_file, "WINDOW_BYTES", 3000)
    request = Request((0, 3), ((1, 1), (3, 2)), rules, pooled=True)
    plain, apart = TransformerEncoder(tiny("bert")), TransformerEncoder(tiny("bert"))
    apart.gathers = True
    sentences = ["to the", *SENTENCES, ""]
    expected, found = plain.encode(sentences, request), apart.encode(sentences, request)
    text = read(apart.tokenizer, sentences, apart.max_length)
    words, _ = apart.finder(rules).find(text)
    assert len(apart._windows(request.nbytes(words.lengths, 16))) > 2
    assert_same(expected, found)
    np.testing.assert_allclose(found.pooled, expected.pooled, rtol=2e-5, atol=2e-5)
    assert found.sentences == expected.sentences


def test_joined_is_encoding_all_at_once(tiny):
    encoder = TransformerEncoder(tiny("bert"))
    request = Request((3,), ((1, 1),), RULES)
    halves = (encoder.encode(half, request) for half in (SENTENCES[:4], SENTENCES[4:]))
    joined = gathered(Encodings, [(half, slice(None)) for half in halves])
    assert joined.sentences == [*SENTENCES]
    assert_same(encoder.encode(SENTENCES, request), joined)


def test_a_subset_of_heads_is_cut_from_all_of_them(tiny):
    encoder = TransformerEncoder(tiny("bert"))
    every = tuple((layer, head) for layer in (1, 2, 3) for head in (1, 2))
    whole = encoder.encode(SENTENCES, Request((), every, RULES))
    part = encoder.encode(SENTENCES, Request((), ((3, 2), (1, 1)), RULES))
    for row, words in enumerate(whole.counts):
        blocks = whole.structure[row].reshape(6, words, words)
        np.testing.assert_array_equal(part.structure[row].reshape(2, words, words), blocks[[5, 0]])
        np.testing.assert_array_equal(part.squares[row], whole.squares[row][[5, 0]])


def test_memory_is_exactly_what_is_kept(tiny):
    encoder = TransformerEncoder(tiny("bert"))
    request = Request((0, 3), ((1, 1), (2, 2), (3, 1)), RULES)
    for sentences in (SENTENCES[:1], SENTENCES):
        encodings = encoder.encode(sentences, request)
        words = encodings.counts
        assert encodings.nbytes == 4 * (2 * 16 * words.sum() + 3 * np.square(words).sum())
        for array in (encodings.structure.data, *(v.data for v in encodings.vectors.values())):
            assert array.base is None and array.dtype == np.float32


def test_moments_cover_every_token_as_often_as_its_sentence(tiny):
    encoder = TransformerEncoder(tiny("bert"))
    moments = {2: Moments(16)}
    counts = [1, 3, 2]
    encoder.encode(SENTENCES[:3], Request((2,)), moments=moments, counts=counts)
    tokens = encoder.states(
        [s for s, n in zip(SENTENCES, counts, strict=False) for _ in range(n)], 2
    )
    tokens = np.concatenate(tokens).astype(float)
    assert moments[2].count == len(tokens)
    np.testing.assert_allclose(moments[2].mean, tokens.mean(axis=0), atol=1e-12)
    np.testing.assert_allclose(moments[2].covariance, np.cov(tokens.T), atol=1e-12)


def test_truncation_is_told_once_with_a_count(tiny):
    encoder = TransformerEncoder(tiny("bert"))
    long = [f"{word} " * 90 for word in ("dog", "fox")]
    with pytest.warns(TruncationWarning, match="2 sentences longer than the 64 tokens") as caught:
        encodings = encoder.encode([*SENTENCES, *long], Request((1,), rules=RULES))
    assert len(caught) == 1
    assert encodings.counts[-1] == 62


def test_nothing_to_encode(tiny):
    encodings = TransformerEncoder(tiny("bert")).encode([], Request((1,), ((1, 1),)))
    assert len(encodings) == encodings.nbytes == 0


def test_empty_and_stop_word_sentences_have_no_words(tiny):
    encoder = TransformerEncoder(tiny("bert"))
    rules = [RULES, TokenRules(RULES.stopwords, keep_empty=True)]
    plain, keeping = (
        encoder.encode(["", "to the", "dog"], Request((1,), ((1, 1),), r)) for r in rules
    )
    assert plain.counts.tolist() == [0, 0, 1]
    assert keeping.counts.tolist() == [0, 2, 1]
    assert keeping.surface(1) == ["to", "the"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dtype": "int8"}, "dtype must be one of"),
        ({"dtype": "float16", "device": "cpu"}, "needs a GPU.*dtype='bfloat16'"),
        ({"device": "tpu"}, "device must be 'auto'"),
        ({"device": 3}, "device must be 'auto'"),
    ],
)
def test_bad_options_are_refused_before_loading(options, message):
    with pytest.raises(InputError, match=message):
        TransformerEncoder("no/such-model", **options)


@pytest.mark.skipif(torch.cuda.is_available(), reason="this machine has CUDA")
def test_an_absent_device_is_refused():
    with pytest.raises(InputError, match=r"'cuda' is not available here; pass device='auto'"):
        TransformerEncoder(device="cuda")


def test_an_embedding_layer_out_of_range_is_refused(tiny):
    with pytest.raises(InputError, match=r"layer 4 is out of range; .* has 0 \(input\) to 3"):
        TransformerEncoder(tiny("bert")).encode(["a"], Request((4,)))


cuda = pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")


@cuda
@pytest.mark.parametrize("name", ATTENTIVE)
@pytest.mark.parametrize("rules", [RULES, TokenRules(None, "reference", "mean")])
def test_cuda_agrees_with_cpu(tiny, monkeypatch, name, rules):
    monkeypatch.setattr(encoder_file, "WINDOW_BYTES", 3000)
    request = Request((0, 2, 3), ((1, 1), (3, 2)), rules, pooled=True)
    near = TransformerEncoder(tiny(name), device="cpu").encode(SENTENCES, request)
    far = TransformerEncoder(tiny(name), device="cuda").encode(SENTENCES, request)
    assert_same(near, far, rounding=1e-3)
    np.testing.assert_allclose(far.pooled, near.pooled, atol=1e-3)


@cuda
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_precision_is_near(tiny, dtype):
    request = Request((3,), ((1, 1), (3, 2)), RULES, pooled=True)
    near = TransformerEncoder(tiny("bert"), device="cpu").encode(SENTENCES, request)
    far = TransformerEncoder(tiny("bert"), device="cuda", dtype=dtype).encode(SENTENCES, request)
    assert_same(near, far, rounding=0.2)


def test_bfloat16_on_a_processor_is_near(embedded):
    request = Request(pooled=True)
    try:
        half = TransformerEncoder(device="cpu", dtype="bfloat16")
    except InputError as error:
        pytest.skip(str(error))
    near = embedded.encoder.encode(SENTENCES, request)
    far = half.encode(SENTENCES, request)
    units = [
        vectors / np.linalg.norm(vectors, axis=1)[:, None] for vectors in (near.pooled, far.pooled)
    ]
    assert 0 < np.abs(1 - np.einsum("ij,ij->i", *units)).max() < 2e-3


def test_bfloat16_is_refused_where_it_is_not_multiplied(monkeypatch):
    monkeypatch.setattr(torch.ops.mkldnn, "_is_mkldnn_bf16_supported", lambda: False)
    with pytest.raises(InputError, match="a processor that multiplies it"):
        TransformerEncoder(device="cpu", dtype="bfloat16")


@pytest.mark.skipif(not torch.backends.mkldnn.is_available(), reason="torch without oneDNN")
@pytest.mark.parametrize("name", ["bert", "distilbert"])
def test_packed_weights_multiply_as_before_and_stay_with_the_model(tiny, monkeypatch, name):
    packed = TransformerEncoder(tiny(name), device="cpu")
    monkeypatch.setattr(models, "prepack", lambda model: None)
    plain = TransformerEncoder(tiny(name), device="cpu")
    linear = [layer for layer in packed.model.modules() if type(layer) is torch.nn.Linear]
    assert linear and all("forward" in vars(layer) for layer in linear)
    request = Request((0, 3), ((1, 1), (3, 2)), RULES, pooled=True)
    assert_same(plain.encode(SENTENCES, request), packed.encode(SENTENCES, request))
    assert models.weights_digest(packed.model) == models.weights_digest(plain.model)


@cuda
def test_moments_are_the_same_on_cuda(tiny):
    near, far = {2: Moments(16)}, {2: Moments(16)}
    for device, moments in (("cpu", near), ("cuda", far)):
        TransformerEncoder(tiny("bert"), device=device).encode(
            SENTENCES, Request((2,)), moments=moments
        )
    np.testing.assert_allclose(far[2].covariance, near[2].covariance, atol=1e-3)


def test_a_batch_holds_no_more_sentences_than_allowed(bert, monkeypatch):
    encoder = bert.encoder
    sentences = [f"{text} again" for text in SENTENCES]
    whole = encoder.encode(sentences, bert.measure.requirements)
    monkeypatch.setattr(encoder, "batch_size", 2)
    text = read(encoder.tokenizer, sentences, encoder.max_length)
    sizes = [len(batch.rows) for batch in encoder._batches(text)]
    assert max(sizes) == 2 and sum(sizes) == len(sentences)
    few = encoder.encode(sentences, bert.measure.requirements)
    for layer, vectors in whole.vectors.items():
        np.testing.assert_allclose(few.vectors[layer].data, vectors.data, atol=1e-5)


def test_sentences_that_lose_their_end_are_named(tiny):
    encoder = TransformerEncoder(tiny("bert"))
    long = "dog " * 100
    with pytest.warns(TruncationWarning, match="1 sentence .*: 'dog dog"):
        encoder.encode(["a dog", long], Request())


def test_text_that_the_model_does_not_know_is_told(embedded):
    with pytest.warns(UnknownWarning, match="does not know most of 1 sentence: '😀 😀'"):
        embedded.encoder.encode(["😀 😀", "a dog 😀 barks"], Request((0,)))
