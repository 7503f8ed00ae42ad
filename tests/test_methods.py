"""The table of methods, and finding a row of it."""

import pytest

import movers
from movers.measure.costs import COSTS
from movers.measure.weights import WEIGHTS
from movers.methods import ALIASES, METHODS, find_method


def test_every_row_names_things_that_exist():
    assert len(METHODS) == 15
    for name, method in METHODS.items():
        assert method.name == name
        assert method.weights in WEIGHTS
        assert method.cost in COSTS or (method.cost is None and method.transport == "structure")
        assert method.needs_attention == (method.transport != "words")
        assert method.needs_vectors == (name not in ("smd", "smd-idf"))
        assert method.paper and method.title


def test_every_word_measure_has_its_structural_versions():
    for base in ("wmd", "wmd-idf", "wrd", "wrd-idf"):
        both, linear = METHODS[f"wsmd-{base}"], METHODS[f"lambda-{base}"]
        assert (both.weights, both.cost) == (METHODS[base].weights, METHODS[base].cost)
        assert (both.transport, both.reports) == ("both", "value")
        assert (linear.transport, linear.reports) == ("both", "linear")


def test_aliases_lead_to_rows():
    assert find_method("wsmd") is METHODS["wsmd-wrd"]
    assert all(target in METHODS for target in ALIASES.values())


@pytest.mark.parametrize(
    ("name", "hint"), [("wmd-id", "did you mean 'wmd-idf'"), ("zzz", "no method 'zzz'; there are")]
)
def test_an_unknown_method_gets_a_suggestion(name, hint):
    with pytest.raises(movers.InputError, match=hint):
        movers.load(name)
