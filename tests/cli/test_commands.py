import errno
import json
import os
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pyarrow.parquet as pq
import pytest

import movers
from movers import cli, plugins
from movers.bulk import score_files
from movers.errors import InputError
from movers.runtime import entry_points

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
    assert not any(" ".join(line.split()) in told for line in found.figures)
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
    assert header == ["id", "source", "target", "wmd", "wsmd", "unread"]
    assert float(first[4]) == movers.load("wsmd").compare(*SWAP).distance
    assert second[3:] == ["nan", "nan", "0"]
    assert "1 pair without a proper distance under wmd, row 2; see --empty" in err
    assert "method:wsmd-wrd" in err


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
def test_score_writes_the_format_of_the_output(capsys, pairs, tmp_path, suffix):
    output = tmp_path / f"out{suffix}"
    code, out, _ = run(capsys, "score", pairs, "-o", output, "--empty", "keep")
    assert (code, out) == (0, "")
    if suffix == ".parquet":
        names = ["id", "source", "target", "movers", "movers_similarity", "unread"]
        table = pq.read_table(output)
        assert table.column_names == names
        expected = movers.load().compare(*SWAP).similarity
        assert table["movers_similarity"][0].as_py() == expected
    else:
        assert "movers_similarity" in output.read_text() and "nan" not in output.read_text()


def test_score_reads_standard_input_and_writes_json_lines(capsys, monkeypatch, pairs):
    with pairs.open(encoding="utf-8") as stream:
        monkeypatch.setattr(sys, "stdin", stream)
        code, out, _ = run(capsys, "score", "-", "--json", "--method", "wmd")
    assert code == 0
    first, second = map(json.loads, out.splitlines())
    assert first["wmd"] > 0 and second["wmd"] is None


def test_score_fits_on_the_file(capsys, tmp_path):
    lines = [
        f"the {a} sees a {b} near the {c}\tthe {b} sees a {c} near the {a}"
        for a in WORDS.split()
        for b in WORDS.split()
        for c in WORDS.split()
        if len({a, b, c}) == 3
    ][:160]
    path = tmp_path / "pairs.tsv"
    path.write_text("source\ttarget\n" + "\n".join(lines) + "\n")
    code, out, err = run(capsys, "score", path, "--methods", "wmd-idf", "--fit")
    assert code == 0, err
    assert "whitening:clean@" in err and "idf:" in err
    assert len(out.splitlines()) == 161


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
        (
            ["score", "{pairs}", "--threads", "0"],
            "threads must be a whole number of at least 1, got 0",
        ),
        (["compare", "the of", "a dog", "--methods", "wmd"], "the source has no words left"),
        (["compare", "", "a dog", "--methods", "wmd"], "the source is empty"),
        (["compare", "a", "b", "--model", "no/such-model"], "cannot load model 'no/such-model'"),
        (["compare", "a b", "c d", "--methods", "wsmd", "--layers", "7"], "has layers 1 to 6"),
        (["compare", "a b", "c d", "--methods", "wsmd", "--heads", "0"], "has heads 1 to 12"),
        (["compare", "a b", "c d", "--methods", "wmd", "--embedding", "9"], "0 (input) to 6"),
        (["compare", "a b", "c d", "--mix", "1.5"], "mix must lie between 0 and 1"),
        (["compare", "a b", "c d", "--methods", "wsdm"], "did you mean 'wsmd'?"),
        (["compare", "cat", "dog", "--statistics", "{pairs}"], "is not a statistics file"),
        (["diff", "{tmp}/nope.txt", "{latin}"], "no file"),
        (["diff", "{latin}", "{latin}"], "line 2: not UTF-8"),
        (["diff", "{empty}", "{latin}"], "is empty; there is nothing to compare"),
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
    code, out, err = run(capsys, "compare", "the of", "dogs", "--methods", "bertscore,wrd")
    assert code == 0
    assert "bertscore" in out and "wrd: the source has no words left" in err
    assert "--empty keep" in err and "empty='keep'" not in err


def test_bad_syntax_exits_with_two(capsys):
    code, _, err = run(capsys, "compare", "only one")
    assert code == 2
    assert "target" in err.lower()


def test_one_word_a_side_has_a_distance(capsys):
    code, out, err = run(capsys, "compare", "a dog", "a cat", "--methods", "wsmd", "--json")
    assert code == 0 and json.loads(out)[0]["distance"] > 0, err


def test_rows_without_a_distance_and_cut_ones_are_named(capsys, tmp_path):
    path, output = tmp_path / "pairs.tsv", tmp_path / "out.csv"
    rows = ["a dog\ta cat"] * 2 + ["the\ta cat"] * 12 + [f"{'cat ' * 600}\ta dog"]
    path.write_text("source\ttarget\n" + "\n".join(rows) + "\n", "utf-8")
    code, _, err = run(capsys, "score", path, "-o", output, "--methods", "wmd")
    assert code == 0
    named = "rows 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 and 2 more"
    assert f"12 pairs without a proper distance under wmd, {named}; see --empty" in err
    assert "sentences too long for the model lost their end in row 15" in err
    output.unlink()
    code, out, err = run(capsys, "score", path, "-o", output, "--methods", "wmd", "--json")
    summary = json.loads(out)
    assert (code, err, summary["rows"]) == (0, "", 15)
    assert summary["undefined"]["wmd"] == {"count": 12, "first": list(range(3, 13))}
    assert summary["cut"] == {"count": 1, "first": [15]}
    assert summary["signatures"]["wmd"] == str(movers.load("wmd").signature)


def test_quiet_says_nothing(capsys, pairs, tmp_path):
    output = tmp_path / "out.tsv"
    assert run(capsys, "score", pairs, "-o", output, "--quiet") == (0, "", "")
    assert run(capsys, "score", pairs, "-o", output, "--batch-size", "1", "--quiet") == (0, "", "")


def test_two_texts_are_scored_line_by_line(capsys, tmp_path):
    sources, targets = tmp_path / "a.txt", tmp_path / "b.txt"
    sources.write_text(SWAP[0] + "\n", "utf-8"), targets.write_text(SWAP[1] + "\n", "utf-8")
    both = ["--source-file", sources, "--target-file", targets]
    code, out, _ = run(capsys, "score", *both, "--methods", "wmd")
    assert code == 0 and out.splitlines()[0] == "source\ttarget\twmd\tunread"
    assert float(out.split()[-2]) == movers.load("wmd").distances([SWAP])[0]
    code, _, err = run(capsys, "compare", sources, targets)
    assert code == 1 and f"movers score --source-file {sources} --target-file {targets}" in err
    assert "not both" in run(capsys, "score", sources, *both)[2]
    assert "both --source-file and --target-file" in run(capsys, "score", *both[:2])[2]


def test_rank_orders_a_file(capsys, tmp_path):
    path = tmp_path / "corpus.csv"
    path.write_text("id,text\n1,a cat chases a dog\n2,a dog runs after a cat\n", "utf-8")
    query = "a dog chases a cat"
    code, out, _ = run(capsys, "rank", query, path, "--json", "-k", 1)
    (match,) = json.loads(out)["matches"]
    assert code == 0 and match["text"] == "a dog runs after a cat"
    shown = run(capsys, "rank", query, path)[1]
    assert shown.index("runs after") < shown.index("a cat chases") and "similarity" in shown


def test_fit_reads_a_column(capsys, tmp_path, monkeypatch):
    path, output = tmp_path / "corpus.jsonl", tmp_path / "fitted.safetensors"
    path.write_text('{"id": 1, "note": "a dog"}\n{"id": 2, "note": "a cat"}\n', "utf-8")
    seen = []

    def fitted(encoder, sentences, *_, **__):
        seen.extend(sentences)
        raise InputError("enough")

    monkeypatch.setattr(score_files, "fit_statistics", fitted)
    run(capsys, "fit", path, "--column", "note", "-o", output)
    assert seen == ["a dog", "a cat"]


LABELLED = "left\tright\tsame\n" + "".join(
    f"{SWAP[0]} {k}\t{SWAP[k % 2]} {k}\t{('yes', 'no')[k % 2]}\n" for k in range(8)
)


def test_evaluate_measures_what_score_computes(capsys, tmp_path):
    path = tmp_path / "labelled.tsv"
    path.write_text(LABELLED, "utf-8")
    columns = ["--source", "left", "--target", "right"]
    gold = [*columns, "--gold", "same"]
    code, out, err = run(capsys, "evaluate", path, *gold, "--methods", "wsmd", "--json")
    assert code == 0, err
    (row,) = json.loads(out)["scores"]
    assert row["value"] == 1.0 and row["layers"] == "2"
    shown = run(capsys, "evaluate", path, *gold, "--methods", "movers,wsmd")[1].splitlines()
    assert shown[1].split()[-3:] == ["%", "gain", "p"]
    assert shown[2].split()[:3] == ["movers", "1-6", "3"] and shown[3].split()[0] == "wsmd-wrd"
    assert "gain" not in run(capsys, "evaluate", path, *gold, "--methods", "wmd")[1]
    path.write_text(LABELLED.replace("no", "", 1), "utf-8")
    assert "row 2, column 'same': the label is blank" in run(capsys, "evaluate", path, *gold)[2]
    path.write_text(LABELLED.replace("no", "perhaps", 1), "utf-8")
    assert "'perhaps' is not a number, and not yes" in run(capsys, "evaluate", path, *gold)[2]


def test_threshold_recommends_a_cut(capsys, tmp_path):
    path, corpus = tmp_path / "labelled.tsv", tmp_path / "corpus.txt"
    path.write_text(LABELLED.replace("left\tright\tsame", "source\ttarget\tlabel"), "utf-8")
    code, out, _ = run(capsys, "threshold", path, "--json")
    found = json.loads(out)
    assert code == 0 and found["recommended"] == 0.0 and found["best"] == 1.0
    shown = run(capsys, "threshold", path)[1]
    told = "Recommended: 0.0000, the largest right for 90%; it finds 100.0% of the right pairs."
    assert told in shown and "do not cut" not in shown
    corpus.write_text("a dog barks\na cat sleeps\nthe cat is asleep\n", "utf-8")
    shown = run(capsys, "threshold", corpus, "--cut", 0.5)[1]
    assert "3 of 3 sentences" in shown and "Pairs around 0.5000" in shown


def test_threshold_says_that_a_measure_fails(capsys, tmp_path):
    """The one right pair it finds is word for word the same; all others lie beyond wrong ones."""
    wrong = [("a dog barks loudly at night", f"dog {k} barks loudly at night", 0) for k in range(6)]
    right = [("a dog runs after a cat", f"{k} hounds chase kittens", 1) for k in range(6)]
    rows = [("a dog barks", "a dog barks", 1), *wrong, *right]
    path = tmp_path / "labelled.tsv"
    lines = ["source\ttarget\tlabel", *("\t".join(map(str, row)) for row in rows)]
    path.write_text("\n".join(lines), "utf-8")
    found = json.loads(run(capsys, "threshold", path, "--method", "bow", "--json")[1])
    assert found["fails"] and (found["recommended"], found["recall"]) == (0.0, 1 / 7)
    shown = run(capsys, "threshold", path, "--method", "bow")[1]
    assert "it finds 14.3% of the right pairs" in shown
    assert "hardly tells right from wrong pairs in these data" in shown


def test_an_output_in_no_folder_is_refused_before_any_work(capsys, pairs, tmp_path, monkeypatch):
    monkeypatch.setattr(
        cli.options.SettingOptions, "load", lambda *_: pytest.fail("loaded a model")
    )
    place = tmp_path / "nowhere"
    for arguments in (
        ["score", pairs, "-o", place / "scored.tsv"],
        ["align", pairs, "-o", place / "links.txt"],
        ["fit", pairs, "-o", place / "statistics"],
        ["index", pairs, "-o", place / "index"],
        ["explain", *SWAP, "--html", place / "why.html"],
        ["dedupe", pairs, "--threshold", "1", "-o", "kept.txt", "--dropped", place / "gone.tsv"],
    ):
        code, _, err = run(capsys, *arguments)
        assert code == 2 and "there is no folder" in " ".join(err.split()), arguments
    assert not place.exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ["compare", "", "b a"],
        ["explain", "b a", " ", "--json"],
        ["align", "", "b a"],
        ["rank", "", "{file}"],
    ],
)
def test_an_empty_sentence_is_refused(capsys, tmp_path, arguments):
    file = tmp_path / "corpus.txt"
    file.write_text("a dog barks\n", "utf-8")
    code, out, err = run(capsys, *(one.format(file=file) for one in arguments))
    assert code == 1 and "is empty" in err and not out


def test_cells_of_a_csv_are_separated_as_its_header_or_the_user_says(capsys, tmp_path):
    path, output = tmp_path / "pairs.csv", tmp_path / "scored.csv"
    for mark, option in ((";", []), ("|", ["--delimiter", "|"])):
        path.write_text(f"source{mark}target\na dog, a cat{mark}a cat\n", "utf-8")
        code, _, err = run(capsys, "score", path, "-o", output, "--methods", "bow", *option)
        assert code == 0, err
        assert output.read_text("utf-8").startswith(
            'source,target,bow,unread\n"a dog, a cat",a cat,'
        )
    assert "one character" in run(capsys, "score", path, "--delimiter", "::")[2]
    assert "for CSV" in run(capsys, "score", path, "--delimiter", ";", "--format", "tsv")[2]


def test_help_says_what_the_default_measure_has_in_place_of_a_default(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    shown = run(capsys, "dedupe", "--help")[1]
    for default in ("-1; for movers: the middle layer", "0.5; for movers: none"):
        assert f"[default: {default}]" in shown
    assert "--delimiter" in shown


def test_example_sentences_are_enough_to_fit(capsys, tmp_path):
    file = Path(__file__).parents[2] / "examples" / "data" / "sentences.txt"
    code, _, err = run(capsys, "fit", file, "-o", tmp_path / "stats.safetensors")
    assert code == 0 and "whitened layers 6" in err


@pytest.mark.parametrize("command", cli.command_names())
def test_help_has_an_example_and_no_noise(capsys, command):
    code, out, _ = run(capsys, command, "--help")
    assert code == 0
    assert "default: False" not in out and "--empty-" not in out and "--no-" not in out
    assert f"Example: movers {command}" in out


def test_methods_fit_into_eighty_columns(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    lines = run(capsys, "methods")[1].splitlines()
    assert max(map(len, lines)) <= 80
    assert "wmd          word mover's distance" in [line.rstrip() for line in lines]


def test_measures_of_other_packages_are_found(capsys, monkeypatch):
    row = replace(movers.METHODS["bow"], name="own-bow")
    entry = SimpleNamespace(name="own-bow", value="own:ROW", load=lambda: row)
    offered = {plugins.MEASURES: [entry]}
    monkeypatch.setattr(entry_points, "entry_points", lambda group: offered.get(group, []))
    try:
        code, out, _ = run(capsys, "compare", *SWAP, "--methods", "own-bow", "--json")
        assert code == 0 and json.loads(out)[0]["method"] == "own-bow"
    finally:
        movers.METHODS.pop("own-bow", None)
    entry.load = lambda: 3
    assert "of movers.measures is 3, not a row of kind Measure" in run(capsys, "methods")[2]
    entry.load = lambda: 1 / 0
    assert "(own:ROW) of movers.measures cannot be loaded: division" in run(capsys, "methods")[2]


def test_commands_of_other_packages_are_found(capsys, monkeypatch):
    def greet(name: str) -> None:
        """Greet somebody."""
        print(f"hello {name}")

    entry = SimpleNamespace(name="greet", value="own:greet", load=lambda: greet)
    offered = {plugins.COMMANDS: [entry]}
    monkeypatch.setattr(entry_points, "entry_points", lambda group: offered.get(group, []))
    cli.added_commands.cache_clear()
    try:
        assert run(capsys, "greet", "you")[:2] == (0, "hello you\n")
        entry.load = lambda: 1 / 0
        cli.added_commands.cache_clear()
        code, _, err = run(capsys, "greet", "you")
        assert code == 1 and "'greet' (own:greet) of movers.commands cannot be loaded" in err
    finally:
        cli.added_commands.cache_clear()


def test_commands_of_research_say_how_to_get_it(capsys, monkeypatch):
    monkeypatch.setattr(cli, "added_commands", dict)
    for name in cli.RESEARCH:
        code, _, err = run(capsys, name, "anything")
        assert code == 1 and f"{name} is a command of movers-research" in err
        assert "pip install ./research" in err


def test_evaluate_says_who_knows_data_sets_by_name(capsys):
    code, _, err = run(capsys, "evaluate", "stsb-dev")
    assert code == 1 and "movers benchmark of the distribution movers-research" in err


def test_a_full_disk_is_told_without_a_traceback(capsys, monkeypatch, tmp_path):
    output = tmp_path / "why.html"

    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "write_text", full)
    code, _, err = run(capsys, "explain", *SWAP, "--html", output)
    assert code == 1 and f"error: no room left for {str(output)!r}: " in err
    assert "free there" in err and not output.exists()


def test_compare_tells_figures_and_mends_spelling_on_request(capsys):
    pair = "my pasword is wrong", "my password is wrong"
    code, out, _ = run(capsys, "compare", *pair, "--methods", "movers", "--spelling", "repair")
    assert code == 0 and "Read in A: “pasword” as “password”." in " ".join(out.split())
    code, out, _ = run(capsys, "compare", *pair, "--methods", "movers", "--figures")
    told = " ".join(out.split())
    found = movers.load().compare(*pair)
    assert code == 0 and all(" ".join(line.split()) in told for line in found.figures)
    assert "Spelt “pasword” in A, “password” in B." in told


def test_one_measure_is_not_named_where_it_fails(capsys):
    _, _, err = run(capsys, "compare", "", "a dog")
    assert err.startswith("movers: error: the source is empty")
    _, _, err = run(capsys, "compare", "the of", "a dog", "--methods", "wmd,wrd")
    assert err.startswith("movers: error: measure wmd: the source has no words left")


def test_a_table_of_one_cell_is_asked_about(capsys, tmp_path, monkeypatch):
    path = tmp_path / "pairs.csv"
    path.write_text("source|target\na dog|a cat\n")
    code, _, err = run(capsys, "score", path)
    assert code == 1
    assert "the header is one cell, 'source|target'; pass --delimiter '|'" in err
    assert run(capsys, "score", path, "--delimiter", "|", "--method", "bow")[0] == 0
    path.with_suffix(".tsv").write_text("source,target\na dog,a cat\n")
    named = path.with_suffix(".tsv")
    assert "'source,target'; pass --format csv, or end" in run(capsys, "score", named)[2]
    assert "'source,target'; end its name in .csv" in run(capsys, "evaluate", named)[2]


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (["score", "a dog", "a cat"], "to compare two sentences: movers compare 'a dog' 'a cat'"),
        (["index", "add", "ix", "x.txt"], "to add to an index: movers index FILE -o ix --add"),
        (["index", "check", "ix"], "to check one: movers index ix --check"),
    ],
)
def test_what_is_meant_is_said(capsys, given, why):
    code, out, err = run(capsys, *given)
    assert (code, out) == (1, "") and why in err


def test_kernels_are_not_kept_where_numba_is_told_what_to_make(capsys, monkeypatch):
    monkeypatch.setenv("NUMBA_CPU_NAME", "haswell")
    code, _, err = run(capsys, "warm-up")
    assert code == 1 and "while NUMBA_CPU_NAME is set" in err


def test_two_texts_are_not_a_table(capsys, pairs):
    _, _, err = run(capsys, "score", pairs, pairs)
    assert f"movers score --source-file {pairs} --target-file {pairs}" in err


@pytest.mark.parametrize("command", ["search", "rank"])
def test_at_least_one_is_to_be_found(capsys, command, pairs):
    code, out, err = run(capsys, command, pairs, pairs, "-k", "0")
    assert code == 2
    assert 'Invalid value "0" for -k. Must be >= 1.' in " ".join((out + err).split())


def test_one_column_is_not_compared_with_itself(capsys, pairs):
    _, _, err = run(capsys, "score", pairs, "--source", "source", "--target", "source")
    assert "both sentences are to come from the column 'source'; name two" in err
