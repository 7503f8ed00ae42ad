"""`load` is lazy, and models are loaded once."""

import gc
import shutil

import pytest

import movers
from movers.errors import ModelError
from movers.loading import describe_model, load_encoder


def test_nothing_is_loaded_before_it_is_needed(tmp_path):
    scorer = movers.load("wsmd", tmp_path / "nothing")
    assert scorer.settings.measure.name == "wsmd-wrd"
    with pytest.raises(movers.ModelError):
        scorer.compare("quick fox", "lazy dog")


def test_scorers_share_a_model(tiny):
    assert movers.load("wmd", tiny("bert")).encoder is movers.load("smd", tiny("bert")).encoder
    assert load_encoder(tiny("bert")) is movers.load(model=tiny("bert")).encoder


def test_default_layers(embedded, bert):
    assert {layer for layer, _ in embedded.heads} == {2}
    assert len(embedded.heads) == 12
    assert {layer for layer, _ in bert.heads} == {1, 2, 3}


def test_models_are_described(tiny):
    facts = describe_model(tiny("bert"))
    assert (facts["layers"], facts["heads"], facts["dimension"]) == (3, 2, 16)
    assert facts["default_layers"] == "all" and facts["statistics"] is None


def test_a_folder_named_like_the_embedded_model_is_itself(tiny, tmp_path, monkeypatch):
    """Only the bare name means the embedded model."""
    folder = shutil.copytree(tiny("bert"), tmp_path / "all-MiniLM-L6-v2")
    assert load_encoder(folder).dimension == 16


@pytest.mark.parametrize("collecting", [True, False])
def test_loading_leaves_the_collection_of_garbage_as_it_was(tmp_path, collecting):
    try:
        (gc.enable if collecting else gc.disable)()
        with pytest.raises(ModelError, match="nowhere"):
            load_encoder(tmp_path / "nowhere")
        assert gc.isenabled() is collecting
    finally:
        gc.enable()
