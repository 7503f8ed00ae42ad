"""The table of methods, and finding a row of it."""

from itertools import pairwise

import numpy as np
import pytest

import movers
from movers.baselines import find_baseline
from movers.measure.costs import COSTS
from movers.measure.weights import WEIGHTS
from movers.methods import ALIASES, METHODS, find_method
from tiny_models import SENTENCES
from tree_parsers import MadeUp


def test_every_row_names_things_that_exist():
    for name, row in METHODS.items():
        for method in (row, row.under("reference")):
            assert method.name == name
            assert method.weights in WEIGHTS
            assert method.cost in (*COSTS, None)
            assert method.title
            if method.baseline:
                assert method.transport is None and callable(
                    find_baseline(method.baseline).distances
                )
            else:
                assert (method.cost is None) == (method.transport == "structure")
                assert method.paper
        assert row.under("paper") is row
    assert not METHODS["smd"].needs_vectors and METHODS["smd-norm"].needs_vectors
    assert METHODS["wsmd-wmd"].needs_attention and not METHODS["wmd"].needs_attention


def test_every_word_measure_has_its_structural_versions():
    for base in ("wmd", "wmd-idf", "wrd", "wrd-idf"):
        both, linear = METHODS[f"wsmd-{base}"], METHODS[f"lambda-{base}"]
        assert (both.weights, both.cost) == (METHODS[base].weights, METHODS[base].cost)
        assert (both.transport, both.reports) == ("both", "value")
        assert (linear.transport, linear.reports) == ("both", "linear")


@pytest.mark.parametrize("recipe", ["paper", "reference"])
@pytest.mark.filterwarnings("ignore::movers.runtime.notices.UnfittedWarning")
@pytest.mark.filterwarnings("ignore::movers.runtime.notices.UnwhitenedWarning")
def test_every_row_works_at_once_unless_it_needs_a_parser(tiny, recipe):
    base = movers.load("wmd", tiny("bert"), recipe=recipe)
    for name in METHODS:
        scorer = base.using(name)
        if scorer.method.needs_trees:
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
            assert (apart.mean() < 0.02) == scorer.method.symmetric, name


def test_rows_know_their_base_in_both_recipes():
    for name, row in METHODS.items():
        for method in (row, row.under("reference")):
            prefix, _, rest = name.partition("-")
            assert method.base == (rest if prefix in ("wsmd", "lambda") else None), name
            assert method.base is None or METHODS[method.base].base is None


def test_rows_with_syntax_need_trees_in_both_recipes():
    for name, row in METHODS.items():
        for method in (row, row.under("reference")):
            assert method.needs_trees == ("synwmd" in name or name == "rots"), name


def test_aliases_lead_to_rows():
    assert find_method("wsmd") is METHODS["wsmd-wrd"]
    assert all(target in METHODS for target in ALIASES.values())


@pytest.mark.parametrize(
    ("name", "hint"), [("wmd-id", "did you mean 'wmd-idf'"), ("zzz", "no method 'zzz'; there are")]
)
def test_an_unknown_method_gets_a_suggestion(name, hint):
    with pytest.raises(movers.InputError, match=hint):
        movers.load(name)
