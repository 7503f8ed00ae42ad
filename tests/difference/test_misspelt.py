"""Typing errors: named, and mended without touching what is right."""

import random

import movers
from movers.difference.misspelt import are_spellings, repair

BESIDE = dict(
    zip(
        "qwertyuiopasdfghjklzxcvbnm",
        "wqweertyuioqawsedrftgzhujkzxcvbn",
        strict=False,
    )
)
CLEAN = 0.005
"""Share of words that a text without errors may lose."""


def test_errors_are_mended_and_told():
    mended, repairs = repair("i wuold like to cancle my subscripton")
    assert mended == "i would like to cancel my subscription"
    assert [one.word for one in repairs] == ["wuold", "cancle", "subscripton"]
    text = "plese send it agian"
    assert [text[slice(*one.span)] for one in repair(text)[1]] == ["plese", "agian"]


def test_names_figures_and_rare_words_stay():
    text = "Dr Szymborska bought 3 AB1234 samovars in Ulaanbaatar."
    assert repair(text) == (text, ()) and repair("") == repair("", beside=text)


def test_words_of_the_other_text_are_likelier():
    assert repair("the fouse is small")[0] == "the house is small"
    assert repair("the fouse is small", beside="a small mouse")[0] == "the mouse is small"


def test_variants_and_errors_are_spellings_and_other_words_are_not():
    assert are_spellings("colour", "color") and are_spellings("recieve", "receive")
    assert not are_spellings("chair", "choir") and not are_spellings("cat", "cot")


def spoil(text, draw):
    """One to three typing errors in the longer words of a sentence."""
    words = text.split(" ")
    long = [
        at for at, word in enumerate(words) if word.isalpha() and word.islower() and len(word) > 3
    ]
    for at in draw.sample(long, min(len(long), draw.randint(1, 3))):
        word, place = words[at], draw.randrange(1, len(words[at]) - 1)
        before, letter, behind = word[:place], word[place], word[place + 1 :]
        words[at] = draw.choice([
            before + behind[0] + letter + behind[1:], before + behind, before + 2 * letter + behind,
            before + BESIDE.get(letter, "e") + behind,
        ])  # fmt: skip
    return " ".join(words)


def test_repaired_pairs_are_as_similar_as_clean_ones(data):
    lines = (data / "STSB" / "sts-dev.csv").read_text("utf-8").splitlines()
    draw = random.Random(0)
    pairs = [tuple(line.split("\t")[5:7]) for line in draw.sample(lines, 200)]
    spoilt = [tuple(spoil(text, draw) for text in pair) for pair in pairs]
    mended = [(repair(a, beside=b)[0], repair(b, beside=a)[0]) for a, b in spoilt]
    scorer = movers.load()
    clean, broken, fixed = (scorer.similarities(some).mean() for some in (pairs, spoilt, mended))
    assert clean - broken > 0.08 and abs(clean - fixed) < 0.05


def test_clean_text_is_hardly_touched(data):
    lines = (data / "STSB" / "sts-dev.csv").read_text("utf-8").splitlines()
    sick = (data / "SICK" / "SICK_train.txt").read_text("utf-8").splitlines()[1:1500]
    wiki = (data / "PAWSWiki" / "dev.tsv").read_text("utf-8").splitlines()[1:1000]
    for columns, rows in (((5, 6), lines), ((1, 2), sick), ((1, 2), wiki)):
        texts = [row.split("\t")[column] for row in rows for column in columns]
        touched = sum(len(repair(text)[1]) for text in texts)
        assert touched / sum(len(text.split()) for text in texts) <= CLEAN


def test_a_comparison_of_repaired_text_says_so(embedded):
    found = embedded.compare("my pasword is wrong", "my password is wrong", spelling="repair")
    assert (found.source, found.differences) == ("my password is wrong", ())
    assert found.story[0] == "Read in A: “pasword” as “password”."
    assert found.to_dict()["source_repairs"] == [
        {"word": "pasword", "instead": "password", "span": (3, 10)}
    ]
    kept = embedded.compare("my pasword is wrong", "the moon is full")
    assert "“pasword” in A may be meant for “password”." in kept.story
