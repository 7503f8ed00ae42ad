import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from movers.difference.orders import HARMLESS, LONGEST, TELLING, effects_of_order
from movers.measures.calibration import contrasts


def told(*pairs):
    texts = [text for pair in pairs for text in pair]
    effects = effects_of_order(texts, np.arange(len(texts)).reshape(-1, 2))
    return (effects == HARMLESS).tolist()


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("Ann and Bob sang.", "Bob and Ann sang!"),
        ("The girl and the boy are playing.", "The boy and the girl are playing."),
        ("The cook slept and the nurse sang.", "The nurse sang and the cook slept."),
        ("Is tea or strong coffee better?", "Is strong coffee or tea better?"),
        ("Salt, pepper and oil", "pepper, salt and oil"),
        ("Ann and Bob met Carl or Dora.", "Bob and Ann met Dora or Carl."),
        ("Ann and Bob went home", "Bob and Ann walked home"),
        ("green tea and black tea", "black tea and green tea"),
        ("the dog and the dog house", "the dog house and the dog"),
        ("Hans und Anna kamen", "Anna und Hans kamen"),
        ("Q & A", "A & Q"),
        ("She said Ann and Bob left", "She said Bob and Ann left"),
        ("Do cats and dogs get along?", "Do dogs and cats get along?"),
        (
            "The firm that owned Alpha and Beta sold Gamma",
            "The firm that owned Beta and Alpha sold Gamma",
        ),
        ("We saw brigs and barges owned by a bank", "We saw barges and brigs owned by a bank"),
    ],
)
def test_members_may_change_places(source, target):
    assert told((source, target), (target, source)) == [True, True]


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("Ann saw Bob and Carl", "Bob saw Ann and Carl"),
        ("The cook slept and the nurse sang.", "The nurse slept and the cook sang."),
        ("Raise the blind and lower the lamp", "Raise the lamp and lower the blind"),
        ("Ann and Bob won 3 and 5 respectively", "Bob and Ann won 3 and 5 respectively"),
        ("He washed and then slept", "He then slept and washed"),
        ("Ann and Bob sang", "Ann and Carl sang"),
        ("Ann and Bob sang", "Ann and Bob sang"),
        ("Ann bit Bob", "Bob bit Ann"),
        ("Tom likes Ann and Bob likes Sue", "Tom likes Bob and Ann likes Sue"),
        (
            "The dog chased the cat and the mouse slept",
            "The dog chased the mouse and the cat slept",
        ),
        ("What I love I hate", "What I hate I love"),
        ("Ann and Bob", "Bob or Ann"),
        ("and", "or"),
        ("", "and"),
    ],
)
def test_other_orders_say_something_else(source, target):
    assert told((source, target), (target, source)) == [False, False]


def test_contrasts_of_coordination_are_told_and_hardly_any_with_another_meaning():
    every = contrasts()
    effects = effects_of_order(
        [text for pair in every.pairs for text in pair],
        np.arange(2 * len(every.pairs)).reshape(-1, 2),
    )
    alike = effects == HARMLESS
    joined = np.array([kind.startswith("coordination") for kind in every.kinds])
    assert alike[joined & every.same].all()
    assert alike[~every.same].sum() <= 2  # why we say "salt and pepper" and not "pepper and salt"
    compared = every.same & (np.array(every.kinds) != "change")  # whose same pairs are both swaps
    telling = effects == TELLING
    assert telling[compared].sum() < 0.02 * telling[~every.same].sum()


words = st.lists(st.sampled_from(["ann", "bob", "the", "sang", "red"]), min_size=1, max_size=4)


@given(words, words, st.lists(st.sampled_from("xyz"), max_size=3), st.sampled_from(["and", "or"]))
def test_whatever_is_joined_may_be_exchanged(first, second, around, joint):
    source, target = (
        " ".join([*around, *left, joint, *right, *around])
        for left, right in ((first, second), (second, first))
    )
    assert told((source, target)) == [first != second]


@given(st.lists(st.sampled_from(["ann", "bob", "and", ",", "the"]), max_size=8), st.randoms())
def test_both_ways_round_are_told_alike(given_words, random):
    other = random.sample(given_words, len(given_words))
    source, target = " ".join(given_words), " ".join(other)
    assert len(set(told((source, target), (target, source)))) == 1


def test_a_sentence_of_joining_words_alone_takes_no_time():
    long = "and " * 2000
    assert told((f"ann {long} bob", f"bob {long} ann")) == [False]


@pytest.mark.timeout(20)
@pytest.mark.parametrize("word", ["by", "walked", "was walked by", "a"])
def test_sentences_that_say_one_thing_again_and_again_are_read_to_their_end(word):
    longest = f"{word} " * (LONGEST // len(word.split()) - 1)
    pairs = (f"ann {longest}", f"{longest} ann"), (f"{longest} by ann", f"bob {longest}")
    assert told(*pairs) == [False, False]


def test_in_texts_of_any_length_no_order_is_told():
    long = "the old " * 1000
    assert told((f"ann and bob saw {long}", f"bob and ann saw {long}")) == [False]
