"""What a measure is bound to: a model, its statistics, and the settings that concern it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol, cast

from movers.arrays import Ragged
from movers.encode.encoder import Encoder
from movers.encode.tokens import Recipe, TokenRules
from movers.errors import DependencyError, InputError
from movers.measures.parts.statistics import Statistics
from movers.measures.parts.structure import Selection
from movers.runtime.entry_points import load_entries

PARSERS = "movers.parsers"
"""Entry points of this group lead to functions that make a parser of what users name."""


class Parser(Protocol):
    """Anything that parses sentences into trees, as the measures of other packages take them.

    It may have a ``name`` for signatures, and ``lookup = True`` if it only knows certain sentences.
    """

    def parse(self, sentences: Sequence[str]) -> list[Any]:
        """Parse sentences, in order."""


def load_parser(parser: Any) -> Parser | None:
    """Make a parser of what a user passes; None stays None.

    An object with ``parse``, or what a package that offers parsers takes; those of movers-research
    are ``"spacy:en_core_web_sm"``, ``"conllu:PATH"``, ``"stanza:en"``, paths of CoNLL-U files or
    folders, and a loaded spaCy pipeline.
    """
    if parser is None:
        return None
    offered = load_entries(PARSERS)
    made = (make(parser) for _, _, make in offered)
    if found := next((one for one in made if one is not None), None):
        return cast(Parser, found)
    if hasattr(parser, "parse"):
        return cast(Parser, parser)
    if not offered:
        raise DependencyError(
            f"the parser {parser!r} needs movers-research, which is not installed; in a checkout "
            "of movers: pip install ./research, or pass an object with parse()"
        )
    raise InputError(f"parser must be a name, a path or an object with parse(), got {parser!r}")


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

    def locate(
        self, sentences: Sequence[str], rules: TokenRules | None = None
    ) -> tuple[list[list[str]], Ragged]:
        """Return all pieces of sentences, and the token range of every word the rules keep."""
        return self.encoder.located(sentences, rules or self.rules)
