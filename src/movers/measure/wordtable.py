"""A number for every word: looked up the way a recipe spells words."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256

from movers.encode.encodings import Encodings
from movers.encode.tokens import Recipe


@dataclass(frozen=True)
class WordTable:
    """Values by word, fitted and frozen.

    ``"paper"`` looks words up as they stand in the text, in lower case; ``"reference"`` as the
    tokenizer's pieces spell them, in whatever case that is. ``missing`` stands for other words.
    """

    values: dict[str, float]
    missing: float
    recipe: Recipe

    @cached_property
    def digest(self) -> str:
        """Eight hex digits that pin the table."""
        content = json.dumps([self.recipe, self.missing, sorted(self.values.items())])
        return sha256(content.encode()).hexdigest()[:8]

    def of(self, encodings: Encodings, row: int) -> list[float]:
        """Look up the kept words of one sentence."""
        return [
            self.values.get(word, self.missing) for word in spelled(encodings, row, self.recipe)
        ]


def spelled(encodings: Encodings, row: int, recipe: Recipe) -> list[str]:
    """The kept words of a sentence as a recipe spells them for look-ups."""
    if recipe == "paper":
        return [word.lower() for word in encodings.surface(row)]
    return encodings.spellings[row]
