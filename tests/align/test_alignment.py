import json

import numpy as np
import pytest

import movers
from movers.explain.compared import LINKED

PAIR = "Lott , the <senate> leader , spoke", "the leader of the <senate> was heard"


@pytest.fixture(scope="module")
def found():
    return movers.load().align(*PAIR)


def test_everything_is_in_the_dictionary(found):
    plain = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert plain["pharaoh"] == found.pharaoh == " ".join(f"{i}-{j}" for i, j in sorted(found.pairs))
    assert plain["links"][0].keys() == {
        *("source_index", "target_index", "source", "target", "source_span", "target_span"),
        *("mass", "cost", "confidence"),
    }
    assert "aligner:shares" in plain["signature"]
    sides = {link.source_index for link in found}, {link.target_index for link in found}
    for linked, words, alone in zip(
        sides,
        (found.source_words, found.target_words),
        (found.unmatched_source, found.unmatched_target),
        strict=True,
    ):
        assert sorted([*linked, *alone]) == list(range(len(words)))


def test_the_print_shows_links_and_words_without_any(found):
    lines = str(found).splitlines()
    assert any(line.startswith("leader → leader  ") for line in lines)
    assert "was → –" not in lines and len(lines) == len(found) + len(
        found.unmatched_source + found.unmatched_target
    )


def test_links_of_a_comparison_are_mutual_shares_of_its_plan():
    compared = movers.load("wsmd", stopwords=None).compare(
        "the old man saw the young man", "the young man saw the old man"
    )
    plan = compared.plan
    for link in compared.links:
        i, j = link.source_index, link.target_index
        expected = np.sqrt(plan[i, j] / plan[i].sum() * plan[i, j] / plan[:, j].sum())
        assert link.mass == pytest.approx(expected)
        assert compared.source[slice(*link.source_span)] == link.source == compared.source_words[i]
    assert all(link.mass >= LINKED for link in compared.links)
    assert {(flow.source_index, flow.target_index) for flow in compared.alignment} >= {
        (link.source_index, link.target_index) for link in compared.links
    }
    assert movers.load("average").compare("a dog", "a cat").links == ()
