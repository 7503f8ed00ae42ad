"""What a measure is bound to: a model, its statistics, and the settings that concern it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from movers.arrays import Ragged
from movers.encode.encoder import Encoder
from movers.encode.tokens import Recipe, TokenRules
from movers.encode.trees import EXTRA, Parser
from movers.errors import Choose, InputError
from movers.measures.parts.statistics import Statistics
from movers.measures.parts.structure import Selection


@dataclass(frozen=True)
class Context:
    """The model, statistics and settings that a measure is bound to.

    Parameters
    ----------
    encoder
        The model.
    source
        What was fitted for it, or what reads that when it is first asked for.
    rules
        Which words are compared.
    recipe
        Whom to follow where a paper and its published code differ.
    embedding, layers, heads, mix, null, whitening
        As in `movers.settings.Settings`.
    frequencies
        File of word counts; None is the wordfreq package.
    parser
        Makes dependency trees; None if there is none.
    threads
        Threads of solvers and kernels; None is one per processor.
    warned
        Layers whose missing whitening has been reported.
    """

    encoder: Encoder
    source: Statistics | Callable[[], Statistics]
    rules: TokenRules = field(default_factory=TokenRules)
    recipe: Recipe = "paper"
    embedding: int = -1
    layers: Selection | None = None
    heads: Selection = "all"
    mix: float = 0.5
    null: float | None = None
    whitening: str | None = None
    frequencies: str | Path | None = None
    parser: Parser | None = None
    threads: int | None = None
    warned: set[int] = field(default_factory=set)

    @cached_property
    def statistics(self) -> Statistics:
        """What was fitted for the model."""
        return self.source() if callable(self.source) else self.source

    def trees(self, sentences: Sequence[str]) -> list[Any]:
        """Parse sentences; say how to get a parser where there is none."""
        if self.parser is None:
            raise InputError(
                "this measure needs dependency trees and no parser is set",
                Choose("parser", "spacy:en_core_web_sm", f"after {EXTRA!r}"),
                Choose("parser", "conllu:PATH", "for sentences parsed already"),
            )
        return self.parser.parse(sentences)

    def locate(
        self, sentences: Sequence[str], rules: TokenRules | None = None
    ) -> tuple[list[list[str]], Ragged]:
        """Return all pieces of sentences, and the token range of every word the rules keep."""
        return self.encoder.located(sentences, rules or self.rules)
