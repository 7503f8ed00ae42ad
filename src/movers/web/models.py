"""The models a server offers, by the names requests use, and what pairs take of them.

Nothing else is ever loaded.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from starlette.exceptions import HTTPException

from movers.errors import InputError
from movers.measures.base import Measure
from movers.measures.parts.statistics import Statistics
from movers.measures.registry import find_measure
from movers.scorer import Scorer
from movers.web.indexes import Indexes, for_another_thread, forget_much

SMALL = 6 * 384**2
"""Layers times dimension squared of the model that efforts are told for."""
WARM_UP = ("the press greets the president", "the president greets the press")

PAIR = 0.01
TOKEN = 5e-4
STEP = 1e-8
CELL = 2e-7
TEXTS = 1e-7
"""Seconds on one ordinary core: for a pair as such; for a word in a model of six layers of 384; for
a product of three lengths in solving, which takes their third power; for a cell of a plan that is
shown; for a product of two lengths where texts are compared sentence by sentence. Only their
proportions matter for long: the pace that is measured corrects the rest."""
WORD = 6
"""Bytes of a word of text that is not cut into words by blanks."""


def estimate(
    source: str,
    target: str,
    *,
    size: float = 1.0,
    heads: int = 1,
    plans: bool = False,
    most: int = 200,
    by_sentences: bool = False,
    known: Collection[str] = (),
) -> float:
    """Return seconds that a pair takes, roughly, on one ordinary core.

    Parameters
    ----------
    source, target
        The pair.
    size
        How large the model is, counted in those of six layers of 384.
    heads, plans
        How many problems there are to solve, and whether for their plans.
    most, by_sentences
        Words beyond which a sentence is cut or refused, unless such are compared by sentences.
    known
        Texts that the model has read already.
    """
    n, m = (
        max(len(text.split()), len(text.encode("utf-8", "replace")) // WORD)
        for text in (source, target)
    )
    long = by_sentences and max(n, m) > most
    if not long:
        n, m = min(most, n), min(most, m)
    reading = PAIR + TOKEN * size * (n * (source not in known) + m * (target not in known))
    if long:
        return reading + TEXTS * n * m
    return reading + heads * (STEP * n * m * (n + m) + CELL * n * m * plans)


@dataclass(frozen=True)
class Setup:
    """A measure of a model, or an index and no measure, and the options; can be hashed."""

    name: str
    method: str | None
    options: tuple[tuple[str, Any], ...] = ()

    @property
    def alone(self) -> bool:
        """Whether no two threads may work on it: parsers are made for one."""
        return self.method is not None and "parser" in find_measure(self.method).settings


LACKING = {
    "attention": "needs a model with attention",
    "parser": "needs dependency trees: start the server with --parser",
    "statistics": "needs weights from the trees of a corpus: start the server with --statistics",
}
"""What a measure lacks, in words."""


class Models:
    """Scorers by the name of their model; the first is used where a request names none."""

    def __init__(
        self, scorers: Mapping[str, Scorer], indexes: Mapping[str, Path] | None = None
    ) -> None:
        self.scorers = dict(scorers)
        self.default = next(iter(self.scorers))
        encoders = [scorer.encoder for scorer in self.scorers.values()] if indexes else []
        self.indexes = Indexes.open(indexes or {}, encoders)

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

    def setup(self, model: str | None, method: str, options: tuple[tuple[str, Any], ...]) -> Setup:
        """Look a model and a method up."""
        name = self.default if model is None else model
        if name not in self.scorers:
            there = ", ".join(self.scorers)
            raise HTTPException(404, f"no model {name[:80]!r} here; this server has: {there}")
        return Setup(name, find_measure(method).name, options)

    def scorer(self, setup: Setup) -> Scorer:
        """Make the scorer of a setup, sharing its model and what that has encoded lately.

        Scorers are made anew for every batch: one that is kept would keep old encodings alive.
        """
        if setup.method is None:
            scorer = self.indexes.opened[setup.name].scorer
            forget_much(scorer)
            return scorer
        scorer = self._chosen(setup)
        forget_much(scorer)
        scorer.prepare()
        return scorer

    def _chosen(self, setup: Setup) -> Scorer:
        return self.scorers[setup.name].using(setup.method, **dict(setup.options))

    def apart(self) -> Models:
        """Return the same models with encodings and tokenizers of their own, for another thread."""
        other = copy(self)
        other.scorers = {}
        for name, scorer in self.scorers.items():
            settings = replace(scorer.settings, statistics=scorer.statistics)
            other.scorers[name] = Scorer(settings, for_another_thread(scorer.encoder))
        other.indexes = self.indexes.apart()
        return other

    def efforts(
        self,
        setup: Setup,
        pairs: Iterable[Sequence[Any]],
        *,
        most_words: int,
        plans: bool = False,
        every_head: bool = False,
    ) -> list[float]:
        """Return seconds that each of some pairs takes, whose texts are read once."""
        scorer = self._chosen(setup)
        if every_head and scorer.heads:
            scorer = scorer.using(layers="all", heads="all")
        encoder, measure = scorer.encoder, scorer.measure
        # Without plans the default measure solves one problem, whatever the heads charge for it.
        facts: dict[str, Any] = {
            "size": encoder.layers * encoder.dimension**2 / SMALL,
            "heads": max(1, len(scorer.heads) if plans or measure.by_head else 1),
            "plans": plans,
            "most": min(most_words, encoder.max_length),
            "by_sentences": scorer.settings.texts != "whole" and measure.by_sentences,
        }
        known: set[str] = set()
        efforts = []
        for source, target, *_ in pairs:
            efforts.append(estimate(source, target, known=known, **facts))
            known |= {source, target}
        return efforts

    def missing(self, measure: Measure) -> dict[str, str]:
        """Return what a measure lacks, by the models with which it does."""
        lacks = {}
        for name, scorer in self.scorers.items():
            if what := measure.missing(scorer.measure.context):
                lacks[name] = LACKING[what]
        return lacks

    def warm_up(self) -> None:
        """Compile the kernels and run every model once, so that the first request is quick."""
        for scorer in self.scorers.values():
            methods = ("wmd", "wsmd", "movers") if scorer.encoder.heads else ("wmd",)
            for method in methods:
                scorer.using(method, empty="nan").compare(*WARM_UP)
        self.indexes.warm_up(WARM_UP[0])

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
