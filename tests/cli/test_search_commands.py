import io
import json

import pytest
from test_commands import run

import movers
from movers.runtime import progress
from movers.runtime.locks import locked
from movers.search.cosine import CosineLayout
from movers.search.index import Index

SENTENCES = (
    "The press greets the president in Chicago.",
    "The president greets the press in Chicago.",
    "A quick brown fox jumps over the lazy dog.",
    "The press greets the president in Chicago!",
)


@pytest.fixture
def corpus(tmp_path):
    path = tmp_path / "corpus.txt"
    path.write_text("\n".join(SENTENCES) + "\n")
    return path


@pytest.fixture
def folder(corpus, capsys, tmp_path):
    code, _, err = run(capsys, "index", corpus, "-o", tmp_path / "index")
    assert code == 0 and "4 sentences, movers" in err and "method:movers" in err
    return tmp_path / "index"


def test_search_shows_matches_alignment_and_pruning(capsys, folder):
    code, out, _ = run(capsys, "search", folder, "The president met the press", "-k", "2")
    assert code == 0
    expected = movers.load().rank("The president met the press", SENTENCES, top_k=2)
    for match in expected:
        assert match.text in out and f"{match.distance:.4f}" in out
    assert "Which word went where: The president greets the press" in out
    assert "4 sentences: vectors" in out and str(expected.signature) in out.replace("\n", "")


def test_search_as_json(capsys, folder):
    arguments = ["--json", "-k", "1", "--candidates", "2", "--align", "0"]
    code, out, _ = run(capsys, "search", folder, "A fox", *arguments)
    found = json.loads(out)
    assert code == 0 and found["matches"][0]["index"] == 2
    assert found["certified"] and found["compared"] <= 2
    assert found["comparisons"] == []


def test_index_is_extended_checked_and_guarded(capsys, folder, corpus, tmp_path):
    more = tmp_path / "more.txt"
    more.write_text(f"{SENTENCES[0]}\nA cat sleeps\n")
    code, _, err = run(capsys, "index", more, "-o", folder, "--add")
    assert code == 0 and "added 1 sentences" in err
    code, _, err = run(capsys, "index", corpus, "-o", folder)
    assert code == 1 and "pass --add or --replace" in err
    more.write_text("A cat sleeps\nsomething else\n")
    code, _, err = run(capsys, "index", more, "-o", folder, "--delete")
    assert code == 0 and "deleted 1 sentences" in err
    code, _, err = run(capsys, "index", folder, "--compact")
    assert code == 0 and "removed 1 sentences" in err
    code, _, err = run(capsys, "index", folder, "--check")
    assert code == 0 and "4 sentences" in err and "sound" in err
    [shard] = folder.glob("shard-*")
    shard.write_bytes(shard.read_bytes()[:-3])
    code, _, err = run(capsys, "search", folder, "a cat")
    assert code == 1 and "damaged" in err
    code, _, err = run(capsys, "search", tmp_path, "a cat")
    assert code == 1 and "no index in" in err
    code, _, err = run(capsys, "index", corpus)
    assert code == 1 and "name a folder with -o" in err


def test_mine_writes_near_pairs(capsys, corpus, folder, tmp_path):
    for source in (corpus, folder):
        output = tmp_path / "near.tsv"
        code, _, err = run(capsys, "mine", source, "--threshold", "0.4", "-o", output)
        assert code == 0 and "3 pairs among 4 sentences" in err
        rows = [line.split("\t")[:2] for line in output.read_text().splitlines()[1:]]
        assert sorted(rows) == [["0", "1"], ["0", "3"], ["1", "3"]]
        assert sorted(path.name for path in tmp_path.iterdir()) == [
            "corpus.txt",
            "index",
            "near.tsv",
        ]


def test_dedupe_respects_word_order(capsys, corpus, tmp_path):
    corpus.write_text("\n".join([*SENTENCES, SENTENCES[1], "", ""]))
    output, dropped = tmp_path / "kept.txt", tmp_path / "dropped.csv"
    arguments = ["--threshold", "0.1", "-o", output, "--dropped", dropped]
    code, _, err = run(capsys, "dedupe", corpus, *arguments)
    assert code == 0
    assert "kept 3 of 6 lines; dropped 1 near others, 1 repeated, 1 blank" in err
    assert output.read_text().splitlines() == list(SENTENCES[:3])
    _, near, repeated, blank = dropped.read_text().splitlines()
    assert near.startswith(f"4,near,{SENTENCES[3]},1,{SENTENCES[0]},0.0")
    assert repeated == f"5,repeated,{SENTENCES[1]},2,{SENTENCES[1]},0.0,0,"
    assert blank == "6,blank,,,,,0,"
    with locked(tmp_path / "kept.txt.index.lock", "it"):
        code, _, err = run(capsys, "dedupe", corpus, *arguments)
    assert code == 1 and "kept.txt' is being written by process" in err
    code, _, err = run(capsys, "dedupe", corpus, "--threshold", "-1", "-o", output)
    assert code == 1 and "threshold must be" in err


@pytest.fixture
def table(tmp_path):
    """Sentences beside a column of numbers."""
    rows = enumerate([*SENTENCES, SENTENCES[2]], 1)
    path = tmp_path / "notes.csv"
    path.write_text("id,note\n" + "".join(f"{number},{text}\n" for number, text in rows))
    return path


def test_tables_are_read_by_column(capsys, table, tmp_path):
    kept, arguments = tmp_path / "kept.csv", ["--threshold", "0.1", "--column", "note"]
    code, _, err = run(capsys, "dedupe", table, *arguments, "-o", kept)
    assert code == 0 and "kept 3 of 5 lines; dropped 1 near others, 1 repeated" in err
    assert kept.read_text().splitlines() == table.read_text().splitlines()[:4]
    code, _, err = run(capsys, "mine", table, *arguments, "-o", tmp_path / "pairs.jsonl")
    assert code == 0 and "1 pair among 4 sentences" in err
    code, _, err = run(capsys, "index", table, "--column", "note", "-o", tmp_path / "index")
    assert code == 0 and "4 sentences" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["{csv}", "--column", "text"], "no column 'text'; the columns are: id, note"),
        (["{csv}"], "which column holds the sentences? name it with --column"),
        (["{tmp}/nope.txt"], "no file"),
        (["{csv}", "--column", "id", "--format", "xml"], "no format 'xml'"),
    ],
)
@pytest.mark.parametrize("command", ["index", "mine", "dedupe"])
def test_what_cannot_be_read_is_told_and_leaves_no_folder(
    capsys, table, tmp_path, command, arguments, message
):
    before = sorted(tmp_path.iterdir())
    given = [one.format(csv=table, tmp=tmp_path) for one in arguments]
    cut = [] if command == "index" else ["--threshold", "0.1"]
    code, _, err = run(capsys, command, *given, *cut, "-o", tmp_path / "out.tsv")
    assert code == 1 and message in err
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize("command", ["mine", "dedupe"])
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--threshold", "nan", "-o", "out.tsv"], "threshold must be a finite distance"),
        (["--threshold", "-0.1", "--dry-run"], "threshold must be a finite distance"),
        (["--threshold", "0.1"], "name a file with -o, or look first with --dry-run"),
        (["--threshold", "0.1", "--dry-run", "--engine", "ray"], "leave out --engine ray"),
    ],
)
def test_bad_settings_are_told_before_any_work(
    capsys, corpus, monkeypatch, command, arguments, message
):
    monkeypatch.setattr(Index, "build", lambda *_, **__: pytest.fail("it began to index"))
    code, _, err = run(capsys, command, corpus, *arguments)
    assert code == 1 and message in err


def test_a_dry_run_shows_what_would_go_and_writes_nothing(capsys, corpus, folder, tmp_path):
    before = sorted(tmp_path.rglob("*"))
    for source in (corpus, folder):
        arguments = [source, "--threshold", "0.2", "--dry-run"]
        code, out, _ = run(capsys, "dedupe", *arguments)
        assert code == 0
        assert "would have kept 3 of 4 lines; dropped 1 near others" in out
        assert "Pairs around 0.2000" in out and SENTENCES[3] in out
    code, out, _ = run(capsys, "mine", folder, "--threshold", "0.2", "--dry-run")
    assert code == 0 and "pairs within 0.2: 1; nothing was written" in out
    assert sorted(tmp_path.rglob("*")) == before


def test_a_dry_run_keeps_what_it_encoded_for_the_run_itself(capsys, corpus, tmp_path, monkeypatch):
    output = tmp_path / "kept.txt"
    arguments = ["dedupe", corpus, "--threshold", "0.2", "-o", output]
    code, out, _ = run(capsys, *arguments, "--dry-run")
    assert code == 0 and f"nothing was written but '{output}.index'" in " ".join(out.split())
    with monkeypatch.context() as patched:
        again = lambda *_, **__: pytest.fail("encoded again")  # noqa: E731
        patched.setattr(CosineLayout, "make", again)
        code, _, err = run(capsys, *arguments)
    assert code == 0 and "kept 3 of 4 lines" in err
    assert not output.with_name("kept.txt.index").exists()
    assert output.read_text("utf-8").count("\n") == 3


def test_a_pipe_is_indexed_but_not_deduplicated(capsys, monkeypatch, tmp_path):
    lines = "\n".join(SENTENCES).encode()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(lines)))
    code, _, err = run(capsys, "index", "-", "-o", tmp_path / "index")
    assert code == 0 and "4 sentences" in err
    code, _, err = run(capsys, "dedupe", "-", "--threshold", "0.1", "-o", tmp_path / "kept.txt")
    assert code == 1 and "put it into a file" in err


def test_long_work_tells_how_far_it_is(capsys, corpus, monkeypatch, tmp_path):
    monkeypatch.setattr(progress, "LINE_SECONDS", 0)
    arguments = ["--threshold", "0.1", "-o", tmp_path / "pairs.tsv"]
    _, _, err = run(capsys, "mine", corpus, *arguments)
    assert "indexing: 4 of 4 sentences" in err and "encoding: 4 of 4 sentences" in err
    assert "mining: 4 of 4 sentences" in err
    assert run(capsys, "mine", corpus, *arguments, "--quiet") == (0, "", "")


def test_guards_and_groups_keep_rows_that_a_distance_would_drop(capsys, tmp_path):
    table, kept, dropped = (tmp_path / name for name in ("in.csv", "kept.csv", "dropped.jsonl"))
    rows = ["Order 8291 is late.,a", "Order 8194 is late.,a", "order 8291 is late,a"]
    table.write_text("\n".join(["note,who", *rows, "order 8291 is late!,b"]) + "\n", "utf-8")
    arguments = (table, "--column", "note", "--threshold", 0.2, "-o", kept)
    left = []
    for options in ((), ("--guard", "none"), ("--group-by", "who")):
        code, _, err = run(capsys, "dedupe", *arguments, *options, "--dropped", dropped)
        assert code == 0
        left.append(kept.read_text("utf-8").splitlines()[1:])
    assert left == [rows[:2], rows[:1], [*rows[:2], "order 8291 is late!,b"]]
    assert "1 of them by a guard" in err
    (gone,) = map(json.loads, dropped.read_text("utf-8").splitlines())
    assert gone["of_line"] == 1 and gone["why"] == "the same words"
    code, _, err = run(capsys, "dedupe", *arguments, "--guard", "numbres")
    assert code != 0 and "did you mean 'numbers'" in err
    code, _, err = run(capsys, "dedupe", *arguments, "--group-by", "whom")
    assert code != 0 and "no column 'whom'" in err
    pairs = tmp_path / "pairs.tsv"
    mined = (
        "mine",
        table,
        "--column",
        "note",
        "--threshold",
        0.2,
        "--guard",
        "numbers",
        "-o",
        pairs,
    )
    assert run(capsys, *mined)[0] == 0
    assert "8194" not in pairs.read_text("utf-8")
