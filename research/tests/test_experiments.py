"""The paper's experiments by name, with and without its models."""

import re

import pytest
import transformers

import movers
from movers.cli import main
from movers.errors import InputError
from movers.measures.registry import METHODS
from movers_research.experiments import (
    EXPERIMENTS,
    ONE_MODEL,
    find_experiment,
    illustrations,
    reproduce,
)
from movers_research.published import find_published
from tiny_models import PAIRS, SIZES
from tree_parsers import MadeUp

TWELVE = {**SIZES, "num_hidden_layers": 12, "num_attention_heads": 4}


@pytest.fixture(scope="module")
def paws(tmp_path_factory):
    """Folder of evaluation data with two data sets in the layout of PAWS-QQP, and STS-B."""
    folder = tmp_path_factory.mktemp("data")
    (folder / "PAWSQQP").mkdir()
    header = "id\tsentence1\tsentence2\tlabel"
    rows = [f'{n}\tb"{a}"\tb"{b}"\t{n % 2}' for n, (a, b) in enumerate(PAIRS) if "é" not in a + b]
    for name in ("train", "dev_and_test"):
        (folder / "PAWSQQP" / f"{name}.tsv").write_text("\n".join([header, *rows]), "utf-8")
    (folder / "STSB").mkdir()
    rows = [f"a\tb\tc\t{n}\t{n % 6}.0\t{a}\t{b}" for n, (a, b) in enumerate(PAIRS)]
    for name in ("dev", "test"):
        (folder / "STSB" / f"sts-{name}.csv").write_text("\n".join(rows), "utf-8")
    return folder


@pytest.fixture(scope="module")
def bert_base(tmp_path_factory, tokenizers):
    """A random model of twelve small layers under the name of one in the paper."""
    folder = tmp_path_factory.mktemp("models") / "bert-base-uncased"
    tokenizer = tokenizers["wordpiece"]
    config = transformers.BertConfig(vocab_size=len(tokenizer), **TWELVE)
    transformers.BertModel(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def results(bert_base, paws, tmp_path_factory):
    base = movers.load("wsmd", bert_base, parser=MadeUp())
    with pytest.warns(match="pairs"):  # these are not the sizes of the real data sets
        return reproduce(base, ONE_MODEL, tmp_path_factory.mktemp("runs") / "run", data=paws)


def test_tables_of_the_paper_hold_its_measures_alone(results):
    assert "movers" in METHODS
    assert "movers" not in {method for row in EXPERIMENTS.values() for method in row.methods}
    assert "movers" not in {score.column.method for score in results.scores}


def test_published_numbers_stand_beside_ours(results):
    beside = {
        (row.column.dataset, row.column.method, row.column.embedding, row.selection): row.published
        for row in results.scores
    }
    assert beside["paws-qqp-test", "wmd", 0, ""] == pytest.approx(0.5307)
    assert beside["paws-qqp-test", "wsmd-wmd", 0, "top1"] == pytest.approx(0.6258)
    assert beside["paws-qqp-test", "wsmd-wmd", 12, "BV"] == pytest.approx(0.6677)
    assert beside["stsb-test", "bow", 12, ""] == pytest.approx(0.6882)
    assert beside["paws-qqp-test", "lambda-wmd", 0, "all"] is None
    for row in results.scores:
        column = row.column
        found = find_published(
            "bert-base-uncased", column.dataset, column.method, column.embedding, 12, row.selection
        )
        assert row.published == (None if found is None else pytest.approx(found / 100))
    published = [row for row in results.scores if row.published is not None]
    methods = {row.column.method for row in published}
    assert {"average", "rots", "synwmd", "wsmd-synwmd", "smd-norm", "cls"} <= methods
    assert {row.selection for row in published} == {"", "top1", "BV", "all"}


def test_each_data_set_has_what_its_experiment_wants(results):
    methods = {}
    for row in results.scores:
        methods.setdefault(row.column.dataset, set()).add(row.column.method)
    assert methods["paws-qqp-test"] == methods["stsb-test"] == {*METHODS} - {"movers"}
    assert methods["paws-qqp-dev"] == {"wmd", "wsmd-wmd"}
    assert methods["paws-qqp-train"] == {*EXPERIMENTS["qqp-train"].methods}
    assert "stsb-dev" not in methods
    assert [overlap.dataset for overlap in results.overlaps] == ["paws-qqp-dev", "stsb-dev"]
    assert results.overlaps[1].published == pytest.approx(0.5937)
    assert results.variability["paws-qqp-dev"].shape == (12, 4)
    notes = " ".join(results.notes)
    assert "PAWS-Wiki test is not there" in notes and "SICK-R test is not there" in notes


def test_the_opening_example_uses_the_head_of_the_paper(bert_base, results):
    base = movers.load("wsmd", bert_base)
    assert illustrations(base) == results.illustrations
    case = results.illustrations[1]
    assert case.published == {"wmd": 12.55, "lambda-wmd": 13.3, "wsmd-wmd": 8.03}
    scorer = base.using("wsmd-wmd", embedding=0, layers="8", heads="2", whitening="none")
    found = scorer.using(recipe="reference").compare(case.source, case.target)
    assert case.distances["wsmd-wmd"] == pytest.approx(found.distance)
    assert case.distances["lambda-wmd"] == pytest.approx(found.linear)


def test_another_model_stands_alone(tiny, paws, tmp_path):
    base = movers.load("wsmd", tiny("bert"))
    with pytest.warns(match="pairs"):
        results = reproduce(base, ["main", "example"], tmp_path / "run", data=paws, limit=20)
    assert all(row.published is None and row.pairs == 20 for row in results.scores)
    assert not any(case.published for case in results.illustrations)
    assert {row.selection for row in results.scores} == {"", "all"}
    assert any("without a development set" in note for note in results.notes)
    missing = next(note for note in results.notes if note.startswith("left out without a parser"))
    assert "wsmd-synwmd" in missing and "rots" in missing


@pytest.mark.filterwarnings("default::movers_research.datasets.DatasetWarning")
def test_the_command_writes_a_report_with_both_numbers(bert_base, paws, tmp_path, capsys):
    arguments = ["reproduce", "qqp-train", "variability", "--data", str(paws), "--limit", "24"]
    with pytest.raises(SystemExit, match="0"):
        main([*arguments, "--model", str(bert_base), "-o", str(tmp_path / "run")])
    out, err = capsys.readouterr()
    published = find_published("bert-base-uncased", "paws-qqp-train", "wsmd-wmd", 0, 12, "top1")
    assert re.search(rf"wsmd-wmd +top1 \d+ +0 .* {published}", out)
    assert "paws-qqp-train has 36 pairs" in err and "left out without a parser" in out
    report = (tmp_path / "run" / "report.md").read_text("utf-8")
    assert f"{published}" in report and "bert-base-uncased" in report
    assert (tmp_path / "run" / "report.html").exists()
    assert (tmp_path / "run" / "figures" / "variability.svg").exists()


def test_unknown_names_and_missing_data_are_clear(tmp_path, tiny):
    with pytest.raises(InputError, match="no experiment 'mian'; there are: main, scatter"):
        find_experiment("mian")
    base = movers.load("wsmd", tiny("bert"))
    with pytest.raises(InputError, match=r"paws-qqp-test needs PAWSQQP/dev_and_test\.tsv"):
        reproduce(base, ["main"], tmp_path / "run", data=tmp_path)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--mixes", "a"], "expected numbers separated by commas, got 'a'"),
        (["--mixes", "3"], "mix must lie between 0 and 1"),
        (["--embeddings", "99"], "embedding layer 99 is out of range"),
        (["--recipes", "wrong"], "recipe must be one of"),
        (["--protocol", "paper", "--layers", "top1"], "pass --dev, or name layers"),
        (["--methods", "wsmdd"], "no method 'wsmdd'"),
    ],
)
@pytest.mark.filterwarnings("default::movers_research.datasets.DatasetWarning")
def test_bad_choices_are_one_clear_line(tiny, paws, capsys, arguments, message):
    command = ["benchmark", "stsb-test", "--data", str(paws), "--model", str(tiny("bert"))]
    assert main([*command, *arguments]) == 1
    assert message in capsys.readouterr().err


def test_other_models_stand_alone(paws, capsys):
    assert main(["reproduce", "main", "other-models", "--data", str(paws)]) == 1
    assert "other-models runs models of its own; name it alone" in capsys.readouterr().err
