"""Our own reading of the embedded model's tokens is that of the tokenizers package."""

import copy
import json
import pickle
import random
import string
from itertools import pairwise
from unicodedata import combining

import pytest
from hypothesis import given
from hypothesis import strategies as st

from movers.encode import word_pieces
from movers.encode.models import embedded_folder
from movers.encode.word_pieces import WordPieces
from movers.errors import ModelError

FOLDER = embedded_folder()
FILE = FOLDER / "tokenizer.json"
TWIN = pytest.importorskip("tokenizers").Tokenizer.from_file(str(FILE))
TWIN.no_padding()
OURS = WordPieces(FOLDER)
NEWEST = {*map(chr, (0xA7CE, 0xA7D2, 0xA7D4, *range(0x16EA0, 0x16EB9)))}
"""Capitals of Unicode 17, which not every build of tokenizers knows."""
CODES = (*range(0xD800), *range(0xE000, 0x110000))
EVERY = [char for char in map(chr, CODES) if char not in NEWEST]
FRAGMENTS = (
    *("the", "president", "greets", "unbelievably", "ÉCOLE", "naïve", "e\u0301", "İstanbul", "ß"),
    *("東京", "豈", "한국어", "각", "😀", "👩‍🔬", "ﬁ", "Ǆ", "ΑΣ", "ᾼ", "a\u0300\u0327", "\u0300"),
    *("[CLS]", "[SEP]", "[PAD]", "[UNK]", "[MASK]", "[cls]", "[", "]", "##ing", "don't", "3.14"),
    *(" ", "  ", "\t", "\n", "\r\n", "\x00", "\x1c", "\x85", "\xa0", "\u200b", "\u2028", "\u3000"),
    *("\ufffd", "\ufeff", "\xad", "\ue000", "\U0010ffff", "x" * 100, "x" * 101, "é" * 100, "¿"),
)


def told(reading):
    return (
        *(list(part) for part in (reading.ids, reading.special_tokens_mask, reading.offsets)),
        bool(reading.overflowing),
    )


def check_alike(texts, limit=512, **options):
    for one in (OURS, TWIN):
        one.enable_truncation(limit)
    both = (one.encode_batch(texts, **options) for one in (OURS, TWIN))
    for text, found, expected in zip(texts, *both, strict=True):
        assert told(found) == told(expected), ascii(text)
        assert OURS.normalize_str(text) == TWIN.normalizer.normalize_str(text), ascii(text)


def read_alike(text):
    """Tell what is read alike by design: tokenizers sorts marks, which shows in those that stay."""
    sorts = any(
        combining(first) and combining(second) and OURS.normalize_str(first + second)
        for first, second in pairwise(text)
    )
    return not sorts and NEWEST.isdisjoint(text)


def test_characters_become_the_same():
    """Every one of the first planes; of those without letters some."""
    some = EVERY[:0x20000] + EVERY[0x20000::53]
    becomes = TWIN.normalizer.normalize_str
    different = [ascii(char) for char in some if OURS.normalize_str(char) != becomes(char)]
    assert different == []


@pytest.mark.published
def test_every_character_becomes_the_same():
    becomes = TWIN.normalizer.normalize_str
    assert [char for char in EVERY if OURS.normalize_str(char) != becomes(char)] == []


def test_characters_among_letters():
    """Where each stands for itself, joins letters, or parts them; unassigned ones left out."""
    some = EVERY[:0x3100] + EVERY[0x3100::29]
    check_alike([f"{char}a{char}b {char}" for char in some])


@given(st.lists(st.sampled_from(FRAGMENTS), max_size=12).map("".join), st.integers(2, 20))
def test_fragments(text, limit):
    check_alike([text])
    check_alike([text], limit)
    check_alike([text], add_special_tokens=False)


@given(st.text(max_size=40).filter(read_alike))
def test_any_text(text):
    check_alike([text])


def test_random_texts_of_all_scripts():
    drawn = random.Random(0)
    texts = []
    for _ in range(3000):
        start = drawn.randrange(0x110000)
        near = [char for char in EVERY[start : start + 300] if read_alike(2 * char)]
        letters = [*near, *string.ascii_letters, *string.punctuation, " ", "\u0301", "é", "中"]
        texts.append("".join(drawn.choices(letters, k=drawn.randrange(1, 60))))
    check_alike(texts)


def test_words_of_many_lengths():
    drawn = random.Random(1)
    lengths = (*range(1, 40), *range(95, 106), 1000)
    words = ["".join(drawn.choices("aeinorst", k=length)) for length in lengths]
    check_alike([*words, " ".join(words), "é".join(words), "的".join(words)])


def test_sentences_of_data(data):
    lines = (data / "PAWSWiki" / "dev.tsv").read_text("utf-8").splitlines()[:2000]
    check_alike(lines)


def test_kept_words_are_bounded(monkeypatch):
    monkeypatch.setattr(word_pieces, "REMEMBERED", 50)
    ours = WordPieces(FOLDER)
    for text in (f"word{number} {number * 'x'}" for number in range(90)):
        ours.encode_batch([text])
        assert len(ours._words) <= 50
    assert max(map(len, ours._words)) <= word_pieces.SHORT


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))])
def test_copies_read_alike(copied):
    texts = ["a dog", "naïve café"]
    assert copied(OURS).encode_batch(texts) == OURS.encode_batch(texts)


@pytest.mark.parametrize(
    ("part", "change", "told"),
    [
        ("normalizer", {"lowercase": False}, "normalizer lowercase is False"),
        ("normalizer", None, "normalizer type is None"),
        ("pre_tokenizer", {"type": "ByteLevel"}, "pre_tokenizer type is 'ByteLevel'"),
        ("model", {"type": "BPE"}, "model type is 'BPE'"),
        ("model", {"max_input_chars_per_word": 200}, "max_input_chars_per_word is 200"),
        ("post_processor", {"single": []}, r"post_processor single is \[\]"),
        ("added_tokens", [{"content": "[E1]", "lstrip": True}], "added token '\\[E1\\]'"),
    ],
)
def test_another_kind_is_refused(tmp_path, part, change, told):
    facts = json.loads(FILE.read_text("utf-8"))
    facts[part] = {**facts[part], **change} if isinstance(change, dict) else change
    (tmp_path / "tokenizer.json").write_text(json.dumps(facts), "utf-8")
    with pytest.raises(ModelError, match=told) as caught:
        WordPieces(tmp_path)
    assert "engine='torch'" in str(caught.value)
