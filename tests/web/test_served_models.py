import gc

import pytest
from starlette.exceptions import HTTPException

import movers
from movers.encode import encoding_cache
from movers.encode.encoding_cache import STORES
from movers.encode.encodings import Encodings
from movers.errors import InputError
from movers.web.answers import Answers
from movers.web.models import Effort, Models, Setup
from movers.web.queues import QUICK
from tiny_models import PAIRS, SENTENCES

LIGHT = Effort(size=1, heads=12, plans=False, most=200)
PAIR = ("word " * 20, "word " * 20)

pytestmark = pytest.mark.filterwarnings("ignore::movers.runtime.notices.UnwhitenedWarning")


def living_encodings():
    gc.collect()
    return [found for found in gc.get_objects() if type(found) is Encodings]


def test_endless_new_sentences_and_settings_keep_memory_flat(tiny, monkeypatch):
    bound = 200_000
    monkeypatch.setattr(encoding_cache, "GROWTH_BYTES", bound)
    monkeypatch.setattr(encoding_cache, "KEEP_BYTES", bound)
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


def test_effort_goes_by_the_heads_that_are_solved(bert):
    models = Models({"tiny": bert})
    layers, heads = bert.encoder.layers, bert.encoder.heads

    def solved(method, *, every_head=False, **options):
        setup = models.setup(None, method, tuple(options.items()))
        return models.effort(setup, plans=False, every_head=every_head, most_words=200).heads

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


@pytest.mark.parametrize(
    ("effort", "pair"),
    [
        (LIGHT, ("word " * 40, "word " * 20)),
        (Effort(1, 72, False, 200), PAIR),
        (Effort(1, 12, True, 200), PAIR),
        (Effort(2, 12, False, 200), PAIR),
        (LIGHT, ("字" * 60, "字" * 60)),
    ],
)
def test_more_of_anything_is_more_effort(effort, pair):
    assert effort.of(*pair) > LIGHT.of(*PAIR)


def test_what_is_cut_or_refused_takes_none():
    assert LIGHT.of("word " * 200, "a") == LIGHT.of("word " * 2000, "a")


def test_texts_that_are_compared_by_sentences_are_not_cut():
    by_sentences = Effort(1, 1, False, 200, by_sentences=True)
    assert by_sentences.of(*PAIR) == Effort(1, 1, False, 200).of(*PAIR)
    quick = by_sentences.of("word " * 200, "word " * 200)
    assert by_sentences.of("word " * 20_000, "word " * 20_000) > 100 * quick > QUICK


@pytest.mark.parametrize(("texts", "grows"), [("auto", True), ("whole", False)])
def test_long_texts_take_effort_under_measures_that_compare_them(models, texts, grows):
    setup = models.setup(None, "movers", (("texts", texts),))
    effort = models.effort(setup, most_words=200)
    assert (effort.of("word " * 9000, "word " * 9000) > 5) is grows


def test_a_text_of_many_pairs_is_read_once():
    pairs = [("word " * 150, "a dog", mix) for mix in range(9)]
    first, *others = LIGHT.of_all(pairs)
    assert first == LIGHT.of(*pairs[0][:2]) and max(others) < first / 2


def test_long_explanations_are_worth_hundreds_of_short_comparisons():
    short = Effort(1, 12, True, 200).of("a dog", "a cat")
    assert Effort(1, 72, True, 200).of("word " * 150, "word " * 150) > 100 * short
