"""One scorer, many ways to ask: every way gives the same numbers, to the bit."""

import math
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas
import polars
import pyarrow
import pytest

import movers
from movers import distances as distances_file
from movers.encode.encodings import STORES, EncodingCache
from movers.measures.default import DefaultMeasure
from movers.measures.parts.statistics import Statistics
from movers.measures.registry import METHODS
from movers.measures.structural_transport import StructuralTransport
from movers.measures.word_transport import WordTransport
from movers.runtime.notices import UndefinedWarning, UnfittedWarning
from tiny_models import PAIRS, SENTENCES
from tree_parsers import MadeUp

TRANSPORTS = [
    name
    for name, row in METHODS.items()
    if isinstance(row, WordTransport | DefaultMeasure) and row.weights in ("uniform", "norm", "idf")
]
BASES = [name for name in TRANSPORTS if "layers" not in METHODS[name].settings]


def alone(scorer, *arguments, **changes):
    """A scorer that shares no encodings."""
    other = scorer.using(*arguments, **changes)
    other.cache = EncodingCache()
    return other


@pytest.fixture
def spy(bert, monkeypatch):
    """Sentences that go through the model, in order."""
    seen = []
    encoder = bert.encoder
    forward = encoder._forward

    def watched(batch, *rest):
        seen.extend(batch.rows)
        return forward(batch, *rest)

    monkeypatch.setattr(encoder, "_forward", watched)
    return seen


@pytest.mark.parametrize("method", TRANSPORTS)
def test_every_way_of_asking_agrees(bert, method):
    scorer = bert.using(method)
    distances = scorer.distances(PAIRS)
    assert distances.shape == (len(PAIRS),) and np.isfinite(distances).all()
    assert distances.max() > 0 and distances.min() >= 0
    heads = scorer.head_values(PAIRS)
    assert heads.shape == (len(PAIRS), len(scorer.heads) or 1)
    np.testing.assert_allclose(heads.mean(axis=1), distances, rtol=1e-12)
    sources, targets = list(dict.fromkeys(a for a, _ in PAIRS)), SENTENCES[3:]
    matrix = bert.using(method).matrix(sources, targets)
    np.testing.assert_array_equal(matrix.ravel(), distances)
    ranking = bert.using(method).rank(sources[0], targets, top_k=3)
    best = np.argsort(matrix[0], kind="stable")[:3]
    assert [match.index for match in ranking] == best.tolist()
    assert [match.distance for match in ranking] == matrix[0, best].tolist()
    assert ranking[0].text == targets[best[0]] and len(ranking) == 3
    for number in (0, 7, 20):
        found = bert.using(method).compare(*PAIRS[number])
        assert found.distance == distances[number]
        reported = [h.linear if scorer.measure.word_part else h.value for h in found.heads]
        assert reported == (heads[number].tolist() if scorer.heads else [])


@pytest.mark.parametrize("method", ["wmd", "wsmd", "smd"])
def test_numbers_do_not_depend_on_order_company_threads_or_cache(bert, method):
    expected = bert.using(method).head_values(PAIRS)
    order = np.random.default_rng(0).permutation(len(PAIRS))
    scorer = bert.using(method)
    for threads in (1, 2, 4):
        scorer.threads = threads
        np.testing.assert_array_equal(
            scorer.head_values([PAIRS[k] for k in order]), expected[order]
        )
    scorer.distances([("another quick one", "to fill the cache"), PAIRS[3]])
    np.testing.assert_array_equal(scorer.head_values(PAIRS[::-1]), expected[::-1])
    for number in (0, 11):
        alone = bert.using(method).head_values([PAIRS[number]])
        np.testing.assert_array_equal(alone[0], expected[number])


def test_large_batches_are_chunked_without_a_trace(bert, monkeypatch):
    expected = bert.using().head_values(PAIRS)
    monkeypatch.setattr("movers.blocks.CHUNK", 4)
    monkeypatch.setattr("movers.blocks.BLOCK_BYTES", 10)
    np.testing.assert_array_equal(alone(bert).head_values(PAIRS), expected)
    np.testing.assert_array_equal(alone(bert).distances(PAIRS), expected.mean(axis=1))


def test_a_full_cache_is_dropped(bert, monkeypatch):
    expected = bert.using().distances(PAIRS[:6])
    monkeypatch.setattr("movers.encode.encodings.GROWTH_BYTES", 10)
    scorer = alone(bert)
    assert [scorer.distances([pair])[0] for pair in PAIRS[:6]] == expected.tolist()
    (store,) = scorer.cache
    held = [len(block) for block in store.blocks]
    assert set(held) == {2}
    for number in range(3):
        scorer.distances([(f"new pair {number}", f"compare {number}")])
    assert [len(block) for block in store.blocks] == [2, 2, 2, *held]
    store.limit = sum(block.nbytes for block in store.blocks[:2])
    scorer.distances([("last pair", "compared")])
    assert [len(block) for block in store.blocks] == [2, 2, 2]
    store.limit = 10
    scorer.distances([("last of all", "compared")])
    assert [len(block) for block in store.blocks] == [2]


def test_a_corpus_beyond_the_growth_is_encoded_once(bert, spy, monkeypatch):
    monkeypatch.setattr("movers.encode.encodings.GROWTH_BYTES", 10)
    scorer = alone(bert)
    expected = bert.using().matrix(SENTENCES[:2], SENTENCES[2:])
    spy.clear()
    for number, query in enumerate(SENTENCES[:2]):
        ranking = scorer.rank(query, SENTENCES[2:], top_k=None)
        assert sorted(match.distance for match in ranking) == sorted(expected[number])
        scorer.compare("something else", "in between")
    assert len(spy) == len(SENTENCES) + 2


def test_concurrent_use_gives_the_same_numbers(bert):
    expected = bert.using().distances(PAIRS)
    scorer = alone(bert)
    rng = np.random.default_rng(1)
    orders = [rng.permutation(len(PAIRS))[:9] for _ in range(24)]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda order: scorer.distances([PAIRS[k] for k in order]), orders))
    for order, distances in zip(orders, found, strict=True):
        np.testing.assert_array_equal(distances, expected[order])


def test_each_distinct_sentence_is_encoded_once(bert, spy):
    scorer = alone(bert)
    scorer.distances(PAIRS * 2)
    assert len(spy) == len({text for pair in PAIRS for text in pair})
    spy.clear()
    scorer.distances(PAIRS)
    scorer.compare(*PAIRS[0])
    assert spy == []
    scorer.rank("A sentence never seen before", SENTENCES[3:])
    assert len(spy) == 1


def test_measures_made_from_one_scorer_encode_once(bert, spy):
    first = alone(bert, "wmd")
    family = [first, first.using("wsmd"), first.using("smd"), first.using("wrd")]
    for scorer in family:
        scorer.prepare()
    found = [scorer.distances(PAIRS) for scorer in family]
    assert len(spy) == len({text for pair in PAIRS for text in pair})
    assert len(first.cache) == 1
    for scorer, distances in zip(family, found, strict=True):
        np.testing.assert_array_equal(alone(scorer).distances(PAIRS), distances)
    for layers in ("1", "2", "3", "1-2", "2-3"):
        first.using("wsmd", layers=layers).distances(PAIRS)
    assert len(first.cache) == STORES


def test_statistics_of_another_kind_are_refused(bert):
    with pytest.raises(movers.InputError, match=r"'as-coded' was asked for.*call fit"):
        alone(bert, whitening="as-coded").distances(PAIRS)
    bert.distances(PAIRS)
    with pytest.raises(movers.InputError, match=r"'as-coded' was asked for.*call fit"):
        bert.using(whitening="as-coded").distances(PAIRS)  # also if the sentences are known


def test_sentences_can_be_encoded_ahead(bert, spy):
    scorer = alone(bert)
    scorer.prepare([text for pair in PAIRS for text in pair])
    assert spy
    spy.clear()
    for pair in PAIRS[:3]:
        scorer.compare(*pair)
    assert spy == []
    with pytest.raises(movers.InputError, match="expected a string"):
        scorer.prepare([None])


def test_a_string_is_no_list_of_pairs(bert):
    for verb in (bert.distances, bert.similarities, bert.unread_words, bert.align_all):
        with pytest.raises(movers.InputError, match="pairs must be a list of two sentences each"):
            verb("ab")


def test_comparing_what_was_fitted_on_needs_no_forward_pass(bert, spy):
    scorer = alone(bert).fit(SENTENCES)
    assert len(spy) == len(SENTENCES)
    scorer.distances(PAIRS)
    assert len(spy) == len(SENTENCES)


@pytest.mark.parametrize("method", TRANSPORTS)
def test_identical_sentences_are_at_zero(bert, method):
    for text in (SENTENCES[0], SENTENCES[3]):
        found = bert.using(method).compare(text, text)
        assert 0 <= found.distance <= 1e-9
        words = len(found.source_words)
        if METHODS[method].cost:
            for plan in (found.plan, *found.plans):
                assert np.abs(plan - np.diag(plan.diagonal())).max() < 1e-9
            assert np.abs(found.cost.diagonal()).max() < 1e-9
        assert found.plan.shape == (words, words)


@pytest.mark.parametrize("method", TRANSPORTS)
def test_parts_add_up_and_plans_carry_the_weights(bert, method):
    scorer = bert.using(method, mix=0.3)
    found = scorer.compare(*SENTENCES[:2])
    whole = (1 - found.mix) * found.linear + found.mix * found.structural
    whole = found.sentence + found.gate * whole
    if METHODS[method].word_part:
        assert found.distance == pytest.approx(found.linear, rel=1e-12)
    else:
        assert found.distance == pytest.approx(whole, rel=1e-9)
    weights = scorer.weigh([]).weights
    rows = scorer.weigh([]).encodings.rows
    most = 1 / max(found.plan.shape) if METHODS[method].reads_pooled else None
    for plan in (found.plan, *found.plans):
        for axis, sentence in ((1, SENTENCES[0]), (0, SENTENCES[1])):
            if most is not None:  # words without a counterpart stay at home
                assert plan.sum(axis=axis).max() <= most + 1e-9
            else:
                np.testing.assert_allclose(plan.sum(axis=axis), weights[rows[sentence]], atol=1e-9)
        assert plan.min() >= 0
    for head, plan in zip(found.heads, found.plans, strict=False):
        moved = (1 - found.mix) * head.linear + found.mix * head.structural
        assert head.value == pytest.approx(found.sentence + found.gate * moved, rel=1e-9)
        if found.cost.size:
            assert head.linear == pytest.approx((found.cost * plan).sum(), rel=1e-9)


@pytest.mark.parametrize("base", BASES)
def test_mix_runs_from_words_to_structure(bert, base):
    words, structure = bert.using(base), bert.using(f"wsmd-{base}", mix=1.0)
    only_words = bert.using(f"wsmd-{base}", mix=0.0)
    np.testing.assert_allclose(
        only_words.head_values(PAIRS), words.distances(PAIRS)[:, None] + np.zeros(6), rtol=1e-9
    )
    weights = {"uniform": "smd", "idf": "smd-idf", "norm": "smd-norm"}[METHODS[base].weights]
    pure = bert.using(weights).head_values(PAIRS)
    for number in range(0, len(PAIRS), 5):
        heads = structure.compare(*PAIRS[number]).heads
        scaled = [head.scale for head in heads] * pure[number]
        # both are local minima of one problem, up to its scale
        close = np.isclose([head.value for head in heads], scaled, rtol=1e-6)
        assert close.mean() >= 0.5
    both = bert.using(f"lambda-{base}").head_values(PAIRS)
    assert (both >= words.distances(PAIRS)[:, None] - 1e-9).all()


def test_using_shares_the_model_and_the_statistics(bert):
    other = bert.using("wmd", layers="1", stopwords=None)
    assert other.encoder is bert.encoder and other.statistics is bert.statistics
    assert bert.measure.name == "wsmd-wrd" and bert.settings.stopwords is not None
    assert "The" in other.compare(*SENTENCES[:2]).source_words


def test_fit_freezes(tiny):
    scorer = movers.load("wsmd-wmd-idf", tiny("bert")).fit(SENTENCES[:6], origin="six")
    before, signature = scorer.distances(PAIRS[:8]), str(scorer.signature)
    scorer.distances([("wholly new words here", "which change nothing")] * 3)
    np.testing.assert_array_equal(scorer.distances(PAIRS[:8]), before)
    assert str(scorer.signature) == signature and scorer.statistics.origin == "six"
    scorer.fit(SENTENCES)
    assert (scorer.distances(PAIRS[:8]) != before).all()
    assert str(scorer.signature) != signature


@pytest.mark.parametrize("method", ["wsmd", "wrd-idf", "smd-idf", "wsmd-wmd"])
def test_saved_statistics_give_the_same_numbers(bert, tiny, tmp_path, method):
    path = tmp_path / "statistics.safetensors"
    bert.save(path)
    loaded = movers.load(method, tiny("bert"), statistics=path)
    np.testing.assert_array_equal(loaded.distances(PAIRS), bert.using(method).distances(PAIRS))
    assert loaded.signature == bert.using(method).signature


@pytest.mark.parametrize("layers", ["BV", "bv"])
def test_layers_by_variability_need_a_fit(tiny, layers):
    scorer = movers.load("wsmd", tiny("bert"), layers=layers)
    with pytest.raises(movers.InputError, match=r"call fit\(sentences\) first"):
        scorer.distances(PAIRS)
    scorer.fit(SENTENCES)
    chosen = sorted({layer for layer, _ in scorer.heads})
    assert chosen == list(range(chosen[0], 4)) and chosen[0] >= 2
    assert f"layers:{'2-3' if chosen[0] == 2 else '3'}" in str(scorer.signature)
    assert np.isfinite(scorer.distances(PAIRS)).all()


CHANGES = [
    {"method": "wsmd-wmd"},
    {"method": "lambda-wrd"},
    {"embedding": 0},
    {"layers": "1"},
    {"heads": "2"},
    {"mix": 0.25},
    {"mix": 0.5 + 1e-9},
    {"null": 0.5},
    {"recipe": "reference"},
    {"whitening": "none"},
    {"stopwords": None},
    {"stopwords": ["press"]},
    {"subwords": "mean"},
    {"empty": "keep"},
]


@pytest.mark.filterwarnings("ignore::movers.runtime.notices.UnfittedWarning")
@pytest.mark.filterwarnings("ignore::movers.runtime.notices.UndefinedWarning")
def test_the_signature_changes_with_every_number(bert):
    pairs = [("to the", "quick fox"), ("quick zebras jumped", "zebras did not"), *PAIRS]
    signatures, values = {str(bert.signature)}, [bert.using().distances(pairs)]
    for change in CHANGES:
        other = bert.using(**change)
        values.append(other.distances(pairs))
        assert not any(np.array_equal(values[-1], v, equal_nan=True) for v in values[:-1]), change
        assert str(other.signature) not in signatures, change
        signatures.add(str(other.signature))


@pytest.mark.parametrize(
    ("method", "change"),
    [
        ("wsmd", {"empty": "raise"}),
        ("wsmd", {"null": math.inf}),
        ("movers", {"null": 0.5}),
        ("wsmd", {"layers": "1,2-3"}),
        ("wsmd", {"embedding": 3}),
        ("wsmd", {"stopwords": "english"}),
        ("wmd", {"layers": "1"}),
        ("wmd", {"mix": 0.1}),
        ("smd", {"embedding": 0}),
    ],
)
def test_the_signature_stays_when_no_number_changes(bert, method, change):
    one, other = bert.using(method), bert.using(method, **change)
    assert one.signature == other.signature
    np.testing.assert_array_equal(one.distances(PAIRS), other.distances(PAIRS))


EMPTY = [("", "lazy dog"), ("to the", "of an"), SENTENCES[:2], ("quick fox", "...")]


@pytest.mark.parametrize("method", ["wmd", "wsmd", "smd"])
def test_empty_sides_get_nan_with_one_warning(bert, method):
    scorer = bert.using(method)
    with pytest.warns(UndefinedWarning, match="3 of 4 pairs have no distance") as caught:
        found = scorer.distances(EMPTY)
    assert len(caught) == 1 and caught[0].filename == __file__
    assert np.isnan(found).tolist() == [True, True, False, True]
    assert found[2] == scorer.compare(*EMPTY[2]).distance
    with pytest.warns(UndefinedWarning, match="1 of 2"):
        assert scorer.rank("lazy dog", ["", "quick dog"])[0].index == 1


@pytest.mark.parametrize("empty", ["", " \n"])
def test_an_empty_sentence_is_refused_alone_and_has_no_distance_among_others(bert, empty):
    """Under the default measure too, although its model has a vector for no words at all."""
    scorer = bert.using("movers")
    with pytest.raises(movers.InputError, match="the source is empty"):
        scorer.compare(empty, "a dog")
    with pytest.raises(movers.InputError, match="the target is empty"):
        scorer.explain("a dog", empty)
    with pytest.raises(movers.InputError, match="the query is empty"):
        scorer.rank(empty, ["a dog"])
    with pytest.warns(UndefinedWarning, match="2 of 3 pairs"):
        found = scorer.distances([(empty, "a dog"), ("a dog", "!!"), (empty, empty)])
    assert np.isnan(found).tolist() == [True, False, True]
    with pytest.warns(UndefinedWarning, match="1 of 2 pairs"):
        assert [match.text for match in scorer.rank("a dog", [empty, "!!"])] == ["!!", empty]
    assert scorer.using(empty="keep").distances([(empty, "a dog")]) == [math.inf]


@pytest.mark.parametrize(
    ("pair", "side"), [(EMPTY[0], "source"), (EMPTY[1], "source"), (EMPTY[3], "target")]
)
def test_empty_sides_raise_when_asked_or_compared(bert, pair, side):
    message = f"the {side} (is empty|has no words left after stop-word removal)"
    with pytest.raises(movers.InputError, match=message):
        bert.using("wrd").compare(*pair)
    with pytest.raises(movers.InputError, match=message):
        bert.using("wsmd", empty="raise").distances([SENTENCES[:2], pair])


@pytest.mark.parametrize("method", ["wmd", "wsmd", "smd"])
@pytest.mark.parametrize("policy", ["nan", "keep"])
def test_empty_sides_compared_on_request(bert, method, policy):
    scorer = bert.using(method, empty=policy)
    far = scorer.compare("", "lazy dog")
    assert math.isnan(far.distance) if policy == "nan" else far.distance == math.inf
    assert far.plan.shape == (0, 2) and far.source_words == () and far.alignment == ()
    stop = scorer.compare("to the", "lazy dog")
    assert math.isnan(stop.distance) if policy == "nan" else 0 < stop.distance < 100
    assert len(stop.source_words) == (2 if policy == "keep" else 0)
    nothing = scorer.compare("", "")
    assert math.isnan(nothing.distance) if policy == "nan" else nothing.distance == 0
    assert nothing.plan.shape == (0, 0)


@pytest.mark.parametrize("policy", [None, "raise", "nan", "keep"])
def test_structures_of_one_word_each_agree(bert, policy):
    pair = ("a dog", "the fox")
    scorer = bert.using(empty=policy)
    found = scorer.compare(*pair)
    assert found.structural == 0
    assert found.linear == pytest.approx(bert.using("wrd").compare(*pair).distance)
    assert found.distance == pytest.approx(0.5 * found.linear) and found.distance > 0
    assert scorer.distances([pair, PAIRS[0]])[0] == found.distance
    assert bert.using("smd").compare(*pair).distance == 0
    assert bert.using(recipe="reference").compare(*pair).distance > 0


def test_real_pairs_with_words_on_both_sides_have_a_distance(data, embedded):
    lines = (data / "STSB" / "sts-test.csv").read_text("utf-8").splitlines()
    pairs = [line.split("\t")[5:7] for line in lines]
    short = [pair for pair in pairs if all(len(text.split()) < 7 for text in pair)]
    words = embedded.weigh([text for pair in short for text in pair]).encodings
    counts = np.array([words.counts[words.numbers(pair)] for pair in short])
    assert (counts == 1).all(axis=1).any()
    with pytest.warns(UndefinedWarning, match="for one side has no words left"):
        undefined = np.isnan(embedded.distances(short))
    np.testing.assert_array_equal(undefined, (counts == 0).any(axis=1))


def test_an_unwhitened_model_warns_exactly_once(tiny):
    scorer = movers.load("wsmd", tiny("bert"))
    with pytest.warns(
        UnfittedWarning, match=r"layer 3 .*try both .*call fit\(sentences\)"
    ) as caught:
        scorer.distances(PAIRS[:3])
    assert len(caught) == 1
    # from here on a warning would be an error
    silent = movers.load("wsmd", tiny("bert"), whitening="none")
    np.testing.assert_array_equal(silent.distances(PAIRS), scorer.distances(PAIRS))
    assert scorer.using("wmd").compare(*PAIRS[0]).distance > 0


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"layers": "4"}, "layer 4 is out of range; the model has layers 1 to 3"),
        ({"heads": "3"}, "head 3 is out of range; the model has heads 1 to 2"),
        ({"embedding": 4}, r"embedding layer 4 is out of range; .* has 0 \(input\) to 3"),
        ({"embedding": -5}, "embedding layer -5 is out of range"),
    ],
)
def test_settings_the_model_does_not_have(bert, settings, message):
    with pytest.raises(movers.InputError, match=message):
        bert.using(**settings).distances(PAIRS)


def test_negative_embeddings_count_from_the_end(bert):
    assert [bert.using(embedding=layer).embedding for layer in (-1, -4, 0, 3)] == [3, 0, 0, 3]


@pytest.mark.parametrize("make", [pandas.DataFrame, polars.DataFrame, pyarrow.table])
def test_frames_with_two_columns_are_pairs(bert, make):
    sources, targets = map(list, zip(*PAIRS, strict=True))
    frame = make({"a": sources, "b": targets})
    np.testing.assert_array_equal(bert.distances(frame), bert.distances(PAIRS))


def test_nothing_in_nothing_out(bert):
    assert bert.using().distances([]).shape == (0,)
    assert bert.using().head_values([]).shape == (0, 6)
    assert bert.using().matrix([]).shape == (0, 0)
    assert bert.using().matrix(["dog"], []).shape == (1, 0)
    assert len(bert.using().rank("lazy dog", [])) == 0


def test_a_matrix_of_one_list_is_symmetric(bert):
    full = bert.using("wmd").matrix(SENTENCES)
    assert (full == full.T).all() and (full.diagonal() < 1e-9).all()
    np.testing.assert_allclose(full, bert.using("wmd").matrix(SENTENCES, SENTENCES), atol=1e-9)


@pytest.mark.parametrize("method", ["wsmd", "opwd", "bertscore-precision"])
def test_a_matrix_is_the_same_in_blocks(bert, method, monkeypatch):
    scorer = bert.using(method)
    both, own = scorer.matrix(SENTENCES[:7], SENTENCES[2:]), scorer.matrix(SENTENCES)
    pairs = [(a, b) for a in SENTENCES for b in SENTENCES]
    np.testing.assert_allclose(own.ravel(), scorer.distances(pairs), rtol=1e-9, atol=1e-9)
    monkeypatch.setattr("movers.blocks.CHUNK", 3)
    monkeypatch.setattr("movers.blocks.BLOCK_BYTES", 10)
    monkeypatch.setattr("movers.encode.encodings.GROWTH_BYTES", 10)
    monkeypatch.setattr("movers.encode.encodings.KEEP_BYTES", 10)
    blocked = alone(scorer)
    np.testing.assert_array_equal(blocked.matrix(SENTENCES[:7], SENTENCES[2:]), both)
    assert len(blocked.cache[0].blocks[0]) <= 6
    np.testing.assert_array_equal(blocked.matrix(SENTENCES), own)


def test_only_the_mean_over_heads_is_held(bert, monkeypatch):
    rooms = []
    monkeypatch.setattr("movers.blocks.CHUNK", 5)
    values = StructuralTransport.head_values

    def counted(measure, sentences, rows):
        rooms.append(len(rows))
        return values(measure, sentences, rows)

    monkeypatch.setattr(StructuralTransport, "head_values", counted)
    bert.using().distances(PAIRS)
    bert.using().matrix(SENTENCES)
    assert rooms and max(rooms) <= 5


def test_rank_checks_and_breaks_ties_in_corpus_order(bert):
    for top_k in (0, -1):
        with pytest.raises(movers.InputError, match="top_k must be at least 1"):
            bert.rank("lazy dog", SENTENCES, top_k=top_k)
    ranking = bert.rank(SENTENCES[0], [SENTENCES[4], SENTENCES[0], SENTENCES[0]], top_k=None)
    assert [match.index for match in ranking] == [1, 2, 0]


def test_progress_goes_to_standard_error(bert, capsys, monkeypatch):
    monkeypatch.setattr("movers.runtime.progress.LINE_SECONDS", 0.0)
    alone(bert).distances(PAIRS, progress=True)
    captured = capsys.readouterr()
    assert captured.out == "" and "encoding" in captured.err and "comparing" in captured.err


def test_a_scorer_can_be_pickled_and_prints_its_signature(bert):
    copy = pickle.loads(pickle.dumps(bert))
    np.testing.assert_array_equal(copy.distances(PAIRS[:4]), bert.distances(PAIRS[:4]))
    assert repr(copy) == f"Scorer({bert.signature})"
    assert repr(movers.load("wmd", "no/such-model")) == "Scorer(wmd, model not loaded yet)"
    assert copy.cache[0].blocks[0] is not bert.cache[0].blocks[0]


def test_scorers_pickled_together_encode_together(bert):
    first, second = pickle.loads(pickle.dumps([bert, bert.using("wmd")]))
    first.distances(PAIRS[:4])
    assert second.cache is first.cache and len(second.cache) == 1


def test_preparing_tells_what_whitening_is_missing(tiny):
    with pytest.warns(UnfittedWarning, match="no whitening statistics"):
        movers.load("wmd", tiny("bert")).prepare()


def test_what_ships_with_a_model_is_read_by_measures_that_look_at_it(monkeypatch):
    asked = []

    def shipped(fingerprint):
        asked.append(fingerprint)
        return Statistics(fingerprint)

    monkeypatch.setattr(distances_file, "statistics_of_model", shipped)
    scorer = movers.load()
    scorer.distances(PAIRS[:3])
    assert not asked
    with pytest.warns(UnfittedWarning):
        scorer.using("wmd").distances(PAIRS[:3])
    assert set(asked) == {scorer.encoder.fingerprint}


def test_a_new_fit_replaces_the_weights_of_the_last(bert):
    scorer = alone(bert, "smd-idf", whitening="none", layers="BV")
    scorer.fit([*SENTENCES, *SENTENCES[:1] * 30])
    before = scorer.distances(PAIRS)
    after = scorer.fit([*SENTENCES, *SENTENCES[2:3] * 30]).distances(PAIRS)
    fresh = alone(bert, "smd-idf", whitening="none", layers="BV", statistics=scorer.statistics)
    assert (before != after).any()
    np.testing.assert_array_equal(fresh.distances(PAIRS), after)


THREADED = [
    # sums and products alone need no threads; trees as weights would need a fit of their own
    name
    for name, row in METHODS.items()
    if row.name not in ("sif", "usif") and row.weights != "swf"
]


@pytest.mark.parametrize("method", THREADED)
def test_every_measure_obeys_the_number_of_threads(bert, method, monkeypatch):
    asked = []

    class Spy(ThreadPoolExecutor):
        def __init__(self, workers):
            asked.append(workers)
            super().__init__(workers)

    monkeypatch.setattr("movers.runtime.threads.ThreadPoolExecutor", Spy)
    monkeypatch.setattr("movers.runtime.threads.WORTH_A_THREAD", 1.0)
    monkeypatch.setattr("movers.runtime.threads.available_threads", lambda: 4)
    parser = MadeUp() if "parser" in METHODS[method].settings else None
    bert.using(method, threads=1, parser=parser).distances(PAIRS)
    assert not asked
    bert.using(method, threads=3, parser=parser).distances(PAIRS)
    assert set(asked) <= {2, 3}
