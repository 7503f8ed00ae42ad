"""Checks in tests and pipelines: what passes, what fails, and what is said about it."""

import json
import subprocess
import sys
from xml.etree import ElementTree

import pytest

import movers
from movers import checks, cli
from movers.errors import InputError

pytest_plugins = ["pytester"]

SAME = "The capital of France is Paris.", "Paris is France's capital."
NUMBER = "Take 2 tablets a day.", "Take 20 tablets a day."


def test_texts_that_say_the_same_pass():
    movers.assert_same(*SAME)
    movers.assert_same(NUMBER[0], f" {NUMBER[0]} ")


@pytest.mark.parametrize(
    ("pair", "options", "says"),
    [
        (NUMBER, {}, "another number: 2 / 20"),
        (("the drug is safe", "the drug is not safe"), {}, "negation"),
        (("the dog barks", "stocks fell sharply"), {}, "below 0.8"),
        (("the dog bit the man", "the man bit the dog"), {"guard": ["roles"]}, "roles"),
    ],
)
def test_others_fail_with_the_differences(pair, options, says):
    with pytest.raises(AssertionError, match=says) as failed:
        movers.assert_same(pair[1], pair[0], **options)
    assert f"expected: {pair[0]}\nactual:   {pair[1]}" in str(failed.value)
    movers.assert_same(pair[1], pair[0], least=0.0, guard=[])


def test_a_share_that_is_none_is_refused():
    with pytest.raises(InputError, match="from 0 to 1"):
        checks.check([SAME], least=80)


def test_the_plugin_says_what_differs(pytester):
    pytester.makepyfile(
        f"""
        def test_same(expect):
            expect({SAME[1]!r}).to_say({SAME[0]!r})
            expect({NUMBER[1]!r}).not_to_say({NUMBER[0]!r})

        def test_other(expect):
            expect({NUMBER[1]!r}).to_say({NUMBER[0]!r})

        def test_not(expect):
            expect({SAME[1]!r}).not_to_say({SAME[0]!r})
        """
    )
    done = pytester.runpytest_inprocess("-p", "movers.pytest_plugin", "--disable-plugin-autoload")
    done.assert_outcomes(passed=1, failed=2)
    done.stdout.fnmatch_lines(["*another number: 2 / 20*", "*“2” in A, “20” in B.*"])
    done.stdout.no_fnmatch_line("*checks.py*")


def test_the_plugin_imports_nothing_before_it_is_used():
    code = (
        "import pytest, sys; before = set(sys.modules); import movers.pytest_plugin; "
        "print(sorted(set(sys.modules) - before))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['movers', 'movers.pytest_plugin', 'movers.version']"


@pytest.fixture
def files(tmp_path):
    rows = [
        SAME,
        NUMBER,
        ("a dog barks", "a dog barks"),
        ("a <b> & c", "whales | <b> \x07 sing at night"),
    ]
    for name, side in (("expected", 0), ("actual", 1)):
        lines = ["text", *(row[side] for row in rows)]
        (tmp_path / f"{name}.tsv").write_text("\n".join(lines), "utf-8")
    return tmp_path


def run(*arguments):
    try:
        return cli.main(["check", *map(str, arguments)])
    except SystemExit as stop:
        return stop.code


def test_the_command_fails_where_too_few_say_the_same(files, capsys):
    pair = files / "expected.tsv", files / "actual.tsv"
    reports = ["--junit", files / "junit.xml", "--markdown", files / "summary.md"]
    assert run(*pair, "--fail-under", "0.9", "--guard", "numbers,negation", *reports) == 1
    out, err = capsys.readouterr()
    assert "row 2: the texts do not say the same: another number: 2 / 20" in out
    assert "less than 90.0%" in err
    suite = ElementTree.parse(files / "junit.xml").getroot()
    assert suite.attrib["tests"] == "4" and suite.attrib["failures"] == "2"
    assert "another number" in suite[1][0].attrib["message"] and not len(suite[0])
    summary = (files / "summary.md").read_text("utf-8")
    assert "2 of 4 say the same." in summary and "| 2 | Take 2 tablets a day. |" in summary
    assert "whales \\| <b>" in summary
    assert run(*pair, "--fail-under", "0.5", "--json") == 0
    assert '"objection": null' in capsys.readouterr().out


def test_files_of_different_lengths_are_refused(files, capsys):
    (files / "short.txt").write_text("one\n")
    assert run(files / "expected.tsv", files / "short.txt") == 1
    assert "has 4 texts and" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["{}.tsv", "{}.csv", "{}.txt", "{}.jsonl"])
def test_blank_rows_keep_their_place(tmp_path, capsys, name):
    sides = {"expected": ["Paris", "", "dog", "", "5"], "actual": ["Paris", "dog", "", "", "5"]}
    files = [tmp_path / name.format(side) for side in sides]
    for file, texts in zip(files, sides.values(), strict=True):
        head = [] if file.suffix in (".txt", ".jsonl") else ["text"]
        cells = [json.dumps({"text": one}) for one in texts] if "jsonl" in name else texts
        file.write_text("".join(f"{line}\n" for line in [*head, *cells]), "utf-8")
    assert run(*files) == 1
    out = capsys.readouterr().out
    assert "row 2: the texts do not say the same: nothing is expected, and there is a text" in out
    assert "row 3: the texts do not say the same: there is no text" in out
    assert out.endswith("3 of 5 say the same\n")
    assert run(*files, "--json", "--fail-under", "0.6") == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["objection"] is None for row in rows] == [True, False, False, True, True]
    assert rows[1]["similarity"] is None


def test_blank_rows_are_counted_where_counts_differ(tmp_path, capsys):
    (tmp_path / "expected.csv").write_text("text\na\n\nb\n")
    (tmp_path / "actual.csv").write_text("text\na\nb\n")
    assert run(tmp_path / "expected.csv", tmp_path / "actual.csv") == 1
    err = capsys.readouterr().err
    assert "expected.csv has 3 texts (1 of them blank) and" in err and "has 2 texts;" in err


def test_a_share_to_fail_under_is_one(files, capsys):
    assert run(files / "expected.tsv", files / "actual.tsv", "--fail-under", "2") == 1
    assert "--fail-under is a share from 0 to 1, got 2" in capsys.readouterr().err
