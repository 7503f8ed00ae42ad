import sys
from dataclasses import replace
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from corpus import make_corpus

from movers.search import layouts


@pytest.fixture(scope="session")
def corpus():
    return make_corpus(120)


@pytest.fixture
def small_shards(monkeypatch):
    """Several shards from a small corpus."""
    monkeypatch.setattr(layouts, "WORDS", replace(layouts.WORDS, capacity=32))
