"""Texts cut into sentences: the labelled texts, places, paragraphs, and what is too long."""

import itertools
from pathlib import Path

import pytest

from movers.documents.splitting import TextSentence, cut, read_document, split
from movers.runtime.threads import UnwantedError, only_while

HERE = Path(__file__).parent


def labelled(name):
    """Texts and their sentences; ¶ stands for a new line."""
    for block in (HERE / name).read_text("utf-8").strip().split("\n\n"):
        text, gold = "", []
        for line in block.split("\n"):
            if line == "¶":
                text += "\n"
                continue
            text += (" " if text and not text.endswith("\n") else "") + line
            gold.append(line)
        yield text, gold


def agreement(name):
    """How many texts are split just as they are labelled, and how many there are."""
    cases = list(labelled(name))
    return sum([one.text for one in split(text)] == gold for text, gold in cases), len(cases)


def test_labelled_texts():
    right, count = agreement("labelled_splits.txt")
    assert (count, right) == (63, 62)  # "etc. Mix them well." is not told from a name


def test_labelled_texts_that_the_rules_were_not_written_for():
    right, count = agreement("labelled_splits_held_out.txt")
    assert count == 35 and right >= 32


def test_places_are_those_of_the_text():
    wrapped = "Second one, which is long enough to go on in the next\nline. Third."
    text = f"  First one.\n\nA heading\n{wrapped}"
    found = split(text)
    assert [text[one.start : one.end] for one in found] == [one.text for one in found]
    assert [one.paragraph for one in found] == [0, 1, 2, 2]
    assert found[2].text.endswith("next\nline.")


def test_nothing_of_a_text_is_lost():
    for name in ("labelled_splits.txt", "labelled_splits_held_out.txt"):
        for text, _ in labelled(name):
            joined = "".join(one.text for one in split(text))
            assert "".join(joined.split()) == "".join(text.split())


@pytest.mark.parametrize("text", ["", " \n ", "\n\n"])
def test_blank_texts_have_no_sentences(text):
    assert split(text) == ()


def test_a_list_of_strings_is_taken_as_it_is():
    found = read_document(("One. Two.", " ", "three"), lambda _: True)
    assert [one.text for one in found.sentences] == ["One. Two.", "three"]
    assert [found.text[one.start : one.end] for one in found.sentences] == ["One. Two.", "three"]


def test_sentences_too_long_are_cut_at_clauses_that_overlap():
    clauses = [f"clause number {number} says something of its own" for number in range(20)]
    text = ", ".join(clauses) + "."

    def fits(piece):
        return len(piece.split()) <= 30

    pieces = list(cut(TextSentence(text, 7, 7 + len(text)), fits))
    assert len(pieces) > 1 and all(fits(one.text) for one in pieces)
    assert [one.part for one in pieces] == list(range(1, len(pieces) + 1))
    for one, after in itertools.pairwise(pieces):
        assert one.start < after.start < one.end  # the last clause is in both
        assert text[one.start - 7 : one.end - 7] == one.text
    assert all(any(clause in one.text for one in pieces) for clause in clauses)
    assert read_document(text, fits).cut == 1


def test_a_word_without_end_is_cut_too():
    pieces = list(cut(TextSentence("x" * 500, 0, 500), lambda piece: len(piece) <= 100))
    assert pieces[-1].end == 500 and all(len(one.text) <= 100 for one in pieces)
    covered = {place for one in pieces for place in range(one.start, one.end)}
    assert covered == set(range(500))


@pytest.mark.parametrize("text", ["x" * 50_000, "so on " * 8_000, "this, " * 8_000])
def test_a_text_without_sentences_is_not_looked_at_again_and_again(text):
    """Whether a piece fits takes as long as the piece: mostly pieces that do are asked about."""
    looked_at = 0

    def fits(piece):
        nonlocal looked_at
        looked_at += min(len(piece), 1000)  # a model sees at the beginning that it is too long
        return len(piece) <= 500

    assert len(read_document(text, fits).sentences) >= len(text) // 500
    assert looked_at < 20 * len(text)


def test_cutting_ends_when_nobody_waits_for_it():
    asked = []

    def fits(piece):
        asked.append(piece)
        return len(piece) <= 500

    with pytest.raises(UnwantedError), only_while(lambda: len(asked) < 20):
        read_document("x" * 50_000, fits)
    assert len(asked) < 40


@pytest.mark.parametrize(
    "sentences",
    [
        ["1) The first item", "2) The second item", "3) The third"],
        ["• 9. Wash the dishes", "• 10. Feed the cat"],
        ["1. Wash the dishes.", "2. Feed the cat."],
        ["1. The tenant pays the sum of clause 2.", "He pays it in May."],
    ],
)
def test_lists_in_one_line(sentences):
    assert [one.text for one in split(" ".join(sentences))] == sentences


def test_words_that_are_abbreviations_elsewhere():
    sentences = ["He came on Sat. 4 May and saw the sun.", "She said no.", "See no. 7 and fig. B."]
    assert [one.text for one in split(" ".join(sentences))] == sentences


def test_scripts_without_blanks():
    text = "第一条。承租人应于每月第一日支付租金。“出租人负责修缮吗？”租金为3.5元！ End."
    assert [one.text for one in split(text)] == [
        "第一条。",
        "承租人应于每月第一日支付租金。",
        "“出租人负责修缮吗？”",
        "租金为3.5元！",
        "End.",
    ]
