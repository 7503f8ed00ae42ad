"""Mining that is killed goes on where it stopped."""

import json
import time
from dataclasses import replace

import pytest
from corpus import make_corpus

import movers
from movers.search import layouts, mining
from movers.search.index import Index
from processes import PROCESSES, unsynced


def mine(folder, model, statistics):
    unsynced()
    layouts.WORDS = replace(layouts.WORDS, block=4)
    scorer = movers.load("wsmd", model, statistics=statistics, threads=1)
    index = Index.open(folder / "index", scorer=scorer)
    mining.mine_file(index, 0.3, folder / "pairs.jsonl")


@pytest.fixture
def work(bert, tiny, tmp_path):
    """A folder with a corpus, and how to start a task on it."""
    (tmp_path / "corpus.txt").write_text("\n".join(make_corpus(150)) + "\n")
    bert.save(tmp_path / "statistics.safetensors")
    arguments = tmp_path, tiny("bert"), tmp_path / "statistics.safetensors"

    def start():
        process = PROCESSES.Process(target=mine, args=arguments)
        process.start()
        return process

    return tmp_path, start


def kill_once(process, reached):
    """Kill a task as soon as it has come so far."""
    while process.is_alive() and not reached():
        time.sleep(0.001)
    process.kill()
    process.join()


def finish(process):
    process.join()
    assert process.exitcode == 0


def lines(path):
    try:
        return path.read_bytes().count(b"\n")
    except FileNotFoundError:
        return 0


def test_killed_mining_goes_on(work, bert):
    folder, start = work
    index = Index.build(bert, folder / "corpus.txt", folder / "index")
    finished, early = [], []
    journal, output = folder / "pairs.jsonl.journal", folder / "pairs.jsonl"
    for blocks in (3, 10):
        kill_once(start(), lambda blocks=blocks: lines(journal) > blocks)
        if output.exists():  # all was done before the kill
            early.append(output.read_bytes())
            break
        finished.append(lines(journal))
    finish(start())
    assert finished == sorted(finished), "no finished block is lost"
    assert all(content == output.read_bytes() for content in early)
    found = [json.loads(line) for line in output.read_text().splitlines()]
    matrix = index.scorer.using(empty="keep").matrix(index.sentences[:40])
    near = {(a, b) for a in range(40) for b in range(a + 1, 40) if matrix[a, b] <= 0.3}
    odd = {row for row in range(40) if index.sentences[row] == "the of"}
    pairs = {(pair["first"], pair["second"]) for pair in found if pair["second"] < 40}
    assert pairs <= near and all(
        odd & set(pair) or len(index.sentences[pair[0]].split()) == 1 for pair in near - pairs
    )
    assert not journal.exists()
