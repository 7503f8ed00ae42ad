import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from corpus import make_corpus


@pytest.fixture(scope="session")
def corpus():
    return make_corpus(120)


@pytest.fixture
def small_shards(monkeypatch):
    """Several shards from a small corpus."""
    monkeypatch.setattr("movers.search.bounded.WordLayout.capacity", 32)
