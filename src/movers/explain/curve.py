"""A measure of words and structure at every mix of the two."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from movers.arrays import Floats
from movers.explain.compared import Compared
from movers.explain.explanation import plain_flows, plain_number
from movers.explain.relations import strain

STEPS = 21
"""Mixes of a curve, if nothing else is said."""


def mixes_of(steps: int) -> list[float]:
    """Mixes from 0, words alone, to 1, structure alone."""
    return [round(step / (steps - 1), 6) for step in range(steps)]


def mix_curve(found: Sequence[Compared]) -> dict[str, Any]:
    """Two sentences compared at several mixes, as plain values for JSON; see `Scorer.curve`."""
    moved = (np.abs(after.plan - before.plan).sum() / 2 for before, after in pairwise(found))
    return {
        "mixes": [one.mix for one in found],
        "distances": [plain_number(one.distance) for one in found],
        "linear": [plain_number(one.linear) for one in found],
        "structural": [plain_number(one.structural) for one in found],
        "home": [one.at_home or 0.0 for one in found],
        "plans": [plain_flows(one.plan, mean_strain(one)) for one in found],
        "moved": [0.0, *(float(f"{share:.4g}") for share in moved)],
    }


def mean_strain(found: Compared) -> Floats:
    """What structure charges for a unit of mass between two words, over all heads."""
    charged = (found.plans * strain(found)).mean(axis=0)
    out = np.zeros_like(charged)
    return np.asarray(np.divide(charged, found.plan, out=out, where=found.plan > 0))
