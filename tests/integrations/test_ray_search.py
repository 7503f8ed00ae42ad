"""Ray: index, mine, dedupe and search on two real nodes, row for row as in one process."""

import os
import signal
import threading
import time

import psutil
import pytest

from movers import cli
from movers.errors import InputError
from movers.search import cosine, mining
from movers.search.dedupe import dedupe_file
from movers.search.index import Index

ray = pytest.importorskip("ray", reason="needs the extra movers[ray]")

from movers.integrations.ray import Workers  # noqa: E402
from movers.integrations.ray_search import RayEngine  # noqa: E402

NOUNS = ["president", "press", "dog", "fox", "house", "brother", "tourists", "soup", "media"]
TEXTS = [f"the {a} greets the {b}" for a in NOUNS for b in NOUNS if a != b]
TEXTS += [f"{text}!" for text in TEXTS[::4]]


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(cosine, "CAPACITY", {"text": 16, "words": 16})
    monkeypatch.setattr(cosine.CosineLayout, "block", 8)


def workers_at_work():
    """Processes of workers."""
    found = set()
    for process in psutil.Process().children(recursive=True):
        try:
            if "ray::_run" in " ".join(process.cmdline()):
                found.add(process.pid)
        except psutil.NoSuchProcess:
            continue
    return found


class Assassin(threading.Thread):
    """Kills the first worker that it sees at work; a lame one only looks on."""

    def __init__(self, ready, *, lame):
        super().__init__(daemon=True)
        self.ready, self.killed, self.over = ready, None, lame

    def run(self):
        while not self.killed and not self.over:
            if self.ready() and (found := workers_at_work()):
                self.killed = min(found)
                os.kill(self.killed, signal.SIGKILL)
            time.sleep(0.01)

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.over = True
        self.join()


def run(*arguments):
    """Exit code of the command line."""
    try:
        return cli.main([str(argument) for argument in arguments])
    except SystemExit as stop:
        return stop.code


@pytest.mark.skipif(os.name != "posix", reason="sends SIGKILL")
@pytest.mark.parametrize(
    "kills",
    [
        pytest.param(False, id="all live"),
        pytest.param(True, id="some are killed", marks=pytest.mark.published),
    ],
)
def test_everything_equals_one_process(cluster, bert, tiny, small, tmp_path, kills):
    scorer, engine = bert.using("movers"), RayEngine(Workers(2))
    local = Index.build(scorer, TEXTS, tmp_path / "local")
    (tmp_path / "corpus.txt").write_text("\n".join(TEXTS))
    bert.save(tmp_path / "fitted.safetensors")
    settings = ["--model", tiny("bert"), "--statistics", tmp_path / "fitted.safetensors"]
    folder = tmp_path / "shared"
    with Assassin(lambda: any(folder.glob("shard-*")), lame=not kills) as assassin:
        ray_options = ["--engine", "ray", "--workers", 2]
        assert not run("index", tmp_path / "corpus.txt", "-o", folder, *settings, *ray_options)
    assert bool(assassin.killed) == kills
    names = [{path.name for path in one.glob("shard-*")} for one in (tmp_path / "local", folder)]
    assert names[0] == names[1], "the same bytes under the same names"
    shared = Index.open(folder, scorer=scorer, verify=True)
    assert shared.sentences == TEXTS

    seen, expected = [], [*mining.mine(local, 0.05)]
    with Assassin(lambda: seen, lame=not kills) as assassin:
        seen.extend(engine.mine(shared, 0.05))  # one by one
    assert bool(assassin.killed) == kills
    assert seen == expected and any(seen)
    for index, blocks, name in ((local, mining.mine, "one"), (shared, replaying(seen), "many")):
        dropped = tmp_path / f"{name}.tsv"
        dedupe_file(index, 0.05, tmp_path / f"{name}.txt", dropped, blocks=blocks)
    for kind in (".txt", ".tsv"):
        one, many = ((tmp_path / f"{name}{kind}").read_bytes() for name in ("one", "many"))
        assert one == many

    queries = ["the dog greets a fox", TEXTS[5]]
    found = RayEngine(Workers(1)).search_many(shared, queries, 5)
    for one, expected in zip(found, local.search_many(queries, 5), strict=True):
        assert one.matches == expected.matches and one.certified
        assert one.pruning.corpus == len(TEXTS)


def test_texts_by_their_sentences_equal_one_process(cluster, bert, small, tmp_path):
    scorer, engine = bert.using("movers", texts="sentences"), RayEngine(Workers(2))
    texts = [". ".join(TEXTS[low : low + 4]) for low in range(0, 40, 3)] + TEXTS[:3]
    texts.append(texts[0].replace("dog", "fox"))
    local = Index.build(scorer, texts)
    shared = engine.build(scorer, iter(texts), tmp_path / "shared")
    assert shared.sentences == local.sentences == texts and shared.texts.table == local.texts.table
    queries = [TEXTS[5], ". ".join(TEXTS[8:10])]
    found = engine.search_many(shared, queries, 4)
    for one, expected in zip(found, local.search_many(queries, 4), strict=True):
        assert one.matches == expected.matches and one.certified
    assert [*engine.mine(shared, 0.3)] == [*mining.mine(local, 0.3)] != [[]]


def replaying(blocks):
    """Blocks that were mined already."""
    return lambda *_, start=0, **__: iter(blocks[start:])


def test_an_index_in_memory_is_refused(cluster, bert):
    index = Index.build(bert.using("movers"), TEXTS[:3])
    with pytest.raises(InputError, match="in memory cannot be shared"):
        [*RayEngine(Workers(1)).mine(index, 0.1)]
