import json

import pytest
from test_commands import run

import movers
from movers.runtime.locks import locked

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
    assert "4 sentences: vectors 2, solved 2" in out and str(expected.signature) in out.replace(
        "\n", ""
    )


def test_search_as_json(capsys, folder):
    arguments = ["--json", "-k", "1", "--candidates", "2", "--exact", "--align", "0"]
    code, out, _ = run(capsys, "search", folder, "A fox", *arguments)
    found = json.loads(out)
    assert code == 0 and found["matches"][0]["index"] == 2
    assert found["recall"] == 1.0 and found["certified"] and found["compared"] <= 2
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
    assert repeated == f"5,repeated,{SENTENCES[1]},2,{SENTENCES[1]},0.0"
    assert blank == "6,blank,,,,"
    code, _, _ = run(capsys, "dedupe", corpus, *arguments, "--align")
    assert code == 0
    header, near, *_ = dropped.read_text().splitlines()
    assert header.endswith(",alignment") and "president→president" in near
    with locked(tmp_path / "kept.txt.index.lock", "it"):
        code, _, err = run(capsys, "dedupe", corpus, *arguments)
    assert code == 1 and "kept.txt' is being written by process" in err
    code, _, err = run(capsys, "dedupe", corpus, "--threshold", "-1", "-o", output)
    assert code == 1 and "threshold must be" in err
