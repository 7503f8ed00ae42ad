"""The indexes a server offers, by the names requests use, always in the state of their folders."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import copy, deepcopy
from pathlib import Path
from typing import Any

from starlette.exceptions import HTTPException

from movers.encode.encoder import Encoder
from movers.errors import InputError
from movers.explain.compared import Signature
from movers.runtime.free_memory import give_back_memory
from movers.scorer import Scorer
from movers.search.folder import ReplacedError
from movers.search.index import Index
from movers.search.manifest import Manifest

KEPT_BYTES = 1 << 26
"""Encodings that a thread keeps of a model for requests to come; beyond that it begins anew."""
SENTENCE, MATCH, EXPLAINED = 5e-8, 0.015, 0.05
"""Seconds on one ordinary core: for a sentence of an index, for a match, for one with reasons."""
LETTERS = 100
"""Letters of a sentence, of which a long query has many: each is searched for."""


def parse_indexes(given: Iterable[str]) -> dict[str, Path]:
    """Return folders by name, from ``NAME=FOLDER``.

    Examples
    --------
    >>> parse_indexes(["news=/data/news.index"])
    {'news': PosixPath('/data/news.index')}
    """
    folders: dict[str, Path] = {}
    for pair in given:
        name, _, folder = pair.partition("=")
        if not name or not folder or not name.isprintable():
            raise InputError(f"an index is served as NAME=FOLDER, got {pair!r}")
        if name in folders:
            raise InputError(f"two indexes are called {name!r}; give one another name")
        folders[name] = Path(folder)
    return folders


class Indexes:
    """Open indexes by name, for one thread."""

    def __init__(self, opened: Mapping[str, Index]) -> None:
        self.opened = dict(opened)

    @classmethod
    def open(cls, folders: Mapping[str, Path], encoders: Sequence[Encoder]) -> Indexes:
        """Open folders; what was built with a model that is loaded already shares it."""
        known = {encoder.fingerprint: encoder for encoder in encoders}
        opened = {}
        for name, folder in folders.items():
            model = dict(Signature.parse(Manifest.read(folder).signature).fields)["model"]
            opened[name] = Index.open(folder, encoder=known.get(model.rpartition("@")[2]))
        return cls(opened)

    def apart(self) -> Indexes:
        """Return the same indexes for another thread; files and weights are shared."""
        every = self.opened.items()
        return Indexes({name: _opened(index, index.scorer.encoder) for name, index in every})

    def name(self, wanted: str | None) -> str:
        """Look an index up; None is the first."""
        name = next(iter(self.opened), None) if wanted is None else wanted
        if name is None or name not in self.opened:
            there = ", ".join(self.opened) or "none; start the server with --index NAME=FOLDER"
            what = "is served" if name is None else f"{name[:80]!r} here"
            raise HTTPException(404, f"no index {what}; there are: {there}")
        return name

    def takes_texts(self, name: str) -> bool:
        """Return whether a query that is too long for the model is asked by its sentences."""
        scorer = self.opened[name].scorer
        return scorer.settings.texts != "whole" and scorer.measure.by_sentences

    def effort(self, name: str, letters: int, top_k: int, explain: int) -> float:
        """Return seconds that a search for so long a query takes, roughly, on one ordinary core."""
        work = MATCH * top_k + EXPLAINED * min(explain, top_k)
        return max(1.0, letters / LETTERS) * (SENTENCE * len(self.opened[name]) + work)

    def search(self, name: str, queries: Sequence[str], **options: Any) -> list[dict[str, Any]]:
        """Search an index for every query, all in one state of it."""
        while True:
            index = self.opened[name]
            try:
                rankings = index.search_many(queries, **options)
            except ReplacedError:
                self.opened[name] = _opened(index, index.scorer.encoder)
                continue
            facts = {"index": name, "state": index.state, "sentences": len(index)}
            return [{**ranking.to_dict(), **facts, "far": index.scorer.far} for ranking in rankings]

    def warm_up(self, query: str) -> None:
        """Search every index once, so that the first request is quick."""
        for index in self.opened.values():
            index.search(query, 1, align=1)

    def describe(self) -> list[dict[str, Any]]:
        """Return facts about every index as its folder is now."""
        described = []
        for name, index in self.opened.items():
            assert index.folder is not None
            manifest = Manifest.read(index.folder)
            facts = {"name": name, "sentences": manifest.sentences, "state": manifest.digest}
            method = dict(Signature.parse(manifest.signature).fields)["method"]
            described.append({**facts, "method": method, "signature": manifest.signature})
        return described


def _opened(index: Index, encoder: Encoder) -> Index:
    assert index.folder is not None
    return Index.open(index.folder, encoder=for_another_thread(encoder))


def for_another_thread(encoder: Encoder) -> Encoder:
    """Return the same model with a tokenizer of its own, which serves one thread at a time."""
    other = copy(encoder)
    other.tokenizer = deepcopy(encoder.tokenizer)
    return other


def forget_much(scorer: Scorer) -> None:
    """Forget encodings when they are many, and give their memory back."""
    if scorer.kept_bytes > KEPT_BYTES:
        scorer.forget()
        give_back_memory()
