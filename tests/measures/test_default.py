"""The default measure against an oracle in plain numpy: they share the model and nothing else."""

import json
import re

import numpy as np
import pytest
import torch
from scipy.optimize import linprog
from sklearn.metrics import roc_auc_score

import movers
from movers.difference.orders import HARMLESS, TELLING, effects_of_order
from movers.measures import calibration, default
from movers.measures.calibration import (
    Calibration,
    Network,
    Seen,
    contrasts,
    fit_network,
    keep,
    kept,
)
from movers.measures.default import PRICE, WIDTH, calibrate, gates
from movers.measures.sentences import sentence_distances
from tiny_models import ATTENTIVE, PAIRS

PROSE = (
    ("The committee praised the young engineer.", "The young engineer praised the committee."),
    ("The dog bit the man.", "The man was bitten by the dog."),
    ("Rents rose faster than wages.", "Wages did not keep up with rents, economists say."),
    ("A woman is slicing an onion.", "The probe left orbit in 1999."),
)


def cosine_distance(x, y):
    return 1 - x @ y / np.linalg.norm(x) / np.linalg.norm(y)


def partial_plan(cost, price):
    """Exact transport of words of mass one that may stay at home, as a linear program."""
    n, m = cost.shape
    sides = np.vstack([np.kron(np.eye(n), np.ones(m)), np.kron(np.ones(n), np.eye(m))])
    return linprog((cost - price).ravel(), A_ub=sides, b_ub=np.ones(n + m)).x.reshape(n, m)


def broken_share(plan, a, b):
    """What a plan breaks of the relations between moved words, over what a product plan would."""
    p, q = plan.sum(axis=1) / plan.sum(), plan.sum(axis=0) / plan.sum()
    a, b = (
        one * (moved > 0) / (one * (moved > 0)).sum(axis=1, keepdims=True)
        for one, moved in ((a, p), (b, q))
    )
    apart = (a[:, None, :, None] - b[None, :, None, :]) ** 2  # i, j, k, l
    product = np.outer(p, q)
    return (
        np.einsum("ijkl,ij,kl->", apart, plan, plan)
        / plan.sum() ** 2
        / np.einsum("ijkl,ij,kl->", apart, product, product)
    )


def shift(plan, X, Y, direction):
    """How far moved words lie from those they went to, along one direction."""
    apart = (X @ direction)[:, None] - (Y @ direction)[None, :]
    return np.sqrt((plan * apart**2).sum() / plan.sum())


def oracle_odds(known, signs, longness):
    """One sum of signs, and the others bent, in plain loops."""
    network, odds = known.network, 0.0
    for unit, factor in enumerate(network.factors):
        weights = (1 - longness) * network.short[unit] + longness * network.long[unit]
        total = weights[-1] + sum(w * sign for w, sign in zip(weights[:-1], signs, strict=True))
        odds += factor * np.tanh(total) if unit else total
    return odds


def oracle(x, y, X, Y, A, B, known, effect):
    """Sentence part and structural part (s c S, before the gate), from plain arrays.

    Sentence vectors; word vectors; attention among the words, ``(layers, heads, n, n)``; and what
    words alone tell of the order.
    """
    cost = np.array([[cosine_distance(a, b) for b in Y] for a in X])
    plan = np.round(partial_plan(cost, 0.7 * cost.mean()), 9)
    roots = [
        np.sqrt(broken_share(plan, A[layer - 1, head - 1], B[layer - 1, head - 1]))
        for layer, head in known.heads
        if (plan > 0).sum() > 1
    ]
    count = len(X) + len(Y)
    longness = 0.5 + 0.5 * np.tanh(3 * (np.log(1 + count) - 3.2))
    signs = [*roots, *(shift(plan, X, Y, direction) for direction in known.directions)]
    odds = oracle_odds(known, signs, longness) if roots else 0.0
    moved = 1 - np.exp(-20 * np.mean(roots or [0.0]))
    charge = moved / (1 + np.exp(-odds))
    charge = {HARMLESS: 0.0, TELLING: max(charge, 0.95 * moved), 0: charge}[effect]
    if len(X) == len(Y) and np.allclose(plan, np.diag(np.diag(plan))):
        charge = 0.0  # no word left its place
    return cosine_distance(x, y), 0.28 * known.chance * charge


def arrays_of(encoder, text):
    """Sentence vector, word vectors and attention of a sentence straight from the model."""
    tokens = encoder.tokenizer(text, return_offsets_mapping=True, return_tensors="pt")
    offsets = tokens.pop("offset_mapping")[0].tolist()
    with torch.no_grad():
        out = encoder.model(**tokens, output_attentions=True, output_hidden_states=True)
    starts = {match.start() for match in re.finditer(r"\w+", text)}
    words = [place for place, (low, high) in enumerate(offsets) if high > low and low in starts]
    states = [layer[0].double().numpy() for layer in out.hidden_states]
    attention = np.stack([layer[0].double().numpy() for layer in out.attentions])
    depth = len(attention)
    return states[-1].mean(axis=0), states[depth // 2][words], attention[:, :, words][..., words]


def check(scorer, pair):
    (x, X, A), (y, Y, B) = (arrays_of(scorer.encoder, text) for text in pair)
    known = calibrate(scorer.encoder)
    assert known.heads and scorer.heads == known.heads
    (effect,) = effects_of_order(pair, np.array([[0, 1]]))
    sentence, structural = oracle(x, y, X, Y, A, B, known, effect)
    gate = max(0.0, 1 - sentence / (0.4 * known.chance))
    found = scorer.compare(*pair)
    assert found.sentence == pytest.approx(sentence, abs=1e-5)
    assert found.structural == pytest.approx(structural, rel=1e-3, abs=1e-5)
    assert found.distance == pytest.approx(sentence + gate * structural, rel=1e-3, abs=1e-5)
    assert found.similarity == pytest.approx(max(0, 1 - found.distance / known.chance), abs=1e-6)


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
    apart = 0.8 * WIDTH * np.array([0.0, 0.5, 1.0, 1.2])
    assert gates(apart, 0.8).tolist() == [1.0, 0.5, 0.0, 0.0]
    assert PRICE < WIDTH  # distances grow with sentences' whatever structure charges


def test_vectors_compare_by_direction_alone():
    pooled = np.array([[1, 0], [5, 0], [0, 2], [-3, 0], [0, 0]], np.float32)
    rows = np.array([[0, 1], [0, 2], [0, 3], [4, 4]])
    assert sentence_distances(pooled, rows).tolist() == [0.0, 1.0, 2.0, 0.0]


def test_a_further_change_makes_a_swap_no_nearer():
    scorer, given = movers.load(), contrasts()
    rows = [i for i, kind in enumerate(given.kinds) if kind == "change" and not given.fit[i]]
    swap, changed = scorer.distances([given.pairs[i] for i in rows]).reshape(-1, 2).T
    assert (changed >= swap).mean() >= 0.8


def test_search_puts_a_swap_with_a_further_change_behind_the_swap():
    scorer, given = movers.load(), contrasts()
    rows = [i for i, kind in enumerate(given.kinds) if kind == "change" and not given.fit[i]]
    triples = [
        given.pairs[i] + given.pairs[j][1:] for i, j in zip(rows[::2], rows[1::2], strict=True)
    ]
    index = movers.Index.build(scorer, {text for _, *texts in triples for text in texts})
    behind = []
    for sentence, swap, changed in triples[::2]:
        order = [match.text for match in index.search(sentence, len(index))]
        behind.append(order.index(swap) < order.index(changed))
    assert np.mean(behind) >= 0.8


def test_contrasts_of_the_reporting_half_are_told_apart():
    scorer, given = movers.load(), contrasts()
    natural = np.array([kind.endswith("natural") for kind in given.kinds]) & ~given.fit
    part = given.take(natural)
    distances = scorer.distances(part.pairs)
    assert roc_auc_score(~part.same, distances) > 0.85  # the cosine has 0.4


def test_words_without_a_counterpart_stay_at_home():
    found = movers.load().compare("The dog bit the man.", "Yesterday the man bit the dog.")
    words = list(found.target_words)
    assert found.plan[:, words.index("Yesterday")].sum() == 0.0
    assert found.plan.sum() == pytest.approx(5 / 6)


def test_other_words_and_signs_in_the_same_places_cost_what_vectors_say():
    scorer = movers.load()
    for target in ("The parcel of order 8291 was damaged", "The parcel of order 8291 was opened."):
        found = scorer.compare("The parcel of order 8291 was damaged.", target)
        assert found.structural == 0.0 and found.distance == found.sentence > 0.0
    assert scorer.compare("a dog bites a man", "a man bites a dog").structural > 0.1


def test_chosen_heads_count_alike():
    scorer = movers.load(layers="4", heads="2,10")
    assert scorer.heads == ((4, 2), (4, 10))
    assert "chosen" in str(scorer.signature)
    assert scorer.distances([("a dog bites a man", "a man bites a dog")])[0] > 0.05


def test_weights_without_a_fingerprint_share_no_calibration(tiny, monkeypatch):
    encoder = movers.load("movers", tiny("bert")).encoder
    monkeypatch.setitem(vars(encoder), "fingerprint", "unknown")
    monkeypatch.setitem(vars(encoder), "calibrations", {})
    network = Network(np.ones((1, 2)), np.ones((1, 2)), np.ones(1))
    alike = Calibration(0.5, ((1, 1),), network, 1.0)
    monkeypatch.setattr(default, "kept", lambda name: pytest.fail("read what may be another's"))
    monkeypatch.setattr(default, "keep", lambda *_: pytest.fail("kept what cannot be named"))
    monkeypatch.setattr(default, "learn", lambda encoder: alike)
    assert calibrate(encoder) is alike


@pytest.mark.parametrize(("old", "new"), [("0.9", "0.8"), ('"apart"', '"aqart"'), ("}", "\0")])
def test_a_kept_calibration_is_the_one_that_was_learned(tmp_path, monkeypatch, old, new):
    monkeypatch.setenv("MOVERS_CACHE", str(tmp_path))
    known = calibrate(movers.load().encoder)
    assert kept("abc") is None
    keep("abc", known)
    found = kept("abc")
    assert found is not None and found.digest == known.digest
    (path,) = (tmp_path / "calibrations").iterdir()
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), "utf-8")
    assert kept("abc") is None


def test_a_calibration_learned_in_another_way_is_not_taken(tmp_path, monkeypatch):
    monkeypatch.setenv("MOVERS_CACHE", str(tmp_path))
    keep("abc", calibrate(movers.load().encoder))
    assert kept("abc") is not None
    monkeypatch.setattr(calibration, "DIRECTIONS", 8)
    assert kept("abc") is None


def test_slopes_are_those_of_the_odds():
    network = calibrate(movers.load().encoder).network
    random = np.random.default_rng(7)
    signs, words = (
        random.uniform(0, 1, (5, network.short.shape[1] - 1)),
        np.array([4, 9, 20, 31, 60]),
    )
    slopes, step = network.slopes(signs, words), 1e-6
    for sign in range(0, signs.shape[1], 9):
        aside = np.zeros_like(signs)
        aside[:, sign] = step
        rise = network.odds(signs + aside, words) - network.odds(signs - aside, words)
        assert slopes[:, sign] == pytest.approx(rise / (2 * step), rel=1e-4, abs=1e-5)


def test_a_pair_has_the_same_odds_in_any_company():
    network = calibrate(movers.load().encoder).network
    signs = np.random.default_rng(3).uniform(0, 1, (33, network.short.shape[1] - 1))
    words = np.arange(33) + 4
    whole = network.odds(signs, words)
    slopes = network.slopes(signs, words)
    for row in range(33):
        alone = slice(row, row + 1)
        assert network.odds(signs[alone], words[alone]).tobytes() == whole[alone].tobytes()
        assert network.slopes(signs[alone], words[alone]).tobytes() == slopes[alone].tobytes()


def test_a_calibration_is_the_same_after_a_round_trip_and_refuses_cut_weights():
    known = calibrate(movers.load().encoder)
    values = json.loads(json.dumps(known.to_json()))
    assert Calibration.from_json(values).digest == known.digest
    values["heads"].pop()
    with pytest.raises(ValueError, match="shape"):
        Calibration.from_json(values)


def test_a_network_tells_what_no_sum_can():
    """Either of two heads broken is a change, both or none is none."""
    random = np.random.default_rng(0)
    broken = random.integers(0, 2, (400, 2)) + random.normal(0, 0.1, (400, 2))
    changed = (broken[:, 0] > 0.5) != (broken[:, 1] > 0.5)
    seen = Seen(["choice"] * 400, changed, broken, np.full(400, 12))
    odds = fit_network(seen).odds(broken, seen.words)
    assert roc_auc_score(changed, odds) > 0.95
