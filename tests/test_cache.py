"""A cache of answers that guards keep from questions that only look alike."""

import subprocess
import sys

import numpy as np
import pytest

from movers.cache import SemanticCache
from movers.errors import InputError

TRANSFER = "how do I transfer money from savings to checking?"
REVERSE = "how do I transfer money from checking to savings?"


@pytest.fixture(params=["memory", "folder"])
def place(request, tmp_path):
    return None if request.param == "memory" else tmp_path / "cache"


def test_what_says_the_same_is_answered_and_what_does_not_is_told(place):
    cache = SemanticCache(place, least=0.8)
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


@pytest.mark.parametrize("wrong", [{"least": 2}, {"size": 0}, {"guard": ["roules"]}])
def test_what_cannot_be_is_refused(wrong):
    with pytest.raises(InputError):
        SemanticCache(**wrong)
