"""The curve over all mixes is one comparison after the other."""

from itertools import pairwise

import numpy as np
import pytest

from movers.errors import InputError
from movers.explain.curve import mean_strain
from tiny_models import SENTENCES

PAIR = SENTENCES[0], SENTENCES[1]


@pytest.mark.parametrize("method", ["wsmd", "lambda-wmd"])
def test_every_step_is_the_comparison_at_its_mix(bert, method):
    scorer = bert.using(method)
    curve = scorer.curve(*PAIR, steps=5)
    assert curve["mixes"] == [0, 0.25, 0.5, 0.75, 1]
    plans = []
    for place, mix in enumerate(curve["mixes"]):
        found = scorer.using(mix=mix).compare(*PAIR)
        assert curve["distances"][place] == found.distance
        assert (curve["linear"][place], curve["structural"][place]) == (
            found.linear,
            found.structural,
        )
        plan = np.zeros_like(found.plan)
        for i, j, mass, _ in curve["plans"][place]:
            plan[i, j] = mass
        np.testing.assert_allclose(plan, found.plan, atol=1e-4)
        plans.append(found.plan)
        charged = (found.plan * mean_strain(found)).sum()
        assert charged == pytest.approx(found.structural, abs=1e-12)
    moved = [np.abs(b - a).sum() / 2 for a, b in pairwise(plans)]
    np.testing.assert_allclose(curve["moved"], [0, *moved], atol=1e-4)


def test_a_measure_without_a_mix_has_no_curve(bert):
    with pytest.raises(InputError, match="wmd has no mix"):
        bert.using("wmd").curve(*PAIR)
