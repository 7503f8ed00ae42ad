"""Selections of layers: picked on a development set, or named."""

import numpy as np
import pytest

from movers.errors import InputError
from movers.evaluate.collect import LayerChoice, check_selections

DEVELOPMENT = {("paper", 0): np.array([0.9, 0.5, 0.6, 0.8]), ("paper", 4): np.array([0.1] * 4)}
CHOICE = LayerChoice(4, (3, 4), DEVELOPMENT)


@pytest.mark.parametrize(
    ("selection", "layers"),
    [
        ("top1", (4,)),  # the best of the contextual layers, as in the paper
        ("best", (1,)),
        ("BV", (3, 4)),
        ("all", (1, 2, 3, 4)),
        ("2-3", (2, 3)),
        ("1,4", (1, 4)),
    ],
)
def test_selections(selection, layers):
    assert CHOICE.layers(selection, "paper", 0) == layers


def test_the_first_of_equal_layers_is_best():
    assert CHOICE.layers("best", "paper", 4) == (1,)


@pytest.mark.parametrize("selection", ["top1", "best", "BV"])
def test_picking_needs_a_development_set(selection):
    with pytest.raises(InputError, match="picked on a development set; pass dev="):
        LayerChoice(4).layers(selection, "paper", 0)
    with pytest.raises(InputError, match="development set"):
        check_selections([selection], 4, dev=False)
    check_selections([selection], 4, dev=True)


def test_bad_selections_are_refused_before_anything_runs():
    with pytest.raises(InputError, match="layer 5 is out of range"):
        check_selections(["all", "5"], 4, dev=True)
    with pytest.raises(InputError, match="cannot read layers 'top'"):
        check_selections(["top"], 4, dev=True)
