"""Who does what: an exchange has an effect, unless the words do not mind."""

import pytest

import movers

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
    ("Raise the blind and lower the lamp.", "Lower the blind and raise the lamp."),
    (
        "He sells milk from Wales and tea from Assam.",
        "He sells tea from Wales and milk from Assam.",
    ),
    ("The tall boy and the short girl won.", "The short boy and the tall girl won."),
    ("In 1998 Nokia sued Ericsson.", "Ericsson sued Nokia in 1998."),
    ("After lunch the cook hit the waiter.", "The waiter hit the cook after lunch."),
    ("Dr. Weber treated Mr. Klein.", "Mr. Klein treated Dr. Weber."),
    ("He lent a bike to Ida.", "Ida lent him a bike."),
    ("Rents are higher in Graz than in Linz.", "Rents are higher in Linz than in Graz."),
    ("Although she was ill, she sang.", "Although she sang, she was ill."),
    ("The tenant stays until the landlord pays.", "The tenant stays until the tenant pays."),
    (
        "The bank must call Dr. Weber before Mr. Klein.",
        "The bank must call Mr. Klein before Dr. Weber.",
    ),
    ("Because the lift failed, we walked.", "Because we walked, the lift failed."),
    ("If it snows, the school closes.", "If the school closes, it snows."),
    ("Soak the beans before rinsing them.", "Rinse the beans before soaking them."),
    ("Lock the door, then turn off the light.", "Turn off the light, then lock the door."),
]
HARMLESS = [
    ("The farmer paid the clerk.", "The clerk was paid by the farmer."),
    ("They sell tea and salt.", "They sell salt and tea."),
    ("Chile borders Peru.", "Peru borders Chile."),
    ("I met my wife in Rome.", "In Rome, I met my wife."),
    ("If it snows, we stay.", "We stay if it snows."),
    ("The roof of the barn leaks.", "The barn's roof leaks."),
    ("We need salt, pepper and tea.", "We need tea, pepper and salt."),
    ("They grow green tea and black tea.", "They grow black tea and green tea."),
    ("The small dog and the grey cat slept.", "The grey cat and the small dog slept."),
    ("She wept after she heard the song.", "After she heard the song, she wept."),
    ("If you pay today, you save.", "You save if you pay today."),
    ("Ida drinks tea and Otto drinks milk.", "Otto drinks milk and Ida drinks tea."),
    ("Bring two pens, one rule and a map.", "Bring a map, one rule and two pens."),
    ("The old bus hit the new van.", "The new van was hit by the old bus."),
    ("A brown dog barks.", "A dog, which is brown, barks."),
    (
        "The box is being put into the old van by a porter.",
        "A porter puts the box into the old van.",
    ),
    ("A leek is being peeled by a cook.", "A cook is peeling a leek."),
    ("He fell into a puddle of rain.", "He fell into a rain puddle."),
    ("“Ida snores,” said Otto.", "Otto said: “Ida snores.”"),
    ("In May Ida met Otto.", "Otto met Ida in May."),
]
CONVERSE = [
    ("Otto sold Emma a boat.", "Emma bought a boat from Otto.", {"replaced", "reordered"}),
    ("Otto sold Emma a boat.", "Otto bought a boat from Emma.", {"opposite", "reordered"}),
    ("Otto sold a boat to Emma.", "Emma bought a boat from Otto.", {"replaced", "reordered"}),
    ("Otto is older than Emma.", "Emma is younger than Otto.", {"replaced", "reordered"}),
]


@pytest.mark.parametrize(("source", "target"), EXCHANGED)
def test_exchanged_roles_are_told_with_both_clauses(source, target):
    (found,) = [one for one in movers.differences(source, target) if one.kind == "roles"]
    assert found.text.startswith("A: ") and " B: " in found.text


@pytest.mark.parametrize(("source", "target"), HARMLESS)
def test_an_order_without_effect_is_told_as_such(source, target):
    assert {one.kind for one in movers.differences(source, target)} == {"reordered"}


@pytest.mark.parametrize(("source", "target", "kinds"), CONVERSE)
def test_converse_verbs_say_the_same_only_with_their_partners_exchanged(source, target, kinds):
    assert {one.kind for one in movers.differences(source, target)} == kinds


def test_the_clauses_that_are_told_are_whole():
    pair = (
        "Last May, the old man with the young dog met us, and left.",
        "Last May, the young man with the old dog met us, and left.",
    )
    (found,) = [one for one in movers.differences(*pair) if one.kind == "roles"]
    assert found.source == "the old man with the young dog met us"
    assert found.target == "the young man with the old dog met us"


def test_a_verb_that_went_with_its_clause_has_no_other_time():
    pair = "If the price falls, sales will rise.", "If sales rise, the price will fall."
    assert [one.kind for one in movers.differences(*pair)] == ["roles"]


def test_what_moved_alone_changes_no_roles():
    pair = "After lunch the nurse called.", "The nurse called after lunch."
    assert [one.kind for one in movers.differences(*pair)] == ["reordered"]


def test_texts_in_the_same_order_have_nothing_to_judge():
    (found,) = movers.differences("a dog barks", "a dog barks loudly")
    assert found.kind == "added"
