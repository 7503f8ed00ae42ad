"""What measures may look at besides the sentences themselves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from movers.arrays import Ragged
from movers.encode.parse import EXTRA, Parser
from movers.encode.tokens import Recipe, TokenRules
from movers.encode.trees import Tree
from movers.errors import Choose, InputError
from movers.measure.statistics import Statistics

Located = tuple[list[list[str]], Ragged]


@dataclass(frozen=True)
class Context:
    """What a measure may look at besides the sentences themselves.

    Where paper and published code differ, ``recipe`` says whom to follow; ``frequencies`` is a file
    of word counts, None the wordfreq package. ``located`` tokenizes sentences: all pieces of each,
    and the token range ``[first, end)`` of every word kept by the given rules, or else by those in
    use. ``chance`` is how far apart the vectors of unrelated sentences are, one minus their cosine,
    and ``layers`` has the layer of every attention head in use.
    """

    statistics: Statistics
    recipe: Recipe = "paper"
    frequencies: str | Path | None = None
    parser: Parser | None = None
    located: Callable[[Sequence[str], TokenRules | None], Located] | None = None
    chance: float = 1.0
    layers: tuple[int, ...] = ()
    threads: int | None = None

    def trees(self, sentences: Sequence[str]) -> list[Tree]:
        """Dependency trees of sentences; says how to get a parser where there is none."""
        if self.parser is None:
            raise InputError(
                "this measure needs dependency trees and no parser is set",
                Choose("parser", "spacy:en_core_web_sm", f"after {EXTRA!r}"),
                Choose("parser", "conllu:PATH", "for sentences parsed already"),
            )
        return self.parser.parse(sentences)

    def locate(self, sentences: Sequence[str], rules: TokenRules | None = None) -> Located:
        """All pieces of sentences, and where their words are."""
        assert self.located is not None, "this measure needs the tokenizer"
        return self.located(sentences, rules)
