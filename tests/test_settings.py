"""Settings are checked when they are made."""

import pytest

import movers
from movers.methods import find_method
from movers.settings import Settings


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"mix": 1.5}, "mix must lie between 0 and 1, got 1.5"),
        ({"mix": -0.1}, "mix must lie"),
        ({"mix": float("nan")}, "mix must lie"),
        ({"mix": "half"}, "mix must"),
        ({"mix": None}, "mix must"),
        ({"null": -0.1}, "null must be a price of at least 0, or None, got -0.1"),
        ({"null": float("nan")}, "null must be"),
        ({"null": "some"}, "null must be"),
        ({"recipe": "papers"}, r"recipe must be one of \('paper', 'reference'\), got 'papers'"),
        ({"whitening": "zca"}, "whitening must be one of"),
        ({"subwords": "last"}, "subwords must be one of"),
        ({"empty": "skip"}, "empty must be one of"),
        ({"embedding": 1.5}, "embedding must"),
        ({"embedding": "last"}, "embedding must"),
        ({"stopwords": "klingon"}, "does not exist"),
        ({"statistics": "nowhere.safetensors"}, "does not exist"),
    ],
)
def test_bad_settings_are_refused_before_a_model_is_loaded(wrong, message):
    with pytest.raises(movers.InputError, match=message):
        movers.load("wsmd", "no/such-model", **wrong)


@pytest.mark.parametrize(
    ("recipe", "whitening", "fitted"),
    [
        ("paper", None, "clean"),
        ("reference", None, "as-coded"),
        ("paper", "as-coded", "as-coded"),
        ("reference", "clean", "clean"),
        ("paper", "none", None),
    ],
)
def test_whitening_is_the_recipes_own_unless_named(recipe, whitening, fitted):
    settings = Settings(find_method("wmd"), recipe=recipe, whitening=whitening)
    assert settings.whitening_to_fit == fitted


def test_only_keeping_changes_the_words():
    for empty, expected in ((None, False), ("nan", False), ("raise", False), ("keep", True)):
        assert Settings(find_method("wmd"), empty=empty).rules.keep_empty is expected
