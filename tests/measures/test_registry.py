"""The registry of measures, and finding one in it."""

from itertools import pairwise

import numpy as np
import pytest

import movers
from movers.measures import registry
from movers.measures.parts.costs import COSTS
from movers.measures.registry import ALIASES, METHODS, find_measure
from movers.measures.sentences import WEIGHTS
from movers_research.baselines import MEASURES
from tiny_models import SENTENCES
from tree_parsers import MadeUp


def test_every_measure_names_things_that_exist():
    for name, row in METHODS.items():
        for measure in (row, row.under("reference")):
            assert measure.name == name
            assert measure.weights in WEIGHTS
            assert getattr(measure, "cost", None) in (*COSTS, None)
            assert measure.title and measure.paper
        assert row.under("paper") is row
    assert "embedding" not in METHODS["smd"].settings
    assert "embedding" in METHODS["smd-norm"].settings
    assert "layers" in METHODS["wsmd-wmd"].settings and "layers" not in METHODS["wmd"].settings


def test_every_word_measure_has_its_structural_versions():
    for base in ("wmd", "wmd-idf", "wrd", "wrd-idf"):
        both, words = METHODS[f"wsmd-{base}"], METHODS[f"lambda-{base}"]
        assert (both.weights, both.cost) == (METHODS[base].weights, METHODS[base].cost)
        assert words.word_part and not both.word_part


def test_an_unbound_measure_says_so():
    with pytest.raises(movers.InputError, match="wmd is not bound to a model"):
        METHODS["wmd"].requirements  # noqa: B018


@pytest.mark.parametrize("recipe", ["paper", "reference"])
@pytest.mark.filterwarnings("ignore::movers.runtime.notices.UnfittedWarning")
def test_every_row_works_at_once_unless_it_needs_a_parser(tiny, recipe):
    base = movers.load("wmd", tiny("bert"), recipe=recipe)
    for name in METHODS:
        scorer = base.using(name)
        if "parser" in scorer.measure.settings:
            with pytest.raises(movers.InputError, match="parser"):
                scorer.compare(*SENTENCES[:2])
        else:
            assert np.isfinite(scorer.compare(*SENTENCES[:2]).distance), name


@pytest.mark.parametrize("recipe", ["paper", "reference"])
def test_the_table_knows_which_measures_are_symmetric(tiny, recipe):
    texts = [*SENTENCES, *(f"{b} {a}" for a, b in pairwise(SENTENCES))]
    pairs = [(a, b) for a in texts[:8] for b in texts[5:]]
    base = movers.load("wmd", tiny("bert"), recipe=recipe, parser=MadeUp()).fit(texts)
    base = base.using("synwmd").fit(texts)
    for name in METHODS:
        scorer = base.using(name).fit(texts)
        there, back = scorer.distances(pairs), scorer.distances([pair[::-1] for pair in pairs])
        # a few problems with structure may end in another local minimum
        apart = np.abs(there - back) > 1e-9 * (1 + np.abs(there))
        # the penalty of wmdo as published hardly looks at these sentences, but see its own test
        if name != "wmdo" or recipe == "paper":
            assert (apart.mean() < 0.02) == scorer.measure.symmetric, name


def test_rows_know_their_base_in_both_recipes():
    for name, row in METHODS.items():
        for method in (row, row.under("reference")):
            prefix, _, rest = name.partition("-")
            assert method.base == (rest if prefix in ("wsmd", "lambda") else None), name
            assert method.base is None or METHODS[method.base].base is None


def test_rows_with_syntax_need_trees_in_both_recipes():
    for name, row in METHODS.items():
        for method in (row, row.under("reference")):
            assert ("parser" in method.settings) == ("synwmd" in name or name == "rots"), name


def test_aliases_lead_to_rows():
    assert find_measure("wsmd") is METHODS["wsmd-wrd"]
    assert all(target in METHODS for target in ALIASES.values())


@pytest.mark.parametrize(
    ("name", "hint"), [("wmd-id", "did you mean 'wmd-idf'"), ("zzz", "no method 'zzz'; there are")]
)
def test_an_unknown_method_gets_a_suggestion(name, hint):
    with pytest.raises(movers.InputError, match=hint):
        movers.load(name)


def test_measures_of_research_come_by_entry_point_or_are_told_of(monkeypatch):
    monkeypatch.delitem(METHODS, "rots")
    assert find_measure("rots").parsed and "rots" in METHODS
    monkeypatch.delitem(METHODS, "rots")
    monkeypatch.setattr(registry, "add_rows", lambda *_: [])
    with pytest.raises(movers.DependencyError, match=r"rots .*pip install \./research"):
        find_measure("rots")
    assert {*registry.RESEARCH} <= {*MEASURES}
