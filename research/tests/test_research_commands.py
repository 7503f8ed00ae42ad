"""The commands that this distribution adds, found by their entry points."""

import json

import pytest

import movers
from movers import cli

LABELLED = "source\ttarget\tlabel\n" + "".join(
    f"the dog sees the fox {k}\t{('the dog sees the fox', 'a house burns')[k % 2]}\t{1 - k % 2}\n"
    for k in range(8)
)


def run(capsys, *arguments):
    try:
        code = cli.main([str(argument) for argument in arguments])
    except SystemExit as stop:
        code = stop.code
    captured = capsys.readouterr()
    return code or 0, captured.out, captured.err


def test_the_command_line_has_them():
    assert {*cli.RESEARCH} == {*cli.added_commands()}


def test_evaluate_alignment_prints_a_table_and_writes_it(capsys, tmp_path):
    path, output = tmp_path / "gold.txt", tmp_path / "report.md"
    path.write_text("the dog barks ||| the dog howls ||| 0-0 1-1 2?2\n", "utf-8")
    arguments = ["evaluate-alignment", path, "--aligners", "shares,argmax"]
    code, out, err = run(capsys, *arguments, "-o", output)
    assert code == 0, err
    assert "| shares | **100.00** |" in out and out.strip() in output.read_text("utf-8")
    code, out, _ = run(capsys, *arguments, "--json")
    assert json.loads(out)["scores"]["argmax"]["f1"]["value"] == 1.0


def test_align_takes_aligners_of_the_literature(capsys):
    pair = ("the dog barks", "the dog howls")
    code, out, err = run(capsys, "align", *pair, "--aligner", "argmax", "--json")
    assert code == 0, err
    assert json.loads(out)["pharaoh"] == movers.load().align(*pair, aligner="argmax").pharaoh


def test_benchmark_takes_a_file_and_measures_what_evaluate_does(capsys, tmp_path):
    path = tmp_path / "labelled.tsv"
    path.write_text(LABELLED, "utf-8")
    asked = [path, "--methods", "wmd", "--json"]
    found = run(capsys, "benchmark", *asked, "--protocol", "default", "-o", tmp_path / "run")
    assert found[0] == 0, found[2]
    again = run(capsys, "evaluate", *asked)
    scores, others = (json.loads(one[1])["scores"] for one in (found, again))
    for one, other in zip(scores, others, strict=True):
        shared = one.keys() & other.keys()
        assert {"method", "value", "low", "high"} <= shared
        assert all(one[name] == other[name] for name in shared)
    assert "report and figures" in found[2] and (tmp_path / "run" / "report.html").is_file()


def test_a_run_in_no_folder_is_refused_before_any_work(capsys, tmp_path):
    place = tmp_path / "nowhere"
    code, _, err = run(capsys, "benchmark", "no-file.tsv", "-o", place / "run")
    assert code == 2 and "there is no folder" in " ".join(err.split()) and not place.exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--statistics", "any.safetensors"], "leave out --statistics"),
        (["--protocol", "default", "--dev", "stsb-dev"], "--protocol paper"),
    ],
)
def test_benchmark_refuses_what_its_protocol_does_not_know(capsys, tmp_path, arguments, message):
    path = tmp_path / "labelled.tsv"
    path.write_text(LABELLED, "utf-8")
    code, _, err = run(capsys, "benchmark", path, *arguments)
    assert code == 1 and message in err
