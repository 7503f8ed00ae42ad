"""Benchmarks: the values of the scorers themselves, whatever the chunks."""

import numpy as np
import pytest

import movers
from labelled import dataset
from movers.errors import InputError
from movers.evaluate.metrics import score
from movers.measures.parts.structure import attention_variability
from movers.measures.registry import METHODS
from movers_research import benchmark as benchmark_file
from movers_research.benchmark import Benchmark, measure_variability, problem_of
from movers_research.evaluation import head_scores
from movers_research.runs import open_run, read_facts
from movers_research.scores import Column, MeasureGrid
from tiny_models import PAIRS, SENTENCES
from tree_parsers import MadeUp

EVERY = MeasureGrid(tuple(METHODS), ("paper", "reference"), (0, 3))


@pytest.fixture(scope="module")
def base(tiny):
    return movers.load("wsmd", tiny("bert"), parser=MadeUp())


@pytest.fixture(scope="module")
def done(base, tmp_path_factory):
    """Every measure on some pairs, in chunks of 16."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(benchmark_file, "CHUNK_PAIRS", 16)
        run = open_run(tmp_path_factory.mktemp("runs") / "run", {})
        benchmark = Benchmark(base, dataset(), EVERY.columns("made-up", 3), run)
        benchmark.run()
        assert len(benchmark.chunks) == 3
    return benchmark


def test_versions_of_a_word_measure_share_what_is_solved():
    for base in ("wmd", "wmd-idf", "wrd", "wrd-idf"):
        names = f"wsmd-{base}", f"lambda-{base}", base
        both, words, alone = (problem_of(METHODS[name]) for name in names)
        assert both == words != alone


def test_a_grid_has_every_combination_once():
    grid = MeasureGrid(("wmd", "wsmd-wmd", "bow", "cls", "wsmd"), ("paper",), (0, 6), (0.3, 0.5))
    columns = grid.columns("d", 6)
    assert [(c.method, c.embedding, c.mix) for c in columns] == [
        ("wmd", 0, None),
        ("wmd", 6, None),
        *(("wsmd-wmd", layer, mix) for layer in (0, 6) for mix in (0.3, 0.5)),
        ("bow", 6, None),
        ("cls", 6, None),
        *(("wsmd-wrd", layer, mix) for layer in (0, 6) for mix in (0.3, 0.5)),
    ]


@pytest.mark.parametrize("recipe", ["paper", "reference"])
@pytest.mark.parametrize(
    "method", ["wmd", "wrd-idf", "wsmd-wrd", "lambda-synwmd", "smd", "sif", "bertscore-idf", "cls"]
)
def test_values_are_those_of_a_scorer_fitted_on_the_data_set(base, done, method, recipe):
    embedding = 3 if method in ("smd", "cls") else 0
    mix = 0.5 if method.startswith(("wsmd", "lambda")) else None
    found = done.values(Column("made-up", method, recipe, embedding, mix))
    sentences = [text for pair in PAIRS for text in pair]
    scorer = base.using(method, recipe=recipe, embedding=embedding, layers="all")
    expected = scorer.fit(sentences).head_values(PAIRS)
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-9)


def test_every_column_is_there_and_finite(done):
    for column in done.columns:
        values = done.values(column)
        assert values.shape == (len(PAIRS), 6 if METHODS[column.method].by_head else 1)
        assert np.isfinite(values).all(), column


def test_the_default_measure_is_one_column_with_layers_of_its_own(base, done):
    expected = base.using("movers", layers=None).distances(PAIRS)
    found = done.values(Column("made-up", "movers", "paper", 3))
    np.testing.assert_allclose(found[:, 0], expected, rtol=1e-6, atol=1e-9)
    assert "calibration:" in read_facts(done.paths("paper-3")[0])["signatures"]["movers"]


def test_chunks_carry_signatures(done):
    facts = read_facts(done.paths("paper-0")[1])
    assert facts["pairs"] == [16, 32]
    assert "method:wsmd-wmd" in facts["signatures"]["wsmd-wmd@0.5"]
    assert "mix:0.5" in facts["signatures"]["lambda-wmd@0.5"]


@pytest.mark.parametrize("damage", ["truncated", "empty", "zeroed", "flipped"])
def test_damaged_values_are_computed_again(base, tmp_path, damage, caplog):
    columns = MeasureGrid(("wmd", "wsmd"), ("paper",), (0,)).columns("made-up", 3)
    benchmark = Benchmark(base, dataset(), columns, open_run(tmp_path / "run", {}))
    benchmark.run()
    expected = [*map(benchmark.values, columns)]
    [path] = benchmark.paths("paper-0")
    content = path.read_bytes()
    half = len(content) // 2
    path.write_bytes(
        {
            "truncated": content[:half],
            "empty": b"",
            "zeroed": content[:half] + bytes(len(content) - half),
            "flipped": content[:200] + bytes([content[200] ^ 4]) + content[201:],
        }[damage]
    )
    with pytest.raises(InputError, match=rf"{path.name}' is damaged"):
        [*map(benchmark.values, columns)]
    benchmark.run()
    assert f"{path.name}' is damaged" in caplog.text
    for found, values in zip(map(benchmark.values, columns), expected, strict=True):
        np.testing.assert_array_equal(found, values)


def test_damaged_variability_is_said(base, tmp_path):
    run = open_run(tmp_path / "run", {})
    measure_variability(base, dataset(), run)
    path = run.variability("made-up")
    path.write_bytes(path.read_bytes()[:-8])
    with pytest.raises(InputError, match=r"made-up.npy is damaged .* remove it"):
        measure_variability(base, dataset(), run)


def test_encodings_go_when_they_are_not_needed_any_more(done):
    assert not done.folder.encodings("made-up").exists()
    stages = {stage.name: stage for stage in done.folder.stages}
    assert stages["encode"].count == len(SENTENCES)
    assert stages["wsmd-wmd"].count == 4 * len(PAIRS)  # lambda-wmd is a part of the same solution


def test_a_finished_benchmark_computes_nothing(done, monkeypatch):
    monkeypatch.setattr(benchmark_file, "CHUNK_PAIRS", 16)
    encoder = benchmark_file.CorpusEncoder
    monkeypatch.setattr(encoder, "run", lambda *_, **__: pytest.fail("encoded again"))
    Benchmark(done.base, done.dataset, done.columns, done.folder).run()


def test_pairs_without_words_count_for_no_measure(base, tmp_path):
    pairs = [*PAIRS, ("the of", SENTENCES[0]), (SENTENCES[1], "")]
    columns = MeasureGrid(("wmd", "bertscore", "cls"), ("paper",), (3,)).columns("d", 3)
    benchmark = Benchmark(base, dataset("d", pairs=pairs), columns, open_run(tmp_path / "r", {}))
    benchmark.run()
    for column in columns:
        values = benchmark.values(column)
        assert np.isnan(values[-2:]).all() and np.isfinite(values[:-2]).all(), column


def test_heads_and_layers_are_scored_by_themselves(done):
    values = done.values(Column("made-up", "wsmd-wmd", "paper", 0, 0.5))
    heads, layers = head_scores(done.dataset, values, 3)
    gold = done.dataset.gold
    assert heads.shape == (3, 2) and layers.shape == (3,)
    assert heads[1, 1] == score("auc", gold, values[:, 3])
    assert layers[2] == score("auc", gold, values[:, 4:].mean(axis=1))


def test_variability_is_measured_once(base, tmp_path, monkeypatch):
    run = open_run(tmp_path / "r", {})
    found = measure_variability(base, dataset(), run)
    sentences = [text for pair in PAIRS for text in pair]
    expected = attention_variability(lambda: base.encoder.attentions(sentences))
    np.testing.assert_allclose(found.ravel(), expected)
    monkeypatch.setattr(benchmark_file, "attention_variability", None)
    np.testing.assert_array_equal(measure_variability(base, dataset(), run), found)
