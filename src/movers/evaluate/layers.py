"""Which attention layers to average: by name, by variability, or by a development set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from movers.errors import InputError
from movers.measure.structure import parse_numbers

Floats = NDArray[np.float64]

CRITERION = "wsmd-wmd"
"""The measure whose scores on a development set pick the single best layer."""


@dataclass(frozen=True)
class LayerChoice:
    """What selections of layers come to for one model.

    Parameters
    ----------
    available
        Number of attention layers.
    contextual
        Layers that attention variability picks; None if it was not measured.
    development
        Score of the mean over each layer's heads under `CRITERION` on a development set, shape
        ``(layers,)``, by recipe and embedding layer.
    """

    available: int
    contextual: tuple[int, ...] | None = None
    development: Mapping[tuple[str, int], Floats] = field(default_factory=dict)

    def layers(self, selection: str, recipe: str, embedding: int) -> tuple[int, ...]:
        """The layers, counted from 1, of ``"top1"``, ``"BV"``, ``"all"`` or a range."""
        if selection == "top1":
            return (self._best(recipe, embedding),)
        if selection == "BV":
            return self._contextual()
        return parse_numbers(selection, range(1, self.available + 1), "layer")

    def _contextual(self) -> tuple[int, ...]:
        if self.contextual is None:
            raise InputError("layers 'BV' need a development set; pass dev=… or name layers")
        return self.contextual

    def _best(self, recipe: str, embedding: int) -> int:
        """The best single layer on the development set, from the contextual ones."""
        scores = self.development.get((recipe, embedding))
        if scores is None:
            raise InputError("layers 'top1' need a development set; pass dev=… or name layers")
        return max(self._contextual(), key=lambda layer: scores[layer - 1])


def check_selections(selections: Sequence[str], available: int, *, dev: bool) -> None:
    """Refuse a selection that cannot be read before anything is computed."""
    choice = LayerChoice(available)
    for selection in selections:
        if selection not in ("top1", "BV") or not dev:
            choice.layers(selection, "", 0)
