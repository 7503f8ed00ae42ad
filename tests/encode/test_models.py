"""Models that cannot be used say why, at once."""

import json
import shutil

import pytest
import transformers
from huggingface_hub import HfApi
from huggingface_hub.errors import HfHubHTTPError
from transformers import AutoTokenizer

import movers
from movers.encode import models
from movers.encode.transformer import TransformerEncoder
from movers.loading import load_encoder


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


def test_the_embedded_weights_are_known_wherever_they_lie(tmp_path):
    pair = ("the press greets the president", "the president greets the press")
    shutil.copytree(models.embedded_folder(), tmp_path / "copy")
    expected = movers.load("wsmd", engine="torch").compare(*pair)
    encoder = load_encoder(engine="torch")
    encoder.model.save_pretrained(tmp_path / "saved", state_dict=without_pooler(encoder.model))
    encoder.tokenizer.save_pretrained(tmp_path / "saved")
    assert models.digest(tmp_path / "saved") != models.EMBEDDED_SHA256
    for folder in ("copy", "saved"):
        scorer = movers.load("wsmd", tmp_path / folder)
        assert scorer.compare(*pair).distance == expected.distance
        assert {layer for layer, _ in scorer.heads} == {2}
        assert f"{folder}@{models.EMBEDDED_FINGERPRINT}" in str(scorer.signature)


def test_a_folder_with_the_name_of_a_model_is_not_that_model(tiny, tmp_path, monkeypatch):
    shutil.copytree(tiny("bert"), tmp_path / "bert-base-uncased")
    monkeypatch.chdir(tmp_path)
    encoder = TransformerEncoder("bert-base-uncased")
    assert encoder.default_layers == "all"
    assert models.recommended_layers("no such", "bert-base-uncased") == "8"


def test_only_weights_of_the_right_size_are_hashed(tiny, monkeypatch):
    monkeypatch.setattr(models, "weights_digest", lambda model: pytest.fail("hashed"))
    assert len(TransformerEncoder(tiny("bert")).fingerprint) == 8


def without_pooler(model):
    return {name: tensor for name, tensor in model.state_dict().items() if "pooler" not in name}


def test_a_model_without_pooler_loads_in_silence(tiny, tmp_path, capfd, caplog):
    encoder = TransformerEncoder(tiny("bert"))
    encoder.model.save_pretrained(tmp_path, state_dict=without_pooler(encoder.model))
    encoder.tokenizer.save_pretrained(tmp_path)
    capfd.readouterr()
    # where its own handler writes was settled when transformers was imported
    transformers.logging.add_handler(caplog.handler)
    verbosity = transformers.logging.get_verbosity()
    try:
        TransformerEncoder(tmp_path)
    finally:
        transformers.logging.remove_handler(caplog.handler)
    captured = capfd.readouterr()
    assert captured.out == captured.err == caplog.text == ""
    assert transformers.logging.get_verbosity() == verbosity


def test_weights_that_lack_more_than_the_pooler_are_refused(tiny, tmp_path):
    encoder = TransformerEncoder(tiny("bert"))
    weights = encoder.model.state_dict()
    cut = {name: tensor for name, tensor in weights.items() if "layer.1.output" not in name}
    encoder.model.save_pretrained(tmp_path, state_dict=cut)
    encoder.tokenizer.save_pretrained(tmp_path)
    with pytest.raises(movers.ModelError, match=r"lack 4 parameters of a BertModel .*layer\.1"):
        TransformerEncoder(tmp_path)


def test_the_fingerprint_pins_the_weights(tiny):
    names = ("bert", "roberta")
    first, second = (TransformerEncoder(tiny(name)).fingerprint for name in names)
    assert first != second
    assert first == TransformerEncoder(str(tiny("bert"))).fingerprint
    assert len(first) == 8
