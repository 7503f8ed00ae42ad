"""A cache of answers that guards keep from questions that only look alike."""

import shutil
import subprocess
import sys
from datetime import date

import numpy as np
import pytest

import movers
from movers.cache import SemanticCache
from movers.errors import InputError, MoversError, StorageError
from movers.search.index import Index

TRANSFER = "how do I transfer money from savings to checking?"
REVERSE = "how do I transfer money from checking to savings?"


@pytest.fixture(params=["memory", "folder"])
def place(request, tmp_path):
    return None if request.param == "memory" else tmp_path / "cache"


def test_what_says_the_same_is_answered_and_what_does_not_is_told(place):
    cache = SemanticCache(place, least=0.7)
    assert cache.get(TRANSFER) == (None, None, "nothing is stored")
    cache.set(TRANSFER, {"steps": ["Menu", "Transfer"]})
    answer, _, why = cache.get(TRANSFER)
    assert (answer, why) == ({"steps": ["Menu", "Transfer"]}, "the same text")
    hit = cache.get("How do I transfer money from savings to checking")
    assert hit.answer == answer and hit.match.text == TRANSFER and "alike" in hit.why
    miss = cache.get(REVERSE)
    assert miss.answer is None and miss.match.text == TRANSFER and "roles" in miss.why
    far = cache.get("what is the weather in Paris")
    assert far.answer is None and "less than" in far.why
    assert cache.get(" ").answer is None


@pytest.mark.parametrize(
    ("stored", "asked", "why"),
    [
        ("what does a room for 2 people cost", "what does a room for 4 people cost", "number"),
        ("is the pool open", "is the pool not open", "negation"),
        ("what is the weather in Paris", "what is the weather in Rome", "name"),
    ],
)
def test_guards_keep_answers_apart_however_near(stored, asked, why):
    cache = SemanticCache(least=0.0)
    cache.set(stored, 1)
    assert cache.get(asked).answer is None and why in cache.get(asked).why
    open_cache = SemanticCache(least=0.0, guard=())
    open_cache.set(stored, 1)
    assert open_cache.get(asked).answer == 1


def test_answers_expire_and_the_least_used_go(place, monkeypatch):
    now = [1000.0]
    monkeypatch.setattr("time.time", lambda: now[0])
    cache = SemanticCache(place, ttl=60, size=2)
    for k, text in enumerate(("a dog barks", "rain in Paris", TRANSFER)):
        now[0] += 1
        cache.set(text, k)
        if k == 1:
            now[0] += 1
            assert cache.get("a dog barks").answer == 0  # of use
    assert len(cache) == 2 and cache.get("rain in Paris").answer is None
    assert cache.get("a dog barks").answer == 0
    now[0] += 100
    assert cache.get("a dog barks").answer is None
    assert "expired" in cache.get("a dog barks").why
    cache.set("a new one", 3)
    assert len(cache) == 1
    cache.forget("a new one")
    assert len(cache) == 0 and cache.get("a new one").why == "nothing is stored"


def test_a_judge_decides(bert):
    class Judge:
        def similarities(self, pairs):
            return np.array([0.95 if text.startswith("yes") else 0.1 for text, _ in pairs])

    cache = SemanticCache(judge=Judge(), guard=(), scorer=bert.using("movers"))
    cache.set("the dog barks", 1)
    assert cache.get("yes the dog barks").answer == 1
    assert "0.10 alike" in cache.get("no the dog barks").why


def test_a_judge_is_taken_by_name():
    cache = SemanticCache(judge="same", guard=(), least=0.5)
    cache.set("The dog bit the man.", 1)
    assert cache.get("The man was bitten by the dog.").answer == 1
    assert cache.get("The man bit the dog.").answer is None


WRITING = """
import sys
from movers.cache import SemanticCache
cache = SemanticCache(sys.argv[1])
for k in range(4):
    cache.set(f"question {k} of {sys.argv[2]}", f"{sys.argv[2]}{k}")
"""


def test_several_processes_use_one_folder(tmp_path):
    seen = SemanticCache(tmp_path)
    seen.set("the first question", 0)
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITING, tmp_path, name]) for name in ("x", "y")
    ]
    assert [one.wait(200) for one in writers] == [0, 0]
    assert len(seen) == 9
    for name in ("x", "y"):
        assert [seen.get(f"question {k} of {name}").answer for k in range(4)] == [
            f"{name}{k}" for k in range(4)
        ]
    assert seen.get("the first questions").match.text == "the first question"


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    folder = tmp_path_factory.mktemp("filled")
    cache = SemanticCache(folder)
    for k, text in enumerate((TRANSFER, REVERSE, "a dog barks")):
        cache.set(text, f"answer {k}: " + "word " * 40)
    cache.close()
    return folder


def damaged(content, kind, place):
    content = bytearray(content)
    if kind == "flipped":
        content[place] ^= 1 << place % 8
    else:
        content[place:] = bytes(len(content) - place) if kind == "zeroed" else b""
    return bytes(content)


def ask_all(folder, scorer):
    """Answers with the numbers they should have, until an error."""
    answers = []
    try:
        cache = SemanticCache(folder, scorer=scorer)
        for k, text in enumerate((TRANSFER, REVERSE, "a dog barks")):
            answers += [(k, cache.get(asked).answer) for asked in (text, text + "!")]
        cache.close()
    except MoversError as error:
        return answers, str(error)
    return answers, ""


@pytest.mark.parametrize("kind", ["flipped", "zeroed", "cut"])
def test_damage_is_told_or_changes_no_answer(filled, tmp_path, kind):
    scorer = movers.load()
    content, told = (filled / "records.sqlite").read_bytes(), 0
    used = np.flatnonzero(np.frombuffer(content, np.uint8))
    for number, place in enumerate(used[:: max(1, len(used) // 60)].tolist()):
        folder = tmp_path / str(number)
        shutil.copytree(filled, folder)
        (folder / "records.sqlite").write_bytes(damaged(content, kind, place))
        answers, error = ask_all(folder, scorer)
        for k, answer in answers:
            assert answer in (None, f"answer {k}: " + "word " * 40), (place, answer)
        told += "is damaged" in error
        assert bool(error) == ("is damaged" in error), error
    assert told > (20 if kind == "flipped" else 50)


def test_a_full_disk_is_told_and_leaves_what_was_stored(filled, tmp_path):
    shutil.copytree(filled, tmp_path / "cache")
    cache = SemanticCache(tmp_path / "cache")
    ((pages,),) = cache._records._rows("PRAGMA page_count")
    cache._records._rows(f"PRAGMA max_page_count={pages}")  # as on a disk without room
    with pytest.raises(StorageError, match="full"):
        cache.set("what does a large room cost", "x" * 100_000)
    assert len(cache) == 3 and cache.get(REVERSE).answer.startswith("answer 1")


@pytest.mark.parametrize("wrong", [{"least": 2}, {"size": 0}, {"guard": ["roules"]}])
def test_what_cannot_be_is_refused(wrong):
    with pytest.raises(InputError):
        SemanticCache(**wrong)


@pytest.mark.parametrize("wrong", [None, 3, ["a dog"]])
def test_questions_are_texts(wrong):
    cache = SemanticCache()
    for ask in (cache.get, cache.forget, lambda text: cache.set(text, "an answer")):
        with pytest.raises(InputError, match=r"question is .*, expected a string"):
            ask(wrong)
    assert len(cache) == 0


@pytest.mark.parametrize("answer", [object(), {"on": date(2024, 1, 1)}, {(1, 2): 3}])
def test_answers_that_json_cannot_hold_are_refused(answer):
    cache = SemanticCache()
    with pytest.raises(InputError, match="the answer cannot be kept as JSON"):
        cache.set("a dog barks", answer)
    assert len(cache) == 0


def test_no_question_and_no_answer_are_stored():
    cache = SemanticCache()
    for blank in ("", " \n"):
        with pytest.raises(InputError, match="the question is empty"):
            cache.set(blank, "an answer")
        assert cache.get(blank) == (None, None, "there is no text")
    with pytest.raises(InputError, match="an answer cannot be None"):
        cache.set("a dog barks", None)


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"ttl": -1}, "ttl must be a time above 0"),
        ({"ttl": "1h"}, "ttl must be a time above 0"),
        ({"size": 0}, "size must be at least 1"),
        ({"size": "many"}, "size must be at least 1"),
        ({"least": "0.9"}, "least must be a similarity from 0 to 1"),
    ],
)
def test_options_that_mean_nothing_are_refused(options, why):
    with pytest.raises(InputError, match=why):
        SemanticCache(**options)


def test_a_cache_has_a_folder_of_its_own(bert, tmp_path):
    (tmp_path / "script.py").write_text("pass\n")
    with pytest.raises(InputError, match=r"script\.py' is a file; name a folder"):
        SemanticCache(tmp_path / "script.py")
    Index.build(bert, ["a dog", "a cat"], tmp_path / "index")
    there = sorted((tmp_path / "index").iterdir())
    with pytest.raises(InputError, match="index' holds an index; name a folder of its own"):
        SemanticCache(tmp_path / "index")
    assert sorted((tmp_path / "index").iterdir()) == there
