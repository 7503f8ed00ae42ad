import pytest

import movers
from movers.difference.sides import changes_roles, find_sides, holds_both_ways, shared_words


def told(asked, source, target):
    pair = shared_words(source.lower().split(), target.lower().split())
    if pair is None:
        return [False, False]
    sides = find_sides(*pair), find_sides(*pair[::-1])
    return [one is not None and asked(one) for one in sides]


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("Italy borders Austria", "Austria borders Italy"),
        ("The nurse met the cook on Friday", "The cook met the nurse on Friday"),
        ("The bench is near the lake", "The lake is near the bench"),
        ("Is Ann married to Bob", "Is Bob married to Ann"),
        ("Ann is as tall as Bob", "Bob is as tall as Ann"),
        ("Ann has the same boss as Bob", "Bob has the same boss as Ann"),
        ("France shares a border with Spain", "Spain shares a border with France"),
        ("Ann lives next to Bob", "Bob lives next to Ann"),
        (
            "The first line runs parallel to the second line",
            "The second line runs parallel to the first line",
        ),
        ("Tom married Ann in May", "Ann married Tom in May"),
        ("Tom married Ann in 1926", "Ann married Tom in 1926"),
        ("I know that Ann is a cousin of Bob", "I know that Bob is a cousin of Ann"),
    ],
)
def test_sides_of_a_relation_may_change_places(source, target):
    assert told(holds_both_ways, source, target) == [True, True]


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("Italy invaded Austria", "Austria invaded Italy"),
        ("Is Ann taller than Bob", "Is Bob taller than Ann"),
        ("Ann is not as tall as Bob", "Bob is not as tall as Ann"),
        ("Ann is twice as tall as Bob", "Bob is twice as tall as Ann"),
        ("The bench near the lake is old", "The lake near the bench is old"),
        ("The man who met Ann slept", "Ann met the man who slept"),
        ("Ann met Bob 's mother", "Bob met Ann 's mother"),
        ("Ann met Bob before his speech", "Bob met Ann before his speech"),
        ("Until his death Tom met Ann", "Until his death Ann met Tom"),
        ("We left as soon as they came", "They came as soon as we left"),
        ("Ann met Bob of Kent", "Bob met Ann of Kent"),
        ("Ann met Bob", "Ann met Bob"),
        ("met", "met"),
        ("", ""),
    ],
)
def test_other_relations_say_something_else(source, target):
    assert told(holds_both_ways, source, target) == [False, False]


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("Our team beat the champions", "The champions beat our team"),
        ("The museum bought it from a farmer", "A farmer bought it from the museum"),
        ("Did Ann forgive Bob", "Did Bob forgive Ann"),
        ("The virus kills the bacteria", "The bacteria kill the virus"),
        ("We moved from the city to the coast", "We moved from the coast to the city"),
        ("Lift the lid and then press it", "Press it and then lift the lid"),
        ("Our team beat the champions", "On Friday the champions clearly beat our old team"),
        ("Tom was succeeded by Ann in 1911", "Ann was succeeded by Tom in 1911"),
    ],
)
def test_sides_of_a_verb_have_roles(source, target):
    assert told(changes_roles, source, target) == [True, True]


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("Behind the chapel stood an oak", "An oak stood behind the chapel"),
        ("From the hill came a cry", "A cry came from the hill"),
        ("On Monday the shop closed", "The shop closed on Monday"),
        ("Paris is the capital", "The capital is Paris"),
        ("The cat chased the mouse", "The mouse was chased by the cat"),
        ("Ann bought a car from Bob", "Bob sold a car to Ann"),
        ("How far is it from Rome to Oslo", "How far is it from Oslo to Rome"),
        ("Ann looks like Bob", "Bob looks like Ann"),
        ("Ann flirted with Bob", "Bob flirted with Ann"),
        ("I 'm sure she is right", "I is sure she 'm right"),
        ("Go home said Ann", "Ann said go home"),
        ("Here comes Ann", "Ann comes here"),
        ("Italy borders Austria", "Austria borders Italy"),
        ("Ann slept and Bob sang", "Bob sang and Ann slept"),
        ("Ann sang", "Ann sang"),
    ],
)
def test_what_else_stands_on_both_sides_of_a_verb_has_none(source, target):
    assert told(changes_roles, source, target) == [False, False]


def test_the_default_measure_charges_what_words_tell():
    scorer = movers.load()
    both, one = scorer.similarities(
        [
            ("Italy borders Austria.", "Austria borders Italy."),
            ("Our team beat the champions.", "The champions beat our team."),
        ]
    )
    assert both > 0.97 > 0.85 > one
