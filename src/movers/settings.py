"""Everything that shapes a distance besides the model, checked when it is made."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from pathlib import Path
from typing import Literal, get_args

from movers.encode.parse import Parser
from movers.encode.tokens import Recipe, Subwords, TokenRules
from movers.encode.whiten import WhiteningKind
from movers.errors import InputError
from movers.measure.structure import Selection
from movers.methods import Method

Empty = Literal["raise", "keep", "nan"]
WORDS_ONLY: frozenset[str] = frozenset()
"""Stop words that are none, so that punctuation alone is left out."""
WhiteningChoice = Literal["clean", "as-coded", "none"]


@dataclass(frozen=True)
class Settings:
    """The choices behind a distance; `movers.load` explains each."""

    method: Method
    embedding: int = -1
    layers: Selection | None = None
    heads: Selection = "all"
    mix: float = 0.5
    null: float | None = None
    recipe: Recipe = "paper"
    whitening: WhiteningChoice | None = None
    stopwords: frozenset[str] | None = None
    subwords: Subwords = "first"
    empty: Empty | None = None
    frequencies: str | Path | None = None
    parser: Parser | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.mix, Real) or not 0 <= self.mix <= 1:
            raise InputError(f"mix must lie between 0 and 1, got {self.mix!r}")
        if self.null is not None and not (isinstance(self.null, Real) and self.null >= 0):
            raise InputError(f"null must be a price of at least 0, or None, got {self.null!r}")
        if not isinstance(self.embedding, Integral):
            raise InputError(f"embedding must be a whole number, got {self.embedding!r}")
        for name, choices in (
            ("recipe", get_args(Recipe)),
            ("whitening", (*get_args(WhiteningChoice), None)),
            ("subwords", get_args(Subwords)),
            ("empty", (*get_args(Empty), None)),
        ):
            if (value := getattr(self, name)) not in choices:
                raise InputError(f"{name} must be one of {choices}, got {value!r}")

    @property
    def layer(self) -> int | Literal["middle"]:
        """Embedding layer of the word vectors: the method's own if it has one."""
        return self.embedding if self.row.layer is None else self.row.layer

    @property
    def row(self) -> Method:
        """The row of the table of methods that the recipe picks."""
        return self.method.under(self.recipe)

    @property
    def rules(self) -> TokenRules:
        """Which words are compared."""
        row = self.row
        kept = self.stopwords if row.stopwords else None
        return TokenRules(
            stopwords=WORDS_ONLY if row.stopwords == "punctuation" else kept,
            recipe=self.recipe,
            subwords=self.subwords,
            unit=row.unit,
            keep_empty=self.empty == "keep",
        )

    @property
    def by_variability(self) -> bool:
        """Whether attention variability picks the layers."""
        return isinstance(self.layers, str) and self.layers.upper() == "BV"

    @property
    def whitening_to_fit(self) -> WhiteningKind | None:
        """The kind of whitening a fit makes: the recipe's own unless one was named."""
        if self.whitening is None:
            return "clean" if self.recipe == "paper" else "as-coded"
        return None if self.whitening == "none" else self.whitening
