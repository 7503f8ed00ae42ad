"""Settings are checked when they are made."""

import json
from dataclasses import dataclass, fields
from inspect import signature
from typing import Literal

import pytest
from pydantic import create_model

import movers
from movers.cli.options import Options, SettingOptions, offering
from movers.cli.parameters import Command, run
from movers.loading import loader
from movers.measures.registry import find_measure
from movers.scorer import Scorer
from movers.search.layouts import load_arguments
from movers.settings import HttpField, Settings, itself, setting, table
from movers.web.schemas import (
    CompareRequest,
    ModelRequest,
    RankRequest,
    ScoreRequest,
    setting_fields,
)


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
        ({"layers": "foo"}, "cannot read layers 'foo'; write '5', '5-12', '1,3,5-6' or 'all'"),
        ({"layers": 2.5}, "layers must be whole numbers or text, got 2.5"),
        ({"heads": "BV"}, "cannot read heads 'BV'"),
        ({"threads": "2"}, "threads must be a whole number of at least 1, got '2'"),
        ({"threads": 0}, "threads must be a whole number"),
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
    settings = Settings(find_measure("wmd"), recipe=recipe, whitening=whitening)
    assert settings.whitening_to_fit == fitted


def test_only_keeping_changes_the_words():
    for empty, expected in ((None, False), ("nan", False), ("raise", False), ("keep", True)):
        assert Settings(find_measure("wmd"), empty=empty).rules.keep_empty is expected


@dataclass(frozen=True)
class WithCare(Settings):
    """The table with one more row."""

    care: Literal["some", "much"] = setting(
        "some", "How much care is taken.", http=HttpField(), write=itself
    )


def test_a_new_field_is_an_option_everywhere(bert):
    """Python, command line, HTTP and manifest are made from the table."""
    assert signature(loader(WithCare)).parameters["care"].default == "some"
    assert "care\n    How much care is taken." in loader(WithCare).__doc__

    options = offering(table(WithCare), WithCare)(SettingOptions)
    assert options(care="much").care == "much"

    def command(*, chosen: options = options()) -> None:  # noqa: B008
        assert chosen.care == "much"

    assert run(Command("any", command), ["--care", "much"]) == 0

    request = create_model("Request", __base__=ModelRequest, **setting_fields(WithCare))
    assert request(care="much").care == "much"
    assert request.model_json_schema()["properties"]["care"]["enum"] == ["some", "much"]

    own = Scorer(WithCare("wsmd", care="much"), bert.encoder)
    assert load_arguments(own)["care"] == "much"
    with pytest.raises(movers.InputError, match=r"care must be one of .*, got 'no'"):
        own.using(care="no")


def test_every_setting_is_where_its_row_says():
    names = set(table())
    assert set(signature(movers.load).parameters) == names
    assert {field.name for field in fields(Options)} == names - {"method"}
    assert set(setting_fields()) == {name for name, facts in table().items() if facts.http}
    for request in (CompareRequest, ScoreRequest, RankRequest):
        assert set(setting_fields()) < set(request.model_fields)


def test_a_manifest_makes_the_same_settings(bert):
    """What an index writes, `load` reads."""
    scorer = bert.using(stopwords=["the", "of"], mix=0.25, frequencies=None)
    again = movers.load(
        **json.loads(json.dumps(load_arguments(scorer))), statistics=scorer.statistics
    )
    assert again.settings.rules == scorer.settings.rules
    assert str(again.signature) == str(scorer.signature)


def test_what_belongs_to_the_model_is_not_changed_afterwards(bert):
    with pytest.raises(movers.InputError, match="device belongs to the model"):
        bert.using(device="cpu")


def test_none_is_a_name_for_no_stop_words():
    assert Settings(stopwords="none") == Settings(stopwords=None)


@pytest.mark.parametrize("make", [movers.load, lambda **wrong: movers.load().using(**wrong)])
def test_a_misspelt_setting_is_told_what_may_be_meant(make):
    with pytest.raises(TypeError, match=r"no setting 'layer'; did you mean 'layers'\? there are:"):
        make(layer=2)
