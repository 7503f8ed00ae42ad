import pytest

from movers.web.models import Effort

LIGHT = Effort(size=1, heads=12, plans=False, most=200)
PAIR = ("word " * 20, "word " * 20)


@pytest.mark.parametrize(
    ("effort", "pair"),
    [
        (LIGHT, ("word " * 40, "word " * 20)),
        (Effort(1, 72, False, 200), PAIR),
        (Effort(1, 12, True, 200), PAIR),
        (Effort(2, 12, False, 200), PAIR),
        (LIGHT, ("字" * 60, "字" * 60)),
    ],
)
def test_more_of_anything_is_more_effort(effort, pair):
    assert effort.of(*pair) > LIGHT.of(*PAIR)


def test_what_is_cut_or_refused_takes_none():
    assert LIGHT.of("word " * 200, "a") == LIGHT.of("word " * 2000, "a")


def test_long_explanations_are_worth_hundreds_of_short_comparisons():
    short = Effort(1, 12, True, 200).of("a dog", "a cat")
    assert Effort(1, 72, True, 200).of("word " * 150, "word " * 150) > 100 * short
