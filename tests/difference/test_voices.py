import pytest

import movers
from movers.difference.voices import keeps_roles


def told(source, target):
    pair = source.lower().split(), target.lower().split()
    both = {keeps_roles(*pair), keeps_roles(*pair[::-1])}
    assert len(both) == 1
    return both.pop()


@pytest.mark.parametrize(
    ("active", "passive"),
    [
        ("The dog bit the man", "The man was bitten by the dog"),
        ("The teacher thanked the parents", "The parents were thanked by the teacher"),
        ("She saw him", "He was seen by her"),
        ("Did Ann see Bob", "Was Bob seen by Ann"),
        ("Ann may sell the house in May", "The house may be sold in May by Ann"),
        ("Ann never sold the house", "The house was never sold by Ann"),
        ("In 1990 Ann founded the club", "In 1990 the club was founded by Ann"),
        ("Bob gave it to me yesterday", "It was given to me by Bob yesterday"),
    ],
)
def test_a_passive_says_the_same(active, passive):
    assert told(active, passive) is True


@pytest.mark.parametrize(
    ("active", "passive"),
    [
        ("The dog bit the man", "The dog was bitten by the man"),
        ("Ann used the farm", "Ann was used by the farm"),
        ("She pays her students", "She is paid by her students"),
        ("Who invited Ann", "Who was invited by Ann"),
    ],
)
def test_a_voice_that_changed_alone_says_something_else(active, passive):
    assert told(active, passive) is False


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The dog bit the man", "The cat was bitten by the man"),
        ("Ann never sold the house", "The house was sold by Ann"),
        ("Ann beat Bob by two points", "Ann beat Bob two points"),
        ("They won by playing", "They won playing"),
        ("Ann was seen by Bob", "Bob was seen by Ann"),
        ("Ann saw Bob", "Bob saw Ann"),
        ("by", "was"),
        ("", ""),
    ],
)
def test_other_pairs_are_left_alone(one, other):
    assert told(one, other) is None


def test_the_default_measure_hears_of_it():
    right, wrong = movers.load().similarities(
        [
            ("Ann used the farm.", "The farm was used by Ann."),
            ("Ann used the farm.", "Ann was used by the farm."),
        ]
    )
    assert right > 0.85 > wrong + 0.05
