"""Models that cannot be used say why, at once."""

import json
import shutil

import pytest
from huggingface_hub import HfApi
from huggingface_hub.errors import HfHubHTTPError
from transformers import AutoTokenizer

import movers
from movers.encode import models
from movers.encode.transformer import TransformerEncoder


@pytest.fixture
def folder(tiny, tmp_path):
    return shutil.copytree(tiny("bert"), tmp_path / "model")


def no_weights(folder):
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")


def no_tokenizer(folder):
    for path in folder.glob("tokenizer*"):
        path.unlink()


def no_config(folder):
    (folder / "config.json").unlink()


def damaged_weights(folder):
    (folder / "model.safetensors").write_bytes(b"\x10" * 50)


def cut_weights(folder):
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-1000])


def damaged_tokenizer(folder):
    (folder / "tokenizer.json").write_text("{", "utf-8")


def foreign_config(folder):
    path = folder / "config.json"
    config = json.loads(path.read_text("utf-8"))
    path.write_text(json.dumps({**config, "hidden_size": 64}), "utf-8")


@pytest.mark.parametrize(
    "damage",
    [
        no_weights,
        no_tokenizer,
        no_config,
        damaged_weights,
        cut_weights,
        damaged_tokenizer,
        foreign_config,
    ],
)
def test_a_damaged_folder_is_a_model_error(folder, damage):
    damage(folder)
    with pytest.raises(movers.ModelError, match=r"model.*safetensors"):
        TransformerEncoder(str(folder))


def test_a_missing_folder_or_name_is_a_model_error(tmp_path):
    with pytest.raises(movers.ModelError, match="does not exist"):
        TransformerEncoder(tmp_path / "nothing")
    for name in ("no-such/model-anywhere", str(tmp_path / "nothing"), "not a name!"):
        with pytest.raises(movers.ModelError, match="cannot load model"):
            TransformerEncoder(name)


@pytest.mark.parametrize(
    ("answer", "local"),
    [
        (ConnectionError("nobody there"), True),
        (HfHubHTTPError.__new__(HfHubHTTPError, "not found"), False),
        (None, False),
    ],
)
def test_a_hub_that_does_not_answer_is_asked_once(monkeypatch, answer, local):
    asked = []

    def model_info(api, name, **options):
        asked.append(name)
        if answer is not None:
            raise answer

    def from_pretrained(name, **options):
        asked.append(options["local_files_only"])
        raise OSError("not found")

    monkeypatch.setattr(HfApi, "model_info", model_info)
    monkeypatch.setattr(AutoTokenizer, "from_pretrained", from_pretrained)
    with pytest.raises(movers.ModelError, match="cannot load model 'no/such': not found"):
        models.load_pretrained("no/such", "cpu", "float32")
    assert asked == ["no/such", local]


def test_the_embedded_model_is_the_published_one(embedded, monkeypatch):
    assert embedded.encoder.name == "all-MiniLM-L6-v2"
    assert embedded.encoder.describe()["layers"] == 6
    monkeypatch.setattr(models, "digest", lambda folder: "0" * 64)
    with pytest.raises(movers.ModelError, match="sha256"):
        TransformerEncoder()


def test_the_fingerprint_pins_the_weights(tiny):
    names = ("bert", "roberta")
    first, second = (TransformerEncoder(tiny(name)).fingerprint for name in names)
    assert first != second
    assert first == TransformerEncoder(str(tiny("bert"))).fingerprint
    assert len(first) == 8
