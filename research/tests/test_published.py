"""The paper's numbers: complete, consistent among themselves, and as the text has them."""

import importlib.util
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from movers.measures.registry import METHODS, WORDS
from movers_research.baselines import SYNTACTIC
from movers_research.datasets import DATASETS
from movers_research.published import (
    PAPER_MODELS,
    find_published,
    paper_model,
    published_facts,
    published_improvements,
    published_scores,
)

ROOT = Path(__file__).parents[2]
SELECTIONS = ("top1", "BV", "all")
FACTS = published_facts()


def cell(model, dataset, method, embedding, selection=""):
    keys = model, dataset, method, embedding, selection
    (found,) = (
        row.value
        for row in published_scores()
        if (row.model, row.dataset, row.method, row.embedding, row.selection) == keys
    )
    return found


def test_every_table_is_complete():
    main = 11 * 6 + 3 * 6 + 24 * 6  # measures of words, structure by norm, six bases by four
    without = (2 + 6) * 3
    others = (11 + 24) * 4
    assert Counter(row.dataset for row in published_scores()) == {
        **dict.fromkeys(("paws-qqp-test", "paws-wiki-test", "stsb-test"), main + without + others),
        "sick-test": (11 + 24) * 2,
        "paws-qqp-train": (11 + 8) * 6,
    }
    assert len(published_improvements()) == 3 * 3 * 2 * 3


def test_names_are_ours():
    for row in published_scores():
        assert row.method in METHODS and row.dataset in DATASETS and row.model in PAPER_MODELS
        structural = "layers" in METHODS[row.method].settings
        assert row.selection in (SELECTIONS if structural else ("",))
        free = row.method in ("bow", "cls", "smd", "smd-idf")
        assert (row.embedding == "") == free


@pytest.mark.parametrize(
    ("keys", "value"),
    [
        (("BERT", "paws-qqp-test", "average", "first"), 52.96),
        (("BERT", "paws-wiki-test", "wsmd-wmd", "first", "top1"), 66.44),
        (("SimCSE", "stsb-test", "wsmd-synwmd", "last", "BV"), 78.15),
        (("RoBERTa", "paws-qqp-test", "wsmd-wrd-idf", "first", "all"), 59.79),
        (("RoBERTa", "paws-wiki-test", "smd-idf", "", "all"), 51.89),
        (("BERT", "stsb-test", "bow", ""), 68.82),
        (("SimCSE", "stsb-test", "cls", ""), 75.23),
        (("BERT", "stsb-test", "smd-norm", "last", "top1"), 22.43),
        (("DistilBERT", "paws-qqp-test", "opwd-cos", "last"), 70.93),
        (("BERTseed0", "paws-qqp-test", "wsmd-wmd", "first", "top1"), 71.95),
        (("BERT", "sick-test", "wsmd-synwmd-cos", "first", "top1"), 50.65),
        (("SimCSE", "paws-qqp-train", "wsmd-wmd", "first", "all"), 76.13),
    ],
)
def test_cells_read_off_the_paper(keys, value):
    assert cell(*keys) == value


def test_printed_gains_are_differences():
    gains = [row for row in published_scores() if row.gain is not None]
    assert len(gains) == 18 * (3 * (6 + 4) + 2) + 6 * 6
    for row in gains:
        base = cell(row.model, row.dataset, row.method.removeprefix("wsmd-"), row.embedding)
        assert row.gain == pytest.approx(row.value - base, abs=1e-9), row


def test_average_improvements_follow_from_the_tables():
    for (model, dataset, embedding, selection), printed in published_improvements().items():
        gains = [
            cell(model, dataset, f"wsmd-{base.name}", embedding, selection)
            - cell(model, dataset, base.name, embedding)
            for base in (*WORDS, *SYNTACTIC)
        ]
        assert np.mean(gains) == pytest.approx(printed, abs=0.011), (model, dataset)
    assert published_improvements()["BERT", "paws-qqp-test", "first", "top1"] == 9.90


def test_order_preserving_rows_are_plain_word_movers():
    """The published code never reaches its order-preserving solver."""
    for row in published_scores():
        if row.method == "opwd":
            assert row.value == cell(row.model, row.dataset, "wmd", row.embedding)


def test_models_and_their_layers():
    assert {name: row.top1["first"] for name, row in PAPER_MODELS.items()} == {
        "BERT": 8, "SimCSE": 6, "RoBERTa": 9, "DistilBERT": 4, "BERTseed0": 9,
    }  # fmt: skip
    for row in PAPER_MODELS.values():
        assert row.top1["first"] == row.top1["last"]
        assert row.top1["first"] in row.contextual
        assert row.contextual[-1] == row.layers
    assert PAPER_MODELS["DistilBERT"].contextual == (3, 4, 5, 6)
    assert PAPER_MODELS["BERT"].contextual == tuple(range(5, 13))


@pytest.mark.parametrize(
    ("name", "model"),
    [
        ("bert-base-uncased", "BERT"),
        ("google-bert/bert-base-uncased", "BERT"),
        ("models/unsup-simcse-bert-base-uncased/", "SimCSE"),
        (Path("/somewhere/distilbert-base-uncased"), "DistilBERT"),
        ("google/multiberts-seed_0", "BERTseed0"),
    ],
)
def test_models_are_recognised(name, model):
    assert paper_model(name).name == model


@pytest.mark.parametrize("name", ["bert-base-cased", "my-bert-base-uncased", "roberta", "", "."])
def test_other_models_are_not(name):
    assert paper_model(name) is None


def test_finding_a_cell():
    bert = "bert-base-uncased"
    assert find_published(bert, "paws-qqp-test", "wsmd-wrd", 12, 12, "BV") == 69.25
    assert find_published(bert, "paws-qqp-test", "wsmd-wrd", -1, 12, "BV") == 69.25
    assert find_published(bert, "paws-qqp-test", "wrd", 0, 12) == 54.65
    assert find_published("distilbert-base-uncased", "stsb-test", "wmd", 6, 6) is not None
    for embedding in (0, 7, -1):
        assert find_published(bert, "stsb-test", "bow", embedding, 12) == 68.82
        assert find_published(bert, "stsb-test", "smd", embedding, 12, "all") == 30.48


@pytest.mark.parametrize(
    "arguments",
    [
        ("bert-base-cased", "stsb-test", "wmd", 0, 12, ""),
        ("bert-base-uncased", "stsb-test", "wmd", 0, 3, ""),
        ("bert-base-uncased", "stsb-test", "wmd", 6, 12, ""),
        ("bert-base-uncased", "stsb-dev", "wmd", 0, 12, ""),
        ("bert-base-uncased", "stsb-test", "lambda-wmd", 0, 12, "top1"),
        ("bert-base-uncased", "stsb-test", "wsmd-wmd", 0, 12, "5-6"),
    ],
)
def test_cells_the_paper_does_not_have(arguments):
    assert find_published(*arguments) is None


def test_sizes_are_those_of_our_data_sets():
    for name, row in FACTS["sizes"].items():
        assert DATASETS[name].rows == row["pairs"]
        if "positives" in row:
            assert DATASETS[name].positives == pytest.approx(row["positives"], abs=0.05)


def test_facts_beside_the_tables():
    assert FACTS["correlations"] == {
        "heads": {"heads": 69.30, "layers": 74.50},
        "common_words": {"paws-qqp-dev": -9.31, "paws-wiki-dev": -0.85, "stsb-dev": 59.37},
    }


def test_the_opening_example_adds_up():
    same, other = FACTS["illustration"]["cases"]
    assert same["first"] == {"wmd": 12.54, "lambda-wmd": 12.54, "wsmd-wmd": 7.26}
    assert (same["last"]["wmd"], other["last"]["wmd"]) == (9.17, 9.26)
    assert other["target"] == "the press greets the president in chicago."
    parts = FACTS["illustration"]["decomposition"]
    assert parts == {"wsmd": 8.03, "scale": 688, "mix": 0.5, "linear": 13.30, "structural": 2.76}
    total = (1 - parts["mix"]) * parts["linear"] + parts["mix"] * parts["structural"]
    assert total == pytest.approx(parts["wsmd"], abs=0.01)


def test_the_text_of_the_paper_gives_the_same_files():
    texts = sorted((ROOT.parent / "shared" / "paper").glob("*.txt"))
    if not texts:
        pytest.skip("the text of the paper is not in ../shared/paper")
    spec = importlib.util.spec_from_file_location("numbers", ROOT / "scripts/published_numbers.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    for name, content in script.published(texts[0].read_text("utf-8")).items():
        assert (script.TARGET / name).read_text("utf-8") == content, name
