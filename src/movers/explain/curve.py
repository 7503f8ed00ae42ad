"""A measure of words and structure at every mix of the two."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from itertools import pairwise
from typing import Any

import numpy as np

from movers.arrays import Floats
from movers.errors import Choose, InputError
from movers.explain.compared import Compared
from movers.explain.explanation import plain_flows, plain_number
from movers.explain.relations import strain

STEPS = 21
"""Mixes of a curve, if nothing else is said."""


def mixes_of(method: str, settings: Collection[str], steps: int) -> list[float]:
    """Return mixes from 0, words alone, to 1, structure alone; refuse a measure without a mix."""
    if "mix" not in settings:
        raise InputError(f"{method} has no mix of words and structure", Choose("method", "wsmd"))
    return [round(step / (steps - 1), 6) for step in range(steps)]


Step = tuple[dict[str, Any], Floats]
"""Two sentences compared at one mix: plain values for JSON, and the plan, ``(n, m)``."""


def curve_step(pair: Compared) -> Step:
    """Return what a curve keeps of a comparison, which has a plan and attention for every head."""
    values = {
        "mixes": pair.mix,
        "distances": plain_number(pair.distance),
        "linear": plain_number(pair.linear),
        "structural": plain_number(pair.structural),
        "home": 0.0 if pair.at_home is None else plain_number(pair.at_home),
        "plans": plain_flows(pair.plan, mean_strain(pair)),
    }
    return values, pair.plan


def mix_curve(steps: Iterable[Step]) -> dict[str, Any]:
    """Return two sentences compared at several mixes, for JSON; see `Scorer.curve`."""
    values, plans = zip(*steps, strict=True)
    moved = (np.abs(after - before).sum() / 2 for before, after in pairwise(plans))
    return {
        **{name: [step[name] for step in values] for name in values[0]},
        "moved": [0.0, *(float(f"{share:.4g}") for share in moved)],
    }


def mean_strain(pair: Compared) -> Floats:
    """Return what structure charges for a unit of mass between two words, over all heads."""
    charged = (pair.plans * strain(pair)).mean(axis=0)
    out = np.zeros_like(charged)
    return np.asarray(np.divide(charged, pair.plan, out=out, where=pair.plan > 0))
