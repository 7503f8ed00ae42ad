import gc

import pytest
from starlette.exceptions import HTTPException

import movers
from movers.encode import encodings
from movers.encode.encodings import STORES, Encodings
from movers.errors import InputError
from movers.web.answers import answer_pairs, distances
from movers.web.models import Models, Setup
from tiny_models import PAIRS, SENTENCES

PAIR = ("word " * 20, "word " * 20)

pytestmark = pytest.mark.filterwarnings("ignore::movers.runtime.notices.UnfittedWarning")


def living_encodings():
    gc.collect()
    return [found for found in gc.get_objects() if type(found) is Encodings]


def test_endless_new_sentences_and_settings_keep_memory_flat(tiny, monkeypatch):
    bound = 200_000
    monkeypatch.setattr(encodings, "GROWTH_BYTES", bound)
    monkeypatch.setattr(encodings, "KEEP_BYTES", bound)
    models = Models({"tiny": movers.load("wsmd", tiny("bert"))})
    before = living_encodings()
    for number in range(120):
        options = {"recipe": ("paper", "reference")[number % 2], "layers": 1 + number % 3 % 2}
        options |= {"subwords": ("first", "mean")[number // 2 % 2], "mix": number / 120}
        method = ("wmd", "wsmd", "smd")[number % 3]
        setup = models.setup(None, method, tuple(options.items()), distances)
        pairs = [(f"{text} {number} dogs", f"dogs {number} {text}") for text in SENTENCES[:4]]
        assert len(answer_pairs(models, 50, setup, pairs)) == 4
    alive = [one for one in living_encodings() if not any(one is old for old in before)]
    assert all(one.nbytes < 2 * bound for one in alive)
    assert 0 < sum(one.nbytes for one in alive) <= 3 * bound * STORES


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
    with pytest.raises(HTTPException, match="this server has: tiny"):
        models.setup(str(bert.encoder.folder), "wsmd", ())


def effort(
    models, pair, method="wsmd", *, most_words=200, plans=False, every_head=False, **options
):
    """What one pair takes."""
    setup = models.setup(None, method, tuple(options.items()))
    more = {"most_words": most_words, "plans": plans, "every_head": every_head}
    (seconds,) = models.efforts(setup, [pair], **more)
    return seconds


def test_effort_goes_by_the_heads_that_are_solved(bert):
    models = Models({"tiny": bert})
    layers, heads = bert.encoder.layers, bert.encoder.heads

    def solved(method, **choice):
        one, two = (effort(models, PAIR, layers=1, heads=heads) for heads in ("1", "1-2"))
        return round((effort(models, PAIR, method, **choice) - one) / (two - one)) + 1

    assert solved("wsmd", layers=2) == solved("wsmd", layers="2") == heads
    assert solved("wsmd", layers=2, heads="1") == 1
    assert solved("wsmd", layers="all") == layers * heads
    assert solved("wsmd", layers=2, every_head=True) == layers * heads
    assert solved("wmd", layers="all") == solved("wmd", every_head=True) == 1


def test_models_set_apart_share_weights_but_nothing_that_changes(bert):
    models = Models({"tiny": bert})
    other = models.apart().scorers["tiny"]
    assert other.encoder.model is bert.encoder.model
    assert other.encoder.tokenizer is not bert.encoder.tokenizer
    assert other.cache is not bert.cache
    assert other.signature == bert.signature
    assert (other.distances(PAIRS) == bert.distances(PAIRS)).all()


@pytest.fixture(scope="module")
def embedded():
    return Models({"mini": movers.load()})


@pytest.mark.parametrize(
    ("more", "pair"),
    [
        ({}, ("word " * 40, "word " * 20)),
        ({"layers": "all"}, PAIR),
        ({"plans": True}, PAIR),
        ({}, ("字" * 60, "字" * 60)),
    ],
)
def test_more_of_anything_is_more_effort(embedded, more, pair):
    assert effort(embedded, pair, **{"layers": 1, **more}) > effort(embedded, PAIR, layers=1)


def test_a_larger_model_is_more_effort(embedded, models):
    assert effort(embedded, PAIR, "wmd") > 1.5 * effort(models, PAIR, "wmd")


def test_what_is_cut_or_refused_takes_none(embedded):
    cut, longer = (effort(embedded, ("word " * count, "a")) for count in (200, 2000))
    assert cut == longer


def test_texts_that_are_compared_by_sentences_are_not_cut(embedded):
    assert effort(embedded, PAIR, "movers") == effort(embedded, PAIR, "movers", texts="whole")
    quick, long = (
        effort(embedded, ("word " * count,) * 2, "movers", most_words=100)
        for count in (150, 20_000)
    )
    assert long > 100 * quick


@pytest.mark.parametrize(("texts", "grows"), [("auto", True), ("whole", False)])
def test_long_texts_take_effort_under_measures_that_compare_them(models, texts, grows):
    setup = models.setup(None, "movers", (("texts", texts),))
    (effort,) = models.efforts(setup, [("word " * 9000, "word " * 9000)], most_words=200)
    assert (effort > 5) is grows


def test_a_text_of_many_pairs_is_read_once(models, monkeypatch):
    monkeypatch.setattr("movers.web.models.SMALL", 1)  # reading is most of the work
    pairs = [("word " * 150, "a dog", mix) for mix in range(9)]
    setup = models.setup(None, "movers", ())
    first, *others = models.efforts(setup, pairs, most_words=200)
    (alone,) = models.efforts(setup, pairs[:1], most_words=200)
    assert first == alone and max(others) < first / 2


def test_long_explanations_are_worth_hundreds_of_short_comparisons(embedded):
    short = effort(embedded, ("a dog", "a cat"), plans=True)
    long = effort(embedded, ("word " * 150, "word " * 150), plans=True, every_head=True)
    assert long > 100 * short
