"""Measures that are not one transport problem.

Each is a file, or an object in one. It offers ``distances(measured, rows, context, plans=False) ->
Scores`` and, if it has to learn anything from a corpus, ``fit(blocks, context, layer) -> dict`` of
arrays, which come back in ``context.statistics.arrays``; ``fitted(context, layer)`` then returns
the array in use, for the signature. `movers.methods` names it in a row of its table.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np

from movers.arrays import Floats, Ints
from movers.measure.measured import Measured

Blocks = Iterable[tuple[Measured, Ints, Ints]]
"""A corpus a few sentences at a time: measured, which rows of it to take, how often each occurs."""


@dataclass(frozen=True)
class Scores:
    """Distances of pairs, shape ``(pairs,)``.

    ``plans`` holds, where the measure matches words and was asked to show it, the mass that went
    from each source word to each target word: row-major ``(n, m)`` blocks, one after another.
    """

    distances: Floats
    plans: Floats | None = None


def find_baseline(name: str) -> Any:
    """The file of a baseline, or the object in it that ``file.object`` names.

    A file of this folder comes first; any other module that can be imported will do.
    """
    module, _, part = name.partition(".")
    own = f"movers.baselines.{module}"
    found = import_module(own if find_spec(own) else module)
    return getattr(found, part) if part else found


def renumbered(rows: Ints) -> tuple[Ints, Ints]:
    """The sentences that occur in pairs, and the pairs in terms of these."""
    picked, numbers = np.unique(rows, return_inverse=True)
    return picked, numbers.reshape(rows.shape)


def cosine_distances(vectors: Floats, rows: Ints) -> Floats:
    """One minus the cosine of two rows, for every pair; a zero vector is at distance 1."""
    sources, targets = vectors[rows[:, 0]], vectors[rows[:, 1]]
    lengths = np.linalg.norm(vectors, axis=1)
    scale = lengths[rows[:, 0]] * lengths[rows[:, 1]]
    dots = np.einsum("pd,pd->p", sources, targets)
    return np.asarray(np.maximum(0.0, 1.0 - dots / np.where(scale > 0, scale, 1.0)))
