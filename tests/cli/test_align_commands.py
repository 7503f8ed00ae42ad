import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from test_commands import run

import movers
from movers.runtime.atomic import UNFINISHED

ROWS = [
    ("the press greets the president", "the president greets the press"),
    ("a dog 🐶 barks", "dogs bark"),
    ("", "nothing here"),
]


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "pairs.tsv"
    lines = ["\t".join(row) for row in ROWS]
    path.write_text("\n".join(["source\ttarget", *lines]) + "\n", "utf-8")
    return path


def expected(**options):
    return [found.pharaoh for found in movers.load().align_all(ROWS, **options)]


def test_align_writes_a_line_of_links_for_every_row(capsys, table):
    code, out, err = run(capsys, "align", table)
    assert (code, out.split("\n")[:-1]) == (0, expected())
    assert "3 pairs" in err and "aligner:shares" in err


def test_align_writes_everything_as_json_lines(capsys, table, tmp_path):
    output = tmp_path / "links.jsonl"
    code, out, _ = run(capsys, "align", table, "--json", "-o", output)
    assert (code, out) == (0, "")
    records = [json.loads(line) for line in output.read_text("utf-8").splitlines()]
    assert [record["pharaoh"] for record in records] == expected()
    assert records[2]["unmatched_target"] == [0, 1]


def test_align_takes_words_of_every_format(capsys, table, tmp_path):
    words = [(a.split(), b.split()) for a, b in ROWS]
    links = [found.pharaoh for found in movers.load().align_all(words)]
    sources, targets = (list(side) for side in zip(*words, strict=True))
    parquet = tmp_path / "pairs.parquet"
    pq.write_table(pa.table({"source": sources, "target": targets}), parquet)
    jsonl = tmp_path / "pairs.jsonl"
    records = [{"source": a, "target": b} for a, b in words]
    jsonl.write_text("\n".join(map(json.dumps, records)) + "\n", "utf-8")
    for path in (table, parquet, jsonl):
        code, out, err = run(capsys, "align", path, "--tokens")
        assert (code, out.split("\n")[:-1]) == (0, links), err


def test_align_shows_two_sentences(capsys):
    code, out, _ = run(capsys, "align", *ROWS[1])
    assert code == 0 and "confidence" in out and "matches nothing" in out
    assert f"{expected()[1].split()[0]} " in out
    assert run(capsys, "align", "", "a dog")[0] == 1
    code, out, _ = run(capsys, "align", *ROWS[1], "--json")
    assert json.loads(out)["pharaoh"] == expected()[1]


def test_two_sentences_go_to_a_file_too(capsys, tmp_path):
    line = tmp_path / "links.txt"
    assert run(capsys, "align", *ROWS[1], "-o", line)[0] == 0
    assert line.read_text("utf-8") == expected()[1] + "\n"


def test_a_broken_run_is_resumed(capsys, tmp_path):
    path, output = tmp_path / "pairs.jsonl", tmp_path / "links.txt"
    good, bad = '{"source": "a dog", "target": "the dog"}\n', '{"source": 3, "target": "x"}\n'
    path.write_text(good * 2100 + bad, "utf-8")
    code, _, err = run(capsys, "align", path, "-o", output)
    assert code == 1 and "row 2101, column 'source'" in err
    assert "2,048 finished rows are kept in" in err and not output.exists()
    assert not list(tmp_path.glob(f"{UNFINISHED}*"))
    path.write_text(good * 2101, "utf-8")
    code, _, err = run(capsys, "align", path, "-o", output, "--resume")
    assert code == 0 and "2101 pairs, 2,048 of them from the run before" in err
    assert output.read_text("utf-8") == "0-0 1-1\n" * 2101


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--aligner", "shears"], "did you mean 'shares'"),
        (["--source", "left"], "no column 'left'"),
    ],
)
def test_mistakes_are_told(capsys, table, arguments, complaint):
    code, _, err = run(capsys, "align", table, *arguments)
    assert code == 1 and complaint in err
