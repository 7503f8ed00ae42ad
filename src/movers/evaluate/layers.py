"""Which attention layers to average: by name, by variability, or by a development set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from movers.arrays import Floats
from movers.errors import Choose, Do, InputError
from movers.measure.structure import parse_numbers

CRITERION = "wsmd-wmd"
"""The measure whose scores on a development set pick the single best layer."""
PICKED = ("top1", "best", "BV")
NEEDS_DEV = f"layers {', '.join(PICKED)} are picked on a development set"


@dataclass(frozen=True)
class LayerChoice:
    """What selections of layers come to for one model with so many attention layers.

    ``contextual`` are those that attention variability picks, if it was measured; ``development``
    has the score of the mean over each layer's heads under `CRITERION` on a development set,
    ``(layers,)``, by recipe and embedding layer.
    """

    available: int
    contextual: tuple[int, ...] | None = None
    development: Mapping[tuple[str, int], Floats] = field(default_factory=dict)

    def layers(self, selection: str, recipe: str, embedding: int) -> tuple[int, ...]:
        """The layers, counted from 1, that a selection comes to.

        ``"top1"`` is the best single layer on the development set among those that attention
        variability picks, as in the paper; ``"best"`` the best of all layers; ``"BV"`` all that
        variability picks; anything else ``"all"`` or a range.
        """
        if selection == "top1":
            return (self._best(recipe, embedding, self._contextual()),)
        if selection == "best":
            return (self._best(recipe, embedding, range(1, self.available + 1)),)
        if selection == "BV":
            return self._contextual()
        return parse_numbers(selection, range(1, self.available + 1), "layer")

    def _contextual(self) -> tuple[int, ...]:
        if self.contextual is None:
            raise InputError(NEEDS_DEV, Choose("dev"), Do("name layers"))
        return self.contextual

    def _best(self, recipe: str, embedding: int, among: Sequence[int]) -> int:
        scores = self.development.get((recipe, embedding))
        if scores is None:
            raise InputError(NEEDS_DEV, Choose("dev"), Do("name layers"))
        return max(among, key=lambda layer: float(scores[layer - 1]))


def check_selections(selections: Sequence[str], available: int, *, dev: bool) -> None:
    """Refuse a selection that cannot be read before anything is computed."""
    choice = LayerChoice(available)
    for selection in selections:
        if selection not in PICKED or not dev:
            choice.layers(selection, "", 0)
