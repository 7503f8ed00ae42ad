"""`movers learn` writes a judge and a report, or says what to label; other commands take judges."""

import json
from pathlib import Path

import pytest

from movers import cli
from movers.judge.knowledge import Knowledge

ROOT = Path(__file__).parents[2]
LABELLED = ROOT / "examples" / "data" / "labelled.tsv"
PAIRS = ROOT / "examples" / "data" / "pairs.tsv"


def call(*arguments):
    try:
        return cli.main([str(argument) for argument in arguments])
    except SystemExit as stop:
        return stop.code or 0


def run(capsys, *arguments):
    code = call(*arguments)
    captured = capsys.readouterr()
    return code, captured.out, captured.err


@pytest.fixture(scope="module")
def judge(tmp_path_factory):
    path = tmp_path_factory.mktemp("judges") / "mine.judge"
    report = path.with_name("report.json")
    assert call("learn", LABELLED, "-o", path, "--report", report) == 0
    return path


def test_a_judge_comes_with_its_report(judge):
    assert Knowledge.load(judge).facts["pairs"] == "24"
    report = json.loads(judge.with_name("report.json").read_text("utf-8"))
    assert report["pairs"] == 24
    assert {one["method"] for one in report["scores"]} == {"judge", "cosine", "movers"}


def test_a_quiet_judge_says_nothing(capsys, tmp_path):
    code, out, _ = run(capsys, "learn", LABELLED, "-o", tmp_path / "z.judge", "--quiet")
    assert (code, out) == (0, "")


@pytest.mark.parametrize("command", ["learn", "evaluate"])
def test_numbers_of_rows_are_no_labels(capsys, tmp_path, command):
    output = tmp_path / "z.judge"
    code, out, err = run(capsys, command, PAIRS, *(["-o", output] * (command == "learn")))
    assert (code, out, output.exists()) == (1, "", False)
    assert "beside the sentences there are: id;" in err and "pass --gold" in err


def test_the_column_of_labels_is_named(capsys, tmp_path):
    _, _, err = run(capsys, "learn", LABELLED, "-o", tmp_path / "z.judge")
    assert "the labels are those of the column 'label'" in err
    _, out, _ = run(capsys, "evaluate", LABELLED, "--methods", "bow")
    assert "24 pairs, labels of column label" in out


def test_a_judge_scores_a_table(capsys, judge):
    code, out, err = run(capsys, "score", PAIRS, "--judge", judge, "--json")
    rows = [json.loads(line) for line in out.splitlines()]
    assert code == 0 and f"judge:{Knowledge.load(judge).digest}" in err
    assert all(0 <= row["movers"] <= 1 for row in rows)


def test_a_comparison_prints_the_verdict(capsys):
    sentences = "The dog bit the man.", "The man bit the dog."
    code, out, _ = run(capsys, "compare", *sentences)
    assert code == 0
    assert "Judge: not the same" in out


def test_suggestions_are_a_table_to_label(capsys, tmp_path):
    output = tmp_path / "label.tsv"
    code, _, _ = run(capsys, "learn", "--suggest", PAIRS, "-n", 2, "-o", output)
    lines = output.read_text("utf-8").splitlines()
    assert code == 0
    assert lines[0].split("\t") == ["source", "target", "probability", "label"]
    assert len(lines) == 3


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ([], "name a table of labelled pairs"),
        ([LABELLED], "where should the judge go?"),
        ([LABELLED, "-o", "x.judge", "--report", "x.pdf"], "a report ends in"),
    ],
)
def test_what_is_missing_is_said(capsys, arguments, why):
    code, _, err = run(capsys, "learn", *arguments)
    assert code == 1
    assert why in err


def test_a_judge_has_the_last_word_in_dedupe(capsys, tmp_path):
    text = tmp_path / "texts.txt"
    lines = ["The dog bit the man.", "The man bit the dog.", "The man was bitten by the dog."]
    text.write_text("\n".join(lines) + "\n", "utf-8")
    out = tmp_path / "kept.txt"
    given = ["dedupe", text, "--threshold", 0.9, "--guard", "none", "--quiet", "-o", out]
    assert run(capsys, *given)[0] == 0
    assert out.read_text("utf-8").splitlines() == lines[:1]
    assert run(capsys, *given, "--judge", "same", "--at-least", 0.6)[0] == 0
    assert out.read_text("utf-8").splitlines() == lines[:2]


def test_an_index_is_of_a_measure(capsys, tmp_path):
    code, _, err = run(capsys, "index", PAIRS, "-o", tmp_path / "i", "--judge", "same")
    assert code == 1
    assert "an index is of a measure" in err
