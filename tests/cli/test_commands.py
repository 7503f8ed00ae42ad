import json
import os
import signal
import subprocess
import sys
import time

import pyarrow.parquet as pq
import pytest

import movers
from movers import cli
from movers.runtime.atomic import UNFINISHED

SWAP = ("the press greets the president", "the president greets the press")

WORDS = "cat dog bird press president house river street music doctor letter garden"


def run(capsys, *arguments):
    try:
        code = cli.main([str(argument) for argument in arguments])
    except SystemExit as stop:
        code = stop.code
    captured = capsys.readouterr()
    return code or 0, captured.out, captured.err


@pytest.fixture
def pairs(tmp_path):
    path = tmp_path / "pairs.tsv"
    path.write_text(f"id\tsource\ttarget\n1\t{SWAP[0]}\t{SWAP[1]}\n2\tthe of\ta dog barks\n")
    return path


def test_compare_prints_measures_and_alignment(capsys):
    code, out, _ = run(capsys, "compare", *SWAP)
    assert code == 0
    found = movers.load().compare(*SWAP)
    row = next(line for line in out.splitlines() if line.startswith("movers ")).split()
    assert row == [
        "movers",
        f"{found.similarity:.2f}",
        f"{found.distance:.4f}",
        f"{found.sentence:.4f}",
        "–",
        f"{found.gate * found.structural:.4f}",
    ]
    told = " ".join(out.split())
    assert found.verdict in told
    assert all(" ".join(line.split()) in told for line in found.story)
    assert "Which word went where under movers" in out
    assert str(found.signature) in out.replace("\n", "")


def test_compare_as_json_carries_everything(capsys):
    code, out, _ = run(capsys, "compare", *SWAP, "--methods", "wmd,wsmd", "--json")
    assert code == 0
    wmd, wsmd = json.loads(out)
    assert wmd["similarity"] is None and wsmd["broken"][0]["share"] > 0
    expected = movers.load("wsmd").compare(*SWAP)
    assert wmd["method"] == "wmd" and wmd["heads"] == []
    assert wsmd["distance"] == expected.distance
    assert wsmd["plan"] == expected.plan.tolist()
    assert len(wsmd["heads"]) == 12
    assert wsmd["alignment"][0].keys() == {
        *("source", "target", "mass", "cost", "source_index", "target_index")
    }


def test_settings_reach_the_scorer(capsys):
    arguments = ["--layers", "5-6", "--heads", "2", "--mix", "0.25", "--recipe", "reference"]
    arguments += ["--embedding", "0", "--stopwords", "none", "--subwords", "mean"]
    _, out, _ = run(capsys, "compare", *SWAP, "--methods", "wsmd-wmd", "--json", *arguments)
    signature = json.loads(out)[0]["signature"]
    for part in ("layers:5-6", "heads:2", "mix:0.25", "recipe:reference", "embedding:0"):
        assert part in signature
    assert "stopwords:none" in signature and "subwords:mean" in signature


def test_score_keeps_columns_adds_distances_and_counts_undefined(capsys, pairs):
    code, out, err = run(capsys, "score", pairs, "--methods", "wmd,wsmd")
    assert code == 0
    header, first, second = (line.split("\t") for line in out.splitlines())
    assert header == ["id", "source", "target", "wmd", "wsmd"]
    assert float(first[4]) == movers.load("wsmd").compare(*SWAP).distance
    assert second[3:] == ["nan", "nan"]
    assert "wmd: 1 pairs without a proper distance" in err
    assert "method:wsmd-wrd" in err


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
def test_score_writes_the_format_of_the_output(capsys, pairs, tmp_path, suffix):
    output = tmp_path / f"out{suffix}"
    code, out, _ = run(capsys, "score", pairs, "-o", output, "--empty", "keep")
    assert (code, out) == (0, "")
    if suffix == ".parquet":
        names = ["id", "source", "target", "movers", "movers_similarity"]
        table = pq.read_table(output)
        assert table.column_names == names
        expected = movers.load().compare(*SWAP).similarity
        assert table["movers_similarity"][0].as_py() == expected
    else:
        assert "movers_similarity" in output.read_text() and "nan" not in output.read_text()


def test_score_reads_standard_input_and_writes_json_lines(pairs):
    done = subprocess.run(
        [sys.executable, "-m", "movers", "score", "-", "--json", "--method", "wmd"],
        input=pairs.read_bytes(),
        capture_output=True,
        check=True,
    )
    first, second = map(json.loads, done.stdout.splitlines())
    assert first["wmd"] > 0 and second["wmd"] is None


def test_score_fits_on_the_file(capsys, tmp_path):
    lines = [
        f"the {a} sees a {b} near the {c}\tthe {b} sees a {c} near the {a}"
        for a in WORDS.split()
        for b in WORDS.split()
        for c in WORDS.split()
        if len({a, b, c}) == 3
    ][:400]
    path = tmp_path / "pairs.tsv"
    path.write_text("source\ttarget\n" + "\n".join(lines) + "\n")
    code, out, err = run(capsys, "score", path, "--methods", "wmd-idf", "--fit")
    assert code == 0, err
    assert "whitening:clean@" in err and "idf:" in err
    assert len(out.splitlines()) == 401


def test_fit_saves_statistics_that_score_uses(capsys, tmp_path):
    text = tmp_path / "sentences.txt"
    text.write_text("\n".join(f"a {a} and the {b}" for a in WORDS.split() for b in WORDS.split()))
    output = tmp_path / "fitted.safetensors"
    code, _, err = run(capsys, "fit", text, "-o", output, "--embeddings", "0,6")
    assert code == 0, err
    assert "144 sentences of sentences.txt, whitened layers 0, 6" in err
    code, out, _ = run(
        capsys, "compare", *SWAP, "--methods", "wmd-idf", "--json", "--statistics", output
    )
    assert code == 0 and json.loads(out)[0]["distance"] > 0


def test_methods_and_models_list_what_there_is(capsys):
    _, out, _ = run(capsys, "methods", "--json")
    assert {method["name"] for method in json.loads(out)} == set(movers.METHODS)
    assert "wsmd is short for" in run(capsys, "methods")[1]
    _, out, _ = run(capsys, "models", "--json")
    facts = json.loads(out)
    assert (facts["layers"], facts["heads"], facts["dimension"]) == (6, 12, 384)
    assert "BertModel" in run(capsys, "models")[1]


@pytest.mark.parametrize("command", [[], ["compare"], ["score"], ["fit"], ["methods"], ["models"]])
def test_help_explains(capsys, command):
    code, out, _ = run(capsys, *command, "--help")
    assert code == 0
    assert "Usage: movers" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["score", "{tmp}/nope.tsv"], "no file"),
        (["score", "{pairs}", "--source", "left"], "the columns are: id, source, target"),
        (["score", "{empty}"], "is empty"),
        (["score", "{latin}"], "line 2: not UTF-8"),
        (
            ["score", "{pairs}", "--empty", "raise", "--methods", "wmd"],
            "no words left after stop-word removal",
        ),
        (["score", "{pairs}", "--methods", "wmd,wmd"], "distinct names"),
        (["score", "{scored}", "--methods", "wmd"], "has a column 'wmd' already"),
        (["score", "{alike}"], "has a column 'movers_similarity' already"),
        (["score", "{missing}"], "row 2, column 'target': expected text, found 3"),
        (["score", "{pairs}", "-o", "/proc/nope/out.tsv"], "/proc/nope"),
        (["score", "{pairs}", "-o", "{tmp}/out.csv", "--json"], "ends in another format"),
        (["score", "{pairs}", "--threads", "0"], "threads must be at least 1"),
        (["compare", "the of", "a dog", "--methods", "wmd"], "the source has no words left"),
        (["compare", "", "a dog", "--methods", "wmd"], "the source is empty"),
        (["compare", "a", "b", "--model", "no/such-model"], "cannot load model 'no/such-model'"),
        (["compare", "a b", "c d", "--methods", "wsmd", "--layers", "7"], "has layers 1 to 6"),
        (["compare", "a b", "c d", "--methods", "wsmd", "--heads", "0"], "has heads 1 to 12"),
        (["compare", "a b", "c d", "--embedding", "9"], "0 (input) to 6"),
        (["compare", "a b", "c d", "--mix", "1.5"], "mix must lie between 0 and 1"),
        (["compare", "a b", "c d", "--methods", "wsdm"], "did you mean 'wsmd'?"),
        (["compare", "cat", "dog", "--statistics", "{pairs}"], "is not a statistics file"),
        (["fit", "{tmp}/nope.txt", "-o", "{tmp}/x.safetensors"], "no file"),
    ],
)
def test_bad_input_is_one_clear_line(capsys, tmp_path, pairs, arguments, message):
    files = {
        "tmp": tmp_path,
        "pairs": pairs,
        "empty": tmp_path / "empty.tsv",
        "latin": tmp_path / "latin.tsv",
        "scored": tmp_path / "scored.tsv",
        "alike": tmp_path / "alike.tsv",
        "missing": tmp_path / "missing.jsonl",
    }
    files["empty"].touch()
    files["latin"].write_bytes("source\ttarget\ncafé\tthé\n".encode("latin-1"))
    files["scored"].write_text("source\ttarget\twmd\na\tb\t1\n")
    files["alike"].write_text("source\ttarget\tmovers_similarity\na\tb\t1\n")
    files["missing"].write_text('{"source": "a", "target": "b"}\n{"source": "a", "target": 3}\n')
    code, out, err = run(capsys, *(argument.format(**files) for argument in arguments))
    assert code == 1
    assert message in err
    assert "Traceback" not in err and not out


def test_one_measure_without_a_distance_does_not_hide_the_others(capsys):
    code, out, err = run(capsys, "compare", "the of", "dogs", "--methods", "cls,wrd")
    assert code == 0
    assert "cls" in out and "wrd: the source has no words left" in err
    assert "--empty keep" in err and "empty='keep'" not in err


def test_bad_syntax_exits_with_two(capsys):
    code, _, err = run(capsys, "compare", "only one")
    assert code == 2
    assert "target" in err.lower()


@pytest.mark.skipif(os.name != "posix", reason="sends SIGINT")
def test_interrupt_keeps_finished_rows_and_the_old_output(tmp_path):
    # few sentences, which are soon encoded, in many pairs
    rows = [f"row {k % 100} about cats\tabout dogs and rivers {k % 97}" for k in range(300_000)]
    path, output = tmp_path / "pairs.tsv", tmp_path / "out.tsv"
    path.write_text("source\ttarget\n" + "\n".join(rows) + "\n")
    output.write_text("old\n")
    process = subprocess.Popen(
        [sys.executable, "-m", "movers", "score", str(path), "-o", str(output), "--method", "wmd"],
        stderr=subprocess.PIPE,
        text=True,
    )
    # once the second chunk of 2048 rows is under way, the first is finished
    while process.poll() is None and not any(
        file.read_bytes().count(b"\n") > 2049 for file in tmp_path.glob(f"{UNFINISHED}*")
    ):
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "interrupted" in err and "Traceback" not in err
    assert "finished rows are kept in" in err
    assert output.read_text() == "old\n"
    kept = (tmp_path / "out.tsv.partial").read_text().splitlines()
    assert kept[0] == "source\ttarget\twmd"
    assert 2048 < len(kept) < len(rows)
    assert {file.name for file in tmp_path.iterdir()} == {"pairs.tsv", "out.tsv", "out.tsv.partial"}
