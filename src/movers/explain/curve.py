"""A measure of words and structure at every mix of the two."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from movers.errors import InputError
from movers.explain.explanation import plain_flows, plain_number
from movers.explain.relations import strain
from movers.results import Comparison

if TYPE_CHECKING:
    from movers.scorer import Scorer

Floats = NDArray[np.float64]

STEPS = 21
"""Mixes of a curve, if nothing else is said."""


def mix_curve(scorer: Scorer, source: str, target: str, *, steps: int = STEPS) -> dict[str, Any]:
    """Compare two sentences at mixes from 0, words alone, to 1, structure alone.

    Plain values for JSON: lists of ``mixes``, ``distances``, ``linear`` and ``structural`` parts,
    ``plans`` (mean over the heads: source word, target word, mass, price of structure), and
    ``moved``, the share of the sentence that goes elsewhere than one step before.

    Examples
    --------
    >>> import movers
    >>> found = mix_curve(movers.load("wsmd"), "a dog bites", "a man bites", steps=3)
    >>> found["mixes"]
    [0.0, 0.5, 1.0]
    """
    if "mix" not in scorer.method.settings:
        raise InputError(f"{scorer.method.name} has no mix of words and structure; choose wsmd")
    mixes = [round(step / (steps - 1), 6) for step in range(steps)]
    found = [scorer.using(mix=mix).compare(source, target) for mix in mixes]
    return {
        "mixes": mixes,
        "distances": [plain_number(one.distance) for one in found],
        "linear": [plain_number(one.linear) for one in found],
        "structural": [plain_number(one.structural) for one in found],
        "plans": [plain_flows(one.plan, mean_strain(one)) for one in found],
        "moved": [0.0, *(_moved(*two) for two in pairwise(found))],
    }


def mean_strain(found: Comparison) -> Floats:
    """What structure charges for a unit of mass between two words, over all heads."""
    charged = (found.plans * strain(found)).mean(axis=0)
    out = np.zeros_like(charged)
    return np.asarray(np.divide(charged, found.plan, out=out, where=found.plan > 0))


def _moved(before: Comparison, after: Comparison) -> float:
    """Share of the mass that goes elsewhere in one plan than in the other."""
    return float(f"{np.abs(after.plan - before.plan).sum() / 2:.4g}")
