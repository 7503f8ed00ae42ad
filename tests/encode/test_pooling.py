"""Vectors of whole sentences: pooled as the model was trained to be, and what chance is."""

import json
import shutil

import numpy as np
import pytest
import torch

import movers
from movers.encode.collect import POOLINGS
from movers.encode.device_collect import DEVICE_POOLINGS
from movers.encode.encodings import Request
from movers.encode.pooling import CONFIG, mean_distance, pooling_of, unrelated_sentences
from movers.encode.transformer import TransformerEncoder
from movers.measures.default import calibrate
from tiny_models import SENTENCES

CONFIGS = [
    ({"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}, "cls"),
    ({"pooling_mode_cls_token": False, "pooling_mode_mean_tokens": True}, "mean"),
    ({"pooling_mode_max_tokens": True}, "max"),
    ({"pooling_mode_lasttoken": True}, "lasttoken"),
    ({"pooling_mode": "cls"}, "cls"),
    ({"pooling_mode_mean_sqrt_len_tokens": True}, "mean"),
    ({}, "mean"),
]


@pytest.fixture
def pooled_model(tiny, tmp_path):
    """A function that gives a tiny model folder a pooling configuration."""

    def folder(config):
        path = tmp_path / "model"
        shutil.copytree(tiny("bert"), path)
        (path / CONFIG).parent.mkdir()
        (path / CONFIG).write_text(json.dumps(config), "utf-8")
        return path

    return folder


@pytest.mark.parametrize(("config", "expected"), CONFIGS)
def test_the_files_of_a_model_name_its_pooling(pooled_model, config, expected):
    assert pooling_of(pooled_model(config)) == expected


def test_models_without_such_a_file_take_the_mean(tiny):
    assert pooling_of(tiny("bert")) == "mean"
    assert pooling_of("no/such-model") == "mean"


@pytest.mark.parametrize(("config", "pick"), [(CONFIGS[0][0], "cls"), (CONFIGS[1][0], "mean")])
def test_sentences_are_pooled_over_all_tokens_of_the_last_layer(pooled_model, config, pick):
    encoder = TransformerEncoder(pooled_model(config))
    found = encoder.encode(list(SENTENCES), Request(pooled=True)).pooled
    expected = {"cls": lambda rows: rows[0], "mean": lambda rows: rows.mean(axis=0)}[pick]
    for vector, states in zip(found, encoder.states(SENTENCES, encoder.layers), strict=True):
        np.testing.assert_allclose(vector, expected(states), rtol=1e-4, atol=1e-6)


POOLED = {"mean": [3, 3], "cls": [1, 5], "max": [6, 5], "lasttoken": [6, 1]}
STATES = [[1.0, 5.0], [2.0, 3.0], [6.0, 1.0], [9.0, 9.0]]


def test_poolings_differ():
    states = np.array(STATES, np.float32)
    found = {name: pool(states, np.array([0]), np.array([3]))[0] for name, pool in POOLINGS.items()}
    assert {name: vector.tolist() for name, vector in found.items()} == POOLED


def test_poolings_of_a_device_are_the_same():
    states, genuine = torch.tensor([STATES]), torch.tensor([[True, True, True, False]])
    found = {name: pool(states, genuine)[0].tolist() for name, pool in DEVICE_POOLINGS.items()}
    assert found == POOLED and [*found] == [*POOLINGS]


def test_chance_is_the_mean_over_all_pairs_of_the_sentences_at_hand():
    vectors = np.random.default_rng(0).normal(size=(6, 4)).astype(np.float32)
    units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    pairs = [1 - units[i] @ units[j] for i in range(6) for j in range(i)]
    assert mean_distance(vectors) == pytest.approx(np.mean(pairs), abs=1e-6)


def test_chance_of_the_embedded_model():
    encoder = movers.load("movers").encoder
    pooled = encoder.encode(unrelated_sentences(), Request(pooled=True)).pooled
    chance = calibrate(encoder).chance
    assert chance == pytest.approx(mean_distance(pooled), abs=1e-4)
    assert 0.9 < chance < 1.0
    assert len(set(unrelated_sentences())) == 64
