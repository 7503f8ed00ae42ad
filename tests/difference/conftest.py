"""The pairs that were labelled before anything was found in them."""

from pathlib import Path

import pytest

FILE = Path(__file__).with_name("labelled_pairs.tsv")


@pytest.fixture(scope="session")
def labelled():
    """Pairs by half: the kinds they differ in (None if not judged), the verdict, both texts."""
    halves = {"fit": [], "report": []}
    for line in FILE.read_text("utf-8").splitlines()[1:]:
        half, kinds, verdict, source, target = line.split("\t")
        wanted = None if kinds == "*" else frozenset(filter(None, kinds.split(",")))
        halves[half].append((wanted, verdict, source, target))
    return halves
