"""How much work a pair is, guessed before any of it is done."""

from __future__ import annotations

from dataclasses import dataclass

PAIR = 0.01
TOKEN = 5e-4
STEP = 1e-8
CELL = 2e-7
"""Seconds on one ordinary core: for a pair as such; for a word in a model of six layers of 384; for
a product of three lengths in solving, which takes their third power; for a cell of a plan that is
shown. Only their proportions matter for long: the pace that is measured corrects the rest."""
BYTES_PER_WORD = 6
"""Of text that is not cut into words by blanks."""


@dataclass(frozen=True)
class Effort:
    """What a pair takes with a model of some size, in models of six layers of 384.

    There is a problem for each of the heads, of which plans may be asked for and not only values;
    beyond ``most`` words a sentence is cut or refused.
    """

    size: float
    heads: int
    plans: bool
    most: int

    def of(self, source: str, target: str) -> float:
        """Seconds that a pair takes, roughly, on one ordinary core."""
        n, m = (min(_words(text), self.most) for text in (source, target))
        solving = STEP * n * m * (n + m) + CELL * n * m * self.plans
        return PAIR + TOKEN * self.size * (n + m) + self.heads * solving


def _words(text: str) -> int:
    return max(len(text.split()), len(text.encode("utf-8", "replace")) // BYTES_PER_WORD)
