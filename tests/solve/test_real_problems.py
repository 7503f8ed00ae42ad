"""The solver on problems of the embedded model, against POT: thousands, of every kind."""

from collections.abc import Iterator
from itertools import pairwise
from random import Random

import numpy as np
import pytest
from versus_pot import Problem, tally

import movers
from movers.solve import Problems, fgw_batch

SENTENCES = [
    "The young painter from Lisbon sold her largest picture to an old museum in Oslo.",
    "A farmer lent the sailor a boat before the storm destroyed the harbour.",
    "Parliament rejected the minister's plan after a long and noisy debate.",
    "Our neighbour taught my brother to repair bicycles during the summer holidays.",
    "The orchestra played a quiet waltz while guests crossed the marble hall.",
    "Scientists found water beneath the ice of a distant moon last winter.",
    "The judge asked the witness whether the driver had seen the red light.",
    "Two brothers founded the newspaper that their sister later bought and saved.",
    "Heavy snow closed the mountain road between the village and the border.",
    "The teacher praised the shy student who solved the hardest problem first.",
    "A French company builds trains in Spain for the railways of Morocco.",
    "The dog chased the cat through the garden and the cat climbed a tree.",
]


def reordered(sentence: str, rng: Random) -> str:
    words = sentence.rstrip(".").split()
    i, j = sorted(rng.sample(range(len(words)), 2))
    words[i], words[j] = words[j], words[i]
    return " ".join(words)


def swapped() -> list[tuple[str, str]]:
    rng = Random(0)
    return [(text, reordered(text, rng)) for text in SENTENCES for _ in range(2)]


def unrelated() -> list[tuple[str, str]]:
    return list(pairwise(SENTENCES))


def problems(batch: Problems, mix: float, heads: slice) -> Iterator[Problem]:
    for p, (n, m) in enumerate(batch.shapes):
        u, v = batch.u[batch.u_start[p] :][:n], batch.v[batch.v_start[p] :][:m]
        for h in range(batch.heads)[heads]:
            source, target = (
                batch.structure[start[p] + h * k * k :][: k * k].reshape(k, k).astype(float)
                for start, k in ((batch.a_start, n), (batch.b_start, m))
            )
            cost = batch.costs[p].reshape(n, m)
            yield Problem(cost, source, target, u, v, mix, batch.scale[p, h])


KINDS = [
    (swapped, {"method": "wsmd-wmd", "embedding": 0}, 1),
    (swapped, {"method": "wsmd-wrd", "recipe": "reference"}, 1),
    (swapped, {"method": "wsmd-wmd-idf"}, 2),
    (unrelated, {"method": "wsmd-wmd", "embedding": 0}, 6),
    (unrelated, {"method": "wsmd-wmd", "recipe": "reference"}, 1),
    (unrelated, {"method": "wsmd-wrd-idf"}, 6),
]
"""Pairs, settings, and of how many heads one is tried at full size."""
FEW = [(pairs, settings, slice(3, 72, 12)) for pairs, settings, _ in KINDS]
MANY = [
    pytest.param(pairs, settings, slice(0, 72, step), marks=pytest.mark.published)
    for pairs, settings, step in KINDS
]


@pytest.mark.parametrize(
    ("pairs", "settings", "heads"),
    FEW + MANY,
    ids=lambda value: value.__name__ if callable(value) else None,
)
def test_no_worse_than_pot(pairs, settings, heads):
    pairs = pairs()
    texts = [text for pair in pairs for text in pair]
    scorer = movers.load(**settings, layers="all", whitening="none").fit(texts)
    measured = scorer.weigh(texts)
    rows = np.array([[measured.encodings.rows[text] for text in pair] for pair in pairs])
    batch = scorer.measure.pose(measured, rows)
    found = fgw_batch(batch, mix=0.5)
    result = tally(problems(batch, 0.5, heads), found.value[:, heads].ravel())
    assert result.problems >= 66
    assert result.worse <= 0.003 * result.problems + 1
    assert result.worse <= result.better + 1
    assert found.iterations.max() <= 100
    assert (found.gap > -1e-9).all()


def test_marginals_and_parts_of_real_problems():
    scorer = movers.load("wsmd-wrd", layers="all", whitening="none")
    for pair in [*swapped()[:6], *unrelated()[:6]]:
        found = scorer.compare(*pair)
        weights = [
            scorer.weigh(pair).weights[scorer.weigh(pair).encodings.rows[text]] for text in pair
        ]
        for plan in found.plans:
            np.testing.assert_allclose(plan.sum(axis=1), weights[0], atol=1e-12)
            np.testing.assert_allclose(plan.sum(axis=0), weights[1], atol=1e-12)
        for head in found.heads:
            assert head.value == pytest.approx(0.5 * (head.linear + head.structural), abs=1e-12)
