"""Who does what: an exchange has an effect, unless the words do not mind."""

import pytest

import movers
from movers.difference.counterparts import find_counterparts
from movers.difference.plain_words import read
from movers.difference.roles import judge_order

EXCHANGED = [
    ("The baker owes the miller.", "The miller owes the baker."),
    ("Spain beat Brazil.", "Brazil beat Spain."),
    ("Copper is harder than lead.", "Lead is harder than copper."),
    ("He drove from Bonn to Kiel.", "He drove from Kiel to Bonn."),
    ("The clerk was paid by the farmer.", "The farmer was paid by the clerk."),
    ("The hunter chased the bear.", "The hunter was chased by the bear."),
    ("She saw him.", "He saw her."),
    ("My dentist sued the tenants.", "The tenants sued my dentist."),
    ("She got help from her coach.", "Her coach got help from her."),
    ("The old man met the young king's aunt.", "The young man met the old king's aunt."),
    ("Move money from savings to checking.", "Move money from checking to savings."),
]
HARMLESS = [
    ("The farmer paid the clerk.", "The clerk was paid by the farmer."),
    ("They sell tea and salt.", "They sell salt and tea."),
    ("Chile borders Peru.", "Peru borders Chile."),
    ("I met my wife in Rome.", "In Rome, I met my wife."),
    ("If it snows, we stay.", "We stay if it snows."),
    ("The roof of the barn leaks.", "The barn's roof leaks."),
]


@pytest.mark.parametrize(("source", "target"), EXCHANGED)
def test_exchanged_roles_are_told_with_both_clauses(source, target):
    (found,) = [one for one in movers.differences(source, target) if one.kind == "roles"]
    assert found.text.startswith("A: ") and " B: " in found.text


@pytest.mark.parametrize(("source", "target"), HARMLESS)
def test_an_order_without_effect_is_told_as_such(source, target):
    assert {one.kind for one in movers.differences(source, target)} == {"reordered"}


def test_broken_relations_decide_where_words_alone_do_not():
    pair = "After lunch the nurse called.", "The nurse called after lunch."
    found = find_counterparts(*(read(text).words for text in pair))
    assert not judge_order(found)[0] and not judge_order(found, 0.1)[0]
    assert judge_order(found, 0.9)[0]


def test_texts_in_the_same_order_have_nothing_to_judge():
    found = find_counterparts(read("a dog barks").words, read("a dog barks loudly").words)
    assert judge_order(found) is None
