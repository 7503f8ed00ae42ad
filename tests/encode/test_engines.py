"""Which engine runs a model, and what is said where it cannot."""

import sys

import pytest

import movers
from movers.encode import engines
from movers.encode.engines import make_encoder, pick_engine


@pytest.fixture
def _no_gpu(monkeypatch):
    monkeypatch.setattr(engines, "GPU_FILES", ())
    monkeypatch.setattr(sys, "platform", "linux")


@pytest.mark.usefixtures("_no_gpu")
@pytest.mark.parametrize(
    ("model", "device", "dtype", "expected"),
    [
        (None, "auto", "float32", "light"),
        ("all-MiniLM-L6-v2", "cpu", "float32", "light"),
        (None, "cuda", "float32", "torch"),
        (None, "auto", "float16", "torch"),
        ("bert-base-uncased", "cpu", "float32", "torch"),
    ],
)
def test_the_light_engine_is_taken_where_it_can_be(model, device, dtype, expected):
    assert pick_engine(model, device, dtype) == expected


def test_a_gpu_is_asked_for_only_where_there_may_be_one(monkeypatch):
    monkeypatch.setattr(engines, "may_have_gpu", lambda: True)
    monkeypatch.setattr(engines, "pick_device", lambda device: "cuda")
    assert pick_engine(None, "auto", "float32") == "torch"
    monkeypatch.setattr(engines, "pick_device", lambda device: "cpu")
    assert pick_engine(None, "auto", "float32") == "light"


@pytest.mark.parametrize(
    ("choice", "seen"),
    [
        ({"model": "bert-base-uncased"}, "model is 'bert-base-uncased'"),
        ({"device": "cuda"}, "device is 'cuda'"),
        ({"dtype": "float16"}, "dtype is 'float16'"),
    ],
)
def test_what_the_light_engine_cannot_do_is_refused(choice, seen):
    with pytest.raises(movers.InputError, match=f"{seen}; pass engine='torch'"):
        movers.load(engine="light", **choice).encoder  # noqa: B018


def test_no_such_engine():
    with pytest.raises(movers.InputError, match="engine must be one of"):
        movers.load(engine="steam")


def test_no_such_device():
    with pytest.raises(movers.InputError, match=r"device must be 'auto'.*got 'tpu'"):
        make_encoder(None, "tpu", "float32", "light")


def test_without_torch_the_extra_is_named(monkeypatch):
    monkeypatch.setattr(engines, "find_spec", lambda name: None)
    with pytest.raises(movers.DependencyError, match=r"'bert-base-uncased'.*movers\[torch\]"):
        make_encoder("bert-base-uncased", "auto", "float32")


def test_without_onnxruntime_it_is_named(monkeypatch):
    monkeypatch.setattr(engines, "find_spec", lambda name: None)
    with pytest.raises(movers.DependencyError, match="'light' needs onnxruntime"):
        make_encoder(None, "cpu", "float32")
