"""The default measure against an oracle in plain numpy: they share the model and nothing else."""

import re

import numpy as np
import pytest
import torch
from scipy.optimize import linprog

import movers
from movers.arrays import Ragged
from movers.measures.bounds import sentence_distances
from movers.measures.default import PRICE, SHARPNESS, calibrate, gates, prices, trusted
from tiny_models import ATTENTIVE, PAIRS

PROSE = (
    ("The committee praised the young engineer.", "The young engineer praised the committee."),
    ("The dog bit the man.", "The man was bitten by the dog."),
    ("Rents rose faster than wages.", "Wages did not keep up with rents, economists say."),
    ("A woman is slicing an onion.", "The probe left orbit in 1999."),
)


def cosine_distance(x, y):
    return 1 - x @ y / np.linalg.norm(x) / np.linalg.norm(y)


def cheapest_plan(cost):
    """Exact transport between uniform weights, as a linear program."""
    n, m = cost.shape
    rows, columns = np.kron(np.eye(n), np.ones(m)), np.kron(np.ones(n), np.eye(m))
    masses = np.r_[np.full(n, 1 / n), np.full(m, 1 / m)]
    return linprog(cost.ravel(), A_eq=np.vstack([rows, columns]), b_eq=masses).x.reshape(n, m)


def oracle(x, y, X, Y, A, B, chance):
    """Sentence part and structural part (s c S, before the gate), from plain arrays.

    Sentence vectors; word vectors; attention among the words, ``(layers, heads, n, n)``.
    """
    cost = np.array([[cosine_distance(a, b) for b in Y] for a in X])
    plan = cheapest_plan(cost) * np.maximum(0, 1 - cost / cost.mean())
    A, B = (one / one.sum(axis=-1, keepdims=True) for one in (A, B))
    charged = 0.0
    for layer_a, layer_b in zip(A, B, strict=True):
        energy = error = 0.0
        for a, b in zip(layer_a, layer_b, strict=True):
            apart = (a[:, None, :, None] - b[None, :, None, :]) ** 2  # i, j, k, l
            energy += np.einsum("ijkl,ij,kl->", apart, plan, plan)
            error += apart.mean()
        charged += energy / error / len(A)
    return cosine_distance(x, y), 1.25 * chance * charged


def arrays_of(encoder, text):
    """Sentence vector, word vectors and attention of a sentence straight from the model."""
    tokens = encoder.tokenizer(text, return_offsets_mapping=True, return_tensors="pt")
    offsets = tokens.pop("offset_mapping")[0].tolist()
    with torch.no_grad():
        out = encoder.model(**tokens, output_attentions=True, output_hidden_states=True)
    depth = len(out.attentions)
    margin = (depth + 3) // 6
    starts = {match.start() for match in re.finditer(r"\w+", text)}
    words = [place for place, (low, high) in enumerate(offsets) if high > low and low in starts]
    states = [layer[0].double().numpy() for layer in out.hidden_states]
    attention = np.stack([layer[0].double().numpy() for layer in out.attentions])
    picked = attention[margin : depth - margin][:, :, words][:, :, :, words]
    return states[-1].mean(axis=0), states[depth // 2][words], picked


def check(scorer, pair):
    (x, X, A), (y, Y, B) = (arrays_of(scorer.encoder, text) for text in pair)
    assert A.shape[:2] == (len({layer for layer, _ in scorer.heads}), scorer.encoder.heads)
    chance = calibrate(scorer.encoder).chance
    sentence, structural = oracle(x, y, X, Y, A, B, chance)
    gate = max(0.0, 1 - sentence / chance) ** 14
    found = scorer.compare(*pair)
    assert found.sentence == pytest.approx(sentence, abs=1e-5)
    assert found.structural == pytest.approx(structural, rel=1e-3, abs=1e-5)
    assert found.distance == pytest.approx(sentence + gate * structural, rel=1e-3, abs=1e-5)
    assert found.similarity == pytest.approx(max(0, 1 - found.distance / chance), abs=1e-6)


@pytest.mark.parametrize("name", ["bert", "distilbert", "electra"])
@pytest.mark.parametrize("pair", [PAIRS[0], PAIRS[9], PAIRS[17]])
def test_tiny_models_agree_with_the_oracle(tiny, name, pair):
    check(movers.load("movers", tiny(name)), pair)


@pytest.mark.parametrize("pair", PROSE)
def test_the_embedded_model_agrees_with_the_oracle(pair):
    check(movers.load("movers", engine="torch"), pair)


@pytest.mark.parametrize("name", ATTENTIVE)
def test_parts_add_up_and_the_cosine_is_a_lower_bound(tiny, name):
    scorer = movers.load("movers", tiny(name))
    for pair in PAIRS[::7]:
        found = scorer.compare(*pair)
        whole = found.sentence + found.gate * found.structural
        assert found.distance == pytest.approx(whole, abs=1e-12)
        assert np.mean([head.structural for head in found.heads]) == pytest.approx(found.structural)
        assert found.structural >= 0
        assert 0 <= found.gate <= 1
        assert found.distance >= found.sentence


def test_gates_are_open_between_equals_and_closed_from_chance_on():
    assert gates(np.array([0.0, 0.4, 0.8, 1.2]), 0.8).tolist() == [1.0, 0.5**SHARPNESS, 0.0, 0.0]


def test_vectors_compare_by_direction_alone():
    pooled = np.array([[1, 0], [5, 0], [0, 2], [-3, 0], [0, 0]], np.float32)
    rows = np.array([[0, 1], [0, 2], [0, 3], [4, 4]])
    assert sentence_distances(pooled, rows).tolist() == [0.0, 1.0, 2.0, 0.0]


def test_moves_are_trusted_by_their_cost():
    costs = Ragged(np.array([0.0, 1.0, 2.0, 1.0, 0.0, 0.0]), np.array([0, 4, 6]))
    found = trusted(np.full(6, 0.5), costs)
    assert found.tolist() == [0.5, 0.0, 0.0, 0.0, 0.5, 0.5]


def test_layers_are_priced_together():
    errors = np.array([[1.0, 3.0, 0.0, 0.0]])
    found = prices(errors, (2, 2, 3, 3), 0.5)
    # a layer that is wholly broken, of two: half of S
    assert (found[:, :2] * errors[:, :2]).sum() / 4 == pytest.approx(0.5 * PRICE * 0.5)
    assert found[0, 2:].tolist() == [0.0, 0.0]
