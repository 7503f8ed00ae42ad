import gc

import pytest

import movers
from movers.encode import store
from movers.encode.encodings import Encodings
from movers.errors import InputError
from movers.scorer import STORES
from movers.web.answers import Answers
from movers.web.failures import UnknownModelError
from movers.web.models import Models, Setup
from tiny_models import SENTENCES

pytestmark = pytest.mark.filterwarnings("ignore::movers.notices.UnwhitenedWarning")


def living_encodings():
    gc.collect()
    return [found for found in gc.get_objects() if type(found) is Encodings]


def test_endless_new_sentences_and_settings_keep_memory_flat(tiny, monkeypatch):
    bound = 200_000
    monkeypatch.setattr(store, "GROWTH_BYTES", bound)
    models = Models({"tiny": movers.load("wsmd", tiny("bert"))})
    answers = Answers(max_words=50)
    before = living_encodings()
    for number in range(120):
        options = {"recipe": ("paper", "reference")[number % 2], "layers": 1 + number % 3 % 2}
        options |= {"subwords": ("first", "mean")[number // 2 % 2], "mix": number / 120}
        setup = models.setup(None, ("wmd", "wsmd", "smd")[number % 3], tuple(options.items()))
        pairs = [(f"{text} {number} dogs", f"dogs {number} {text}") for text in SENTENCES[:4]]
        assert len(answers.distances(models.scorer(setup), pairs)) == 4
    alive = [one for one in living_encodings() if not any(one is old for old in before)]
    assert 0 < len(alive) <= 2 * STORES
    assert all(one.nbytes < 2 * bound for one in alive)


def test_statistics_find_their_model_by_its_weights(tiny, bert, tmp_path):
    path = tmp_path / "fitted.safetensors"
    bert.save(path)
    models = Models.load([str(tiny("distilbert")), str(tiny("bert"))], statistics=[path])
    assert list(models.scorers) == ["distilbert", "bert"]
    setup = models.setup("bert", "wmd", ())
    pair = SENTENCES[:2]
    assert models.scorer(setup).compare(*pair).distance == bert.using("wmd").compare(*pair).distance
    assert models.scorers["distilbert"].statistics.fingerprint != bert.statistics.fingerprint
    with pytest.raises(InputError, match="no model served has the weights"):
        Models.load([str(tiny("distilbert"))], statistics=[path])


def test_folders_of_the_same_name_are_refused(tiny):
    with pytest.raises(InputError, match="two models are called 'bert'"):
        Models.load([str(tiny("bert"))] * 2)


def test_a_setup_names_what_is_served(bert):
    models = Models({"tiny": bert})
    assert models.setup(None, "wsmd", ()) == Setup("tiny", "wsmd-wrd", ())
    with pytest.raises(UnknownModelError, match="this server has: tiny"):
        models.setup(str(bert.encoder.folder), "wsmd", ())


def test_heads_of_many_layers_weigh_more(bert):
    models = Models({"tiny": bert})
    layers = bert.encoder.layers

    def weight(method, **options):
        every = options.pop("every_head", False)
        setup = models.setup(None, method, tuple(options.items()))
        return models.weight(setup, every_head=every)

    assert weight("wsmd") == weight("wsmd", layers=2) == weight("wsmd", layers="2") == 1
    assert weight("wsmd", layers="all") == weight("wsmd", every_head=True) == layers
    assert weight("wmd", layers="all") == weight("wmd", every_head=True) == 1
