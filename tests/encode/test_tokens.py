"""Which pieces form words, which words stay, and where they stand in the text."""

from itertools import chain

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from movers.arrays import Ragged
from movers.encode.encodings import Request
from movers.encode.stopwords import describe_stopwords, load_stopwords
from movers.encode.tokens import Text, TokenRules, Vocabulary, WordFinder, read
from movers.encode.transformer import TransformerEncoder
from movers.errors import InputError, ModelError

ENGLISH = load_stopwords("english")
SPECIAL = {"[CLS]", "[SEP]", "<s>", "</s>"}


class Pieces:
    """A tokenizer that knows nothing but its pieces."""

    def __init__(self, pieces):
        self.pieces = list(dict.fromkeys(pieces))

    @property
    def vocab(self):
        return {piece: number for number, piece in enumerate(self.pieces)}


def as_text(vocabulary, *sentences):
    """Sentences given as pieces, as a tokenizer would return them."""
    ids = [[vocabulary.pieces.index(piece) for piece in pieces] for pieces in sentences]
    real = np.array([piece not in SPECIAL for pieces in sentences for piece in pieces], bool)
    return Text(Ragged.from_rows(ids, np.int32), real, np.zeros((len(real), 2), np.int32))


def kept(text, marker, stopwords=ENGLISH, **rules):
    """The kept words of a sentence given as pieces, each word as its pieces joined by +."""
    pieces = text.split(" ")
    vocabulary = Pieces([*pieces, *(f"{marker}{letter}" for letter in "abcdefg")])
    finder = WordFinder(Vocabulary(vocabulary), TokenRules(stopwords, **rules))
    (ranges,) = finder.find(as_text(vocabulary, pieces))[0]
    return ["+".join(pieces[first:end]) for first, end in ranges]


BERT = "[CLS] the un ##believ ##able cat , ' s – The an ##vil ! ! [SEP]"
ROBERTA = "<s> The Ġthe ĠThe Ġcat , dog Ġ Ġ. Ġdon 't Ġo 'clock Ġsat ... Ġ! </s>"
ALBERT = "<s> ▁the ▁Cat s ▁ , ▁The ▁un real . </s>"


@pytest.mark.parametrize(
    ("text", "marker", "recipe", "expected"),
    [
        (BERT, "##", "reference", ["un+##believ+##able", "cat", "–", "The"]),
        (BERT, "##", "paper", ["un+##believ+##able", "cat", "–"]),
        (ROBERTA, "Ġ", "reference", ["The", "ĠThe", "Ġcat+,+dog", "Ġ", "Ġsat+..."]),
        (ROBERTA, "Ġ", "paper", ["Ġcat", "dog", "Ġsat"]),
        (ALBERT, "▁", "reference", ["▁Cat+s", "▁+,", "▁The", "▁un+real+."]),
        (ALBERT, "▁", "paper", ["▁Cat+s", "▁un+real"]),
        # the first position may go without the marker, but not around the stop words
        ("<s> the Ġcat </s>", "Ġ", "reference", ["Ġcat"]),
        ("<s> , Ġcat </s>", "Ġ", "reference", ["Ġcat"]),
        ("<s> cat s Ġsat </s>", "Ġ", "reference", ["cat+s", "Ġsat"]),
        ("<s> ' cat ' Ġsat </s>", "Ġ", "paper", ["cat", "Ġsat"]),
        ("[CLS] [SEP]", "##", "paper", []),
        ("[CLS] ##ing cat [SEP]", "##", "paper", ["cat"]),
    ],
)
def test_words_of_each_family(text, marker, recipe, expected):
    assert kept(text, marker, recipe=recipe) == expected


@pytest.mark.parametrize("recipe", ["paper", "reference"])
def test_without_stop_words_everything_but_specials_stays(recipe):
    assert kept("[CLS] the , cat ##s [SEP]", "##", None, recipe=recipe) == ["the", ",", "cat+##s"]


def test_a_whole_word_is_matched_when_all_its_pieces_count():
    """'an ##vil' is no stop word, though its first piece alone is one."""
    assert kept("[CLS] an ##vil an [SEP]", "##") == []
    assert kept("[CLS] an ##vil an [SEP]", "##", subwords="mean") == ["an+##vil"]
    assert kept("<s> Ġo 'clock Ġdon 't </s>", "Ġ", subwords="mean") == ["Ġo+'clock"]


def test_keep_empty_only_where_nothing_is_left():
    assert kept("[CLS] the of . [SEP]", "##", keep_empty=True) == ["the", "of", "."]
    assert kept("[CLS] the cat [SEP]", "##", keep_empty=True) == ["cat"]


@given(
    st.lists(
        st.sampled_from(["Ġthe", "Ġcat", "s", ",", "Ġ", "Ġ.", "The", "<s>", "</s>"]), min_size=1
    ),
    st.sampled_from(["paper", "reference"]),
    st.sampled_from(["first", "mean"]),
)
def test_words_are_ordered_disjoint_and_free_of_specials(pieces, recipe, subwords):
    def ranges(stopwords):
        finder = WordFinder(Vocabulary(tokenizer), TokenRules(stopwords, recipe, subwords))
        return finder.find(text)[0][0].tolist()

    tokenizer = Pieces([*pieces, "Ġx", "Ġy"])
    text = as_text(tokenizer, pieces)
    real = text.real
    every, some = ranges(None), ranges(ENGLISH)
    assert all(word in every for word in some)
    assert every == sorted(every)
    covered = [token for first, end in every for token in range(first, end)]
    assert len(covered) == len(set(covered))
    assert all(real[token] for token in covered)
    if recipe == "reference":
        assert covered == np.flatnonzero(real).tolist()


@given(
    st.lists(
        st.lists(st.sampled_from(["Ġthe", "Ġcat", "s", ",", "Ġ", "##s", "The", "<s>", "</s>"])),
        min_size=1,
        max_size=5,
    ),
    st.sampled_from(["Ġ", "##"]),
    st.builds(
        TokenRules,
        st.sampled_from([None, ENGLISH]),
        recipe=st.sampled_from(["paper", "reference"]),
        subwords=st.sampled_from(["first", "mean"]),
        unit=st.sampled_from(["word", "start", "piece", "token"]),
        keep_empty=st.booleans(),
    ),
)
def test_the_words_of_a_sentence_do_not_depend_on_its_neighbours(sentences, marker, rules):
    tokenizer = Pieces([*(f"{marker}{letter}" for letter in "abcdefg"), *chain(*sentences)])
    finder = WordFinder(Vocabulary(tokenizer), rules)
    together, _ = finder.find(as_text(tokenizer, *sentences))
    for pieces, words in zip(sentences, together, strict=True):
        assert words.tolist() == finder.find(as_text(tokenizer, pieces))[0][0].tolist()


def test_a_tokenizer_without_word_marks_is_refused():
    with pytest.raises(ModelError, match="cannot tell words"):
        Vocabulary(Pieces(["ab", "cd"]))


SURFACES = {
    "wordpiece": ["Naïve", "café", "東", "京", "😀", ",", "Œuvre", "don", "'", "t"],
    "bpe": ["Naïve", "café", "東京", "😀", ",", "Œuvre", "don", "'", "t"],
    "unigram": ["Naïve", "café", "東京", "😀", ",", "Œuvre", "don", "'", "t"],
}


@pytest.mark.parametrize("family", ["wordpiece", "bpe", "unigram"])
def test_spans_point_at_the_text(tokenizers, family):
    text = "  Naïve café  東京 😀, Œuvre don't"
    tokenizer = tokenizers[family]
    finder = WordFinder(Vocabulary(tokenizer), TokenRules())
    found = read(tokenizer, [text], 64)
    ranges, spans = finder.find(found)
    words = [text[start:end].strip() for start, end in spans[0]]
    assert words[: len(SURFACES[family]) - 3] == SURFACES[family][:-3]
    assert "".join(words[-3:]).endswith("don't")
    assert ranges.lengths.tolist() == spans.lengths.tolist()
    assert found.truncated == ()


@pytest.mark.parametrize("recipe", ["paper", "reference"])
@pytest.mark.parametrize("name", ["bert", "roberta", "albert"])
def test_special_tokens_written_in_the_text_are_no_words(tiny, name, recipe):
    """method.md: the start, end and padding tokens belong to the stop set."""
    encoder = TransformerEncoder(tiny(name))
    tokenizer = encoder.tokenizer
    text = (
        f"president {tokenizer.sep_token} greets {tokenizer.cls_token} press {tokenizer.pad_token}"
    )
    for stopwords in (None, ENGLISH):
        encodings = encoder.encode([text], Request((0,), rules=TokenRules(stopwords, recipe)))
        # the blank before a special token is a piece of its own, which the published code keeps
        words = [word for word in encodings.surface(0) if word or recipe == "paper"]
        assert words == ["president", "greets", "press"]


@pytest.mark.parametrize("recipe", ["paper", "reference"])
@pytest.mark.parametrize("name", ["bert", "roberta", "albert"])
def test_mean_of_pieces(tiny, name, recipe):
    """Vector: mean of pieces. Attention to a word: sum of its pieces; from it: their mean."""
    encoder = TransformerEncoder(tiny(name))
    text = "Unbelievably, zzz jumped presidents"
    rules = TokenRules(ENGLISH, recipe, "mean")
    found = encoder.encode([text], Request((2,), ((1, 2), (3, 1)), rules))
    finder = WordFinder(encoder.vocabulary, rules)
    ranges, _ = finder.find(read(encoder.tokenizer, [text], 64))
    words = [list(range(first, end)) for first, end in ranges[0]]
    assert len(words) >= 3 and max(map(len, words)) > 1
    states = encoder.states([text], 2)[0]
    np.testing.assert_allclose(
        found.vectors[2][0], [states[word].mean(axis=0) for word in words], atol=1e-6
    )
    (full,) = encoder.attentions([text])
    for place, matrix in enumerate(full[[1, 4]]):
        expected = np.array([[matrix[np.ix_(a, b)].sum() / len(a) for b in words] for a in words])
        if recipe == "paper":
            expected /= expected.sum(axis=1, keepdims=True)
        got = found.structure[0].reshape(2, len(words), len(words))[place]
        np.testing.assert_allclose(got, expected, atol=1e-6)


def test_stop_words_come_from_a_name_a_file_or_words(tmp_path):
    path = tmp_path / "words.txt"
    path.write_text("foo\nbär\n", "utf-8")
    assert len(ENGLISH) == 179
    assert load_stopwords(None) is None
    assert load_stopwords(path) == load_stopwords(str(path)) == load_stopwords(["foo", "bär"])
    with pytest.raises(InputError, match="does not exist"):
        load_stopwords("german")
    described = [describe_stopwords(words) for words in (None, ENGLISH, load_stopwords(path))]
    assert described[:2] == ["none", "english"]
    assert described[2].startswith("2-words@")


@pytest.mark.parametrize(
    "piece", ["dog ", "x" * 150 + " ", "的", "dog   cat, ", " " * 99 + "a", "x"]
)
@pytest.mark.parametrize("length", [40, 500, 2000, 50_000])
def test_the_end_that_is_not_read_is_found_at_the_beginning(bert, piece, length, monkeypatch):
    encoder, text, looked_at = bert.encoder, (piece * length)[:length], []
    whole = read(encoder.tokenizer, [text], encoder.max_length)
    end = text[whole.offsets[:, 1].max(initial=0) :].strip() if whole.truncated else ""

    def watched(tokenizer, sentences, most):
        looked_at.extend(map(len, sentences))
        return read(tokenizer, sentences, most)

    monkeypatch.setattr("movers.encode.encoder.read", watched)
    assert encoder.unread(text) == end
    if piece == "dog ":
        assert sum(looked_at) <= 16 * encoder.max_length
