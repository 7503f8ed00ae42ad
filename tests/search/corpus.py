"""Sentences for the tests of search: many near each other, some equal but for order."""

import random

NOUNS = ["president", "press", "dog", "fox", "house", "brother", "tourists", "soup", "media"]
VERBS = ["greets", "sold", "expected", "served", "jumps"]


def make_corpus(count, seed=0):
    """Distinct sentences of few words, so that there are neighbours and ties."""
    rng = random.Random(seed)
    found = {"the of": None, "dog": None, "fox": None, "": None}
    while len(found) < count + 1:
        a, b, c = rng.choice(NOUNS), rng.choice(NOUNS), rng.choice(NOUNS)
        verb = rng.choice(VERBS)
        pattern = rng.choice(["the {a} {v} the {b}", "{a} and {b} {v} {c}", "{a} {v}", "{a}"])
        found[pattern.format(a=a, b=b, c=c, v=verb)] = None
    del found[""]
    return list(found)
