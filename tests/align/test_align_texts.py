import numpy as np
import pytest

import movers
from movers.align import align_texts, aligners
from movers.align.aligners import ALIGNERS
from movers.align.reading import join_words, middle, read_words, request_of, words_of
from movers.errors import InputError
from movers.runtime.notices import TruncationWarning
from tiny_models import ATTENTIVE, SENTENCES

ODD = (
    "The 🐶 dog's cafe\u0301\tcosts “10” naïve\u00a0francs — don't panic.",
    "the dog: its café costs ten francs; don't\u200b panic!",
)


@pytest.fixture(scope="module")
def scorer():
    return movers.load()


def test_words_are_joined_by_single_blanks():
    text, spans = join_words(["New York", "sleeps", "🌙"])
    assert text == "New York sleeps 🌙"
    assert words_of(text, spans) == ("New York", "sleeps", "🌙")
    assert join_words([]) == ("", ())


def test_links_point_into_the_original_text(scorer):
    found = scorer.align(*ODD)
    assert "cafe\u0301" in found.source_words and "🐶" in found.source_words
    assert len(found) > 5
    for link in found:
        assert found.source[slice(*link.source_span)] == link.source
        assert found.target[slice(*link.target_span)] == link.target
        assert found.source_words[link.source_index] == link.source
        assert 0 <= link.mass <= link.confidence <= 1 and 0 <= link.cost <= 2
    linked = {(link.source, link.target) for link in found}
    assert {("cafe\u0301", "café"), ("10", "ten"), ("panic", "panic")} <= linked


def test_text_and_its_words_give_the_same_links(scorer):
    text = "Police , at this moment , sealed off the spot .", "the police has sealed it off now ."
    found = scorer.align(*text)
    assert found.links
    assert scorer.align(*(side.split() for side in text)) == found


def test_links_do_not_depend_on_company(scorer):
    pairs = [(a, b) for a in SENTENCES[:2] for b in SENTENCES[2:4]]
    together = scorer.align_all(pairs)
    assert [found.pharaoh for found in together] == [scorer.align(*p).pharaoh for p in pairs]


def test_short_texts(scorer):
    def links(source, target):
        return {(link.source, link.target) for link in scorer.align(source, target)}

    assert links("dog", "dog") == {("dog", "dog")}
    assert links("hello", "hi") == {("hello", "hi")}
    assert links("dog", "keyboard") == set()
    assert links("keyboard", "the quick brown dog runs") == set()
    assert links("dog", "the quick brown dog runs") == {("dog", "dog")}
    assert links("the cat sleeps", "interest rates rose") == set()
    assert links("big house", "large home") == {("big", "large"), ("house", "home")}


@pytest.mark.parametrize("empty", ["", "  ", []])
def test_an_empty_side_leaves_all_words_unmatched(scorer, empty):
    found, other = scorer.align_all([(empty, "a dog barks"), ("a dog barks", empty)])
    assert not found.links and found.unmatched_target == (0, 1, 2)
    assert found.pharaoh == "" and found.unmatched_source == ()
    assert other.unmatched_source == (0, 1, 2)
    with pytest.raises(movers.InputError, match="the source is empty"):
        scorer.align(empty, "a dog barks")
    with pytest.raises(movers.InputError, match="the target is empty"):
        scorer.align("a dog barks", empty)


def test_equal_words_are_told_apart(scorer):
    found = scorer.align(["the"] * 4, ["the"] * 4)
    assert {(0, 0), (3, 3)} <= found.pairs
    moved = scorer.align(
        "Before the rain came , the farmer closed the barn .",
        "The farmer shut the barn before it rained .",
    )
    assert {(5, 0), (6, 1), (8, 3), (9, 4), (0, 5)} <= moved.pairs


def test_words_without_pieces_match_nothing(scorer):
    found = scorer.align(["a", "\u200b", "dog"], ["a", "dog"])
    assert found.pairs == {(0, 0), (2, 1)} and found.unmatched_source == (1,)


def test_words_behind_the_end_of_the_model_match_nothing(bert):
    words = ["fox", "dog"] * 60
    with pytest.warns(TruncationWarning):
        found = bert.align(words, words)
    assert len(found.source_words) == 120 and 119 in found.unmatched_source


@pytest.mark.parametrize("name", [*ATTENTIVE, "fnet"])
def test_every_family_of_models_aligns_text_and_words_alike(tiny, name):
    scorer = movers.load("wmd", tiny(name), whitening="none")
    found = scorer.align(SENTENCES[0], SENTENCES[1])
    words = scorer.encoder.encode([SENTENCES[0]], movers.encode.encodings.Request()).surface(0)
    assert list(found.source_words) == words
    plain = [SENTENCES[5].split(), SENTENCES[6].split()]
    texts = [" ".join(side) for side in plain]
    assert scorer.align(*plain) == scorer.align(*texts)


def test_pieces_become_words_as_defined(bert):
    """Against the model itself, piece by piece."""
    encoder = bert.encoder
    given = ["unbelievably", "naive", "economists"]
    (words,) = read_words(encoder, [given])
    ids = encoder.tokenizer(given, is_split_into_words=True)
    belongs = ids.word_ids()
    layer, heads = middle(encoder), [layer for layer, _ in request_of(encoder).heads]
    states = encoder.states([words.text], layer)[0]
    full = next(encoder.attentions([words.text]))
    for i in range(3):
        own = [k for k, word in enumerate(belongs) if word == i]
        assert np.allclose(words.vectors[i], states[own].mean(axis=0), atol=1e-5)
    for place, head in enumerate(heads):
        mean = full.reshape(encoder.layers, encoder.heads, *full.shape[1:])[head - 1].mean(axis=0)
        inside = [k for k, word in enumerate(belongs) if word is not None]
        shares = mean[np.ix_(inside, inside)]
        shares = shares / shares.sum(axis=1, keepdims=True)
        member = np.array([[belongs[k] == i for k in inside] for i in range(3)], float)
        expected = member / member.sum(axis=1, keepdims=True) @ shares @ member.T
        expected *= 1 - np.eye(3)
        assert np.allclose(words.attention[place], expected, atol=1e-5)


def test_texts_are_split_as_the_encoder_splits_them(scorer):
    found = scorer.align("Don't  panic,\tnow!", "Panic!")
    assert found.source_words == ("Don", "'", "t", "panic", ",", "now", "!")


@pytest.mark.parametrize(
    ("pairs", "complaint"),
    [
        ([("a dog", 3)], r"target of pair 0 is 3 \(int\)"),
        ([(["a", ""], "b")], "word 1 of source of pair 0 is ''"),
        ([(["a", None], "b")], "word 1 of source of pair 0 is None"),
        ([("a", "b", "c")], "expected two sentences"),
    ],
)
def test_wrong_input_is_named(scorer, pairs, complaint):
    with pytest.raises(InputError, match=complaint):
        scorer.align_all(pairs)


def test_an_unknown_aligner_is_named(scorer, monkeypatch):
    with pytest.raises(InputError, match="did you mean 'shares'"):
        scorer.align("a", "b", aligner="shears")
    monkeypatch.setattr(aligners, "ALIGNERS", {"shares": ALIGNERS["shares"]})
    monkeypatch.setattr(aligners, "GROUP", "movers.none")
    with pytest.raises(InputError, match="those of the literature come with movers-research"):
        scorer.align("a", "b", aligner="argmax")


def test_a_sentence_that_comes_again_is_read_once_and_linked_alike(scorer, monkeypatch):
    pairs = [("a dog barks", "dogs bark"), ("a cat", "a cat"), ("dogs bark", ["a", "dog"])] * 2
    whole = [found.to_dict() for found in scorer.align_all(pairs)]
    read, encode = [], scorer.encoder.encode

    def watched(texts, request, **options):
        read.extend(texts if request.embeddings else [])
        return encode(texts, request, **options)

    monkeypatch.setattr(align_texts, "CHUNK", 1)
    for room, times in ((1 << 20, 1), (0, 4)):
        read.clear()
        monkeypatch.setattr(align_texts, "ROOM", room)
        with monkeypatch.context() as patched:
            patched.setattr(scorer.encoder, "encode", watched)
            assert [found.to_dict() for found in scorer.align_all(pairs)] == whole
        assert read.count("dogs bark") == times
