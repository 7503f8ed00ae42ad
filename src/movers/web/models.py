"""What a server offers by the names that requests use: models, and indexes as their folders are.

Nothing else is ever loaded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy, deepcopy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from starlette.exceptions import HTTPException

from movers.encode.encoder import Encoder
from movers.errors import InputError
from movers.explain.compared import Signature
from movers.measures.base import Measure
from movers.measures.parts.statistics import Statistics
from movers.measures.registry import find_measure
from movers.runtime.free_memory import give_back_memory
from movers.scorer import Scorer
from movers.search.folder import ReplacedError
from movers.search.index import Index
from movers.search.manifest import Manifest

Kind = Callable[[Scorer, Sequence[Any]], list[Any]]
"""From pairs to answers of one kind; a function of `movers.web.answers`."""
KEPT_BYTES = 1 << 26
"""Encodings that a thread keeps of a model for requests to come; beyond that it begins anew."""
WARM_UP = ("the press greets the president", "the president greets the press")
SMALL = 6 * 384**2
"""Layers times dimension squared of the model that efforts are told for."""

PAIR = 0.01
TOKEN = 5e-4
STEP = 1e-8
CELL = 2e-7
TEXTS = 1e-7
"""Seconds on one ordinary core: for a pair as such; for a word in a model of six layers of 384; for
a product of three lengths in solving, which takes their third power; for a cell of a plan that is
shown; for a product of two lengths where texts are compared sentence by sentence. Only their
proportions matter for long: the pace that is measured corrects the rest."""
SENTENCE, MATCH, EXPLAINED = 5e-8, 0.015, 0.05
"""Likewise for a sentence of an index, for a match, for one with reasons."""
LETTERS = 100
"""Letters of a sentence, of which a long query has many: each is searched for."""
WORD = 6
"""Bytes of a word of text that is not cut into words by blanks."""
LACKING = {
    "attention": "needs a model with attention",
    "parser": "needs dependency trees: start the server with --parser",
    "statistics": "needs weights from the trees of a corpus: start the server with --statistics",
}
"""What a measure lacks, in words."""


@dataclass(frozen=True)
class Setup:
    """What answers pairs: a kind of answer under a measure of a model; can be hashed.

    Without a method it is the index of that name, which answers queries.
    """

    name: str
    method: str | None = None
    options: tuple[tuple[str, Any], ...] = ()
    kind: Kind | None = None

    @property
    def alone(self) -> bool:
        """Whether no two threads may work on it: parsers are made for one."""
        return self.method is not None and "parser" in find_measure(self.method).settings


class Models:
    """Scorers by the name of their model, and open indexes by theirs, for one thread.

    The first of each is used where a request names none. An index shares the model that it was
    built with, if that is served, and brings its own along elsewhere.
    """

    def __init__(
        self, scorers: Mapping[str, Scorer], indexes: Mapping[str, Path] | None = None
    ) -> None:
        self.scorers = dict(scorers)
        self.indexes: dict[str, Index] = {}
        for name, folder in (indexes or {}).items():
            model = dict(Signature.parse(Manifest.read(folder).signature).fields)["model"]
            encoders = (scorer.encoder for scorer in self.scorers.values())
            alike = (one for one in encoders if one.fingerprint == model.rpartition("@")[2])
            self.indexes[name] = Index.open(folder, encoder=next(alike, None))

    @classmethod
    def load(
        cls,
        names: Iterable[str],
        *,
        statistics: Iterable[Path] = (),
        indexes: Mapping[str, Path] | None = None,
        **settings: Any,
    ) -> Models:
        """Load models by Hugging Face name or folder; none means the model installed with movers.

        Each gets the statistics, files made by `movers fit`, that were fitted for it. The settings
        are those of `movers.load` that requests cannot choose: device, parser and the like. Indexes
        are folders by the names requests use.
        """
        from movers.loading import load

        fitted = {known.fingerprint: known for known in map(Statistics.load, statistics)}
        scorers: dict[str, Scorer] = {}
        for name in tuple(names) or (None,):
            scorer = load("movers", name, **settings)
            encoder = scorer.encoder
            shown = Path(encoder.name).name if encoder.folder is not None else encoder.name
            if shown in scorers:
                raise InputError(f"two models are called {shown!r}; rename a folder")
            scorers[shown] = scorer.using(statistics=fitted.pop(encoder.fingerprint, None))
        if fitted:
            raise InputError(f"no model served has the weights {', '.join(fitted)} of --statistics")
        return cls(scorers, indexes)

    def apart(self) -> Models:
        """Return the same for another thread: files and weights are shared, and nothing else."""
        other = copy(self)
        other.scorers = {}
        for name, scorer in self.scorers.items():
            settings = replace(scorer.settings, statistics=scorer.statistics)
            other.scorers[name] = Scorer(settings, _for_another_thread(scorer.encoder))
        other.indexes = {name: _opened_again(index) for name, index in self.indexes.items()}
        return other

    def setup(
        self,
        model: str | None,
        method: str,
        options: tuple[tuple[str, Any], ...],
        kind: Kind | None = None,
    ) -> Setup:
        """Look a model and a method up."""
        name = next(iter(self.scorers)) if model is None else model
        if name not in self.scorers:
            there = ", ".join(self.scorers)
            raise HTTPException(404, f"no model {name[:80]!r} here; this server has: {there}")
        return Setup(name, find_measure(method).name, options, kind)

    def index(self, wanted: str | None) -> str:
        """Look an index up."""
        name = next(iter(self.indexes), None) if wanted is None else wanted
        if name is None or name not in self.indexes:
            there = ", ".join(self.indexes) or "none; start the server with --index NAME=FOLDER"
            what = "is served" if name is None else f"{name[:80]!r} here"
            raise HTTPException(404, f"no index {what}; there are: {there}")
        return name

    def scorer(self, setup: Setup) -> Scorer:
        """Make the scorer of a setup, sharing its model and what that has encoded lately.

        Scorers are made anew for every batch: one that is kept would keep old encodings alive.
        """
        scorer = self._chosen(setup)
        if scorer.kept_bytes > KEPT_BYTES:
            scorer.forget()
            give_back_memory()
        if setup.method is not None:
            scorer.prepare()
        return scorer

    def _chosen(self, setup: Setup) -> Scorer:
        if setup.method is None:
            return self.indexes[setup.name].scorer
        return self.scorers[setup.name].using(setup.method, **dict(setup.options))

    def takes_texts(self, setup: Setup) -> bool:
        """Return whether what is too long for the model is taken by its sentences."""
        return _takes_texts(self._chosen(setup))

    def search(self, setup: Setup, queries: Sequence[str]) -> list[dict[str, Any]]:
        """Search an index for every query, all in one state of it."""
        while True:
            index = self.indexes[setup.name]
            try:
                rankings = index.search_many(queries, **dict(setup.options))
            except ReplacedError:
                self.indexes[setup.name] = _opened_again(index)
                continue
            facts = {"index": setup.name, "state": index.state, "sentences": len(index)}
            return [{**ranking.to_dict(), **facts, "far": index.scorer.far} for ranking in rankings]

    def efforts(
        self,
        setup: Setup,
        pairs: Iterable[Sequence[Any]],
        *,
        most_words: int,
        plans: bool = False,
        every_head: bool = False,
    ) -> list[float]:
        """Return seconds that each of some pairs or queries takes, roughly, on one ordinary core.

        Parameters
        ----------
        setup, pairs
            What compares them; a text of several pairs is read once.
        most_words
            Words beyond which a sentence is refused, unless such are compared by their sentences.
        plans, every_head
            Whether problems are solved for their plans, and whether under all heads.
        """
        if setup.method is None:
            work = self._search_effort(setup.name, **dict(setup.options))
            return [work * max(1.0, len(query) / LETTERS) for (query,) in pairs]
        scorer = self._chosen(setup)
        if every_head and scorer.heads:
            scorer = scorer.using(layers="all", heads="all")
        encoder, by_sentences = scorer.encoder, _takes_texts(scorer)
        # Without plans the default measure solves one problem, whatever the heads charge for it.
        heads = max(1, len(scorer.heads) if plans or scorer.measure.by_head else 1)
        token = TOKEN * encoder.layers * encoder.dimension**2 / SMALL
        most = min(most_words, encoder.max_length)
        known: set[str] = set()
        efforts = []
        for source, target, *_ in pairs:
            n, m = _words(source), _words(target)
            if by_sentences and max(n, m) > most:
                solving = TEXTS * n * m
            else:
                n, m = min(most, n), min(most, m)
                solving = heads * (STEP * n * m * (n + m) + CELL * n * m * plans)
            reading = token * (n * (source not in known) + m * (target not in known))
            efforts.append(PAIR + reading + solving)
            known |= {source, target}
        return efforts

    def _search_effort(self, name: str, *, top_k: int, align: int, **_: Any) -> float:
        return SENTENCE * len(self.indexes[name]) + MATCH * top_k + EXPLAINED * min(align, top_k)

    def missing(self, measure: Measure) -> dict[str, str]:
        """Return what a measure lacks, by the models with which it does."""
        lacks = {}
        for name, scorer in self.scorers.items():
            if what := measure.missing(scorer.measure.context):
                lacks[name] = LACKING[what]
        return lacks

    def warm_up(self) -> None:
        """Compile the kernels and run everything once, so that the first request is quick."""
        for scorer in self.scorers.values():
            methods = ("wmd", "wsmd", "movers") if scorer.encoder.heads else ("wmd",)
            for method in methods:
                scorer.using(method, empty="nan").compare(*WARM_UP)
        for index in self.indexes.values():
            index.search(WARM_UP[0], 1, align=1)

    def describe(self) -> list[dict[str, Any]]:
        """Return facts about every model."""
        return [
            {
                "name": name,
                **{fact: value for fact, value in encoder.describe().items() if fact != "model"},
                "default_layers": encoder.default_layers,
                "statistics": scorer.statistics.origin or None,
            }
            for name, scorer in self.scorers.items()
            for encoder in [scorer.encoder]
        ]

    def describe_indexes(self) -> list[dict[str, Any]]:
        """Return facts about every index as its folder is now."""
        manifests = {name: Manifest.read(_place(index)) for name, index in self.indexes.items()}
        return [
            {
                "name": name,
                "sentences": manifest.sentences,
                "state": manifest.digest,
                "method": dict(Signature.parse(manifest.signature).fields)["method"],
                "signature": manifest.signature,
            }
            for name, manifest in manifests.items()
        ]


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


def _place(index: Index) -> Path:
    assert index.folder is not None
    return index.folder


def _opened_again(index: Index) -> Index:
    return Index.open(_place(index), encoder=_for_another_thread(index.scorer.encoder))


def _for_another_thread(encoder: Encoder) -> Encoder:
    """Return the same model with a tokenizer of its own, which serves one thread at a time."""
    other = copy(encoder)
    other.tokenizer = deepcopy(encoder.tokenizer)
    return other


def _takes_texts(scorer: Scorer) -> bool:
    return scorer.settings.texts != "whole" and scorer.measure.by_sentences


def _words(text: str) -> int:
    return max(len(text.split()), len(text.encode("utf-8", "replace")) // WORD)
