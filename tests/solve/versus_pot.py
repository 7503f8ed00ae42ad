"""Count how often our local minimum is worse or better than the one POT finds."""

import time
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import ot
from numpy.typing import NDArray

Array = NDArray[np.float64]
TOLERANCE = 1e-6


class Problem(NamedTuple):
    """One fused problem, with the scale kept apart from the structures."""

    cost: Array
    source: Array
    target: Array
    u: Array
    v: Array
    mix: float
    scale: float


@dataclass(frozen=True)
class Tally:
    """Outcome over a set of problems; `seconds` is POT's processor time."""

    problems: int
    worse: int
    better: int
    worst: float
    seconds: float


def pot_value(problem: Problem, max_iter: int = 10_000) -> float:
    """Objective that POT reaches from ``u vᵀ``, asymmetric gradient, tolerances 1e-9."""
    root = np.sqrt(problem.scale)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        value = ot.gromov.fused_gromov_wasserstein2(
            problem.cost,
            root * problem.source,
            root * problem.target,
            problem.u,
            problem.v,
            alpha=problem.mix,
            symmetric=False,
            tol_rel=1e-9,
            tol_abs=1e-9,
            max_iter=max_iter,
        )
    return float(value)


def tally(problems: Iterable[Problem], values: Iterable[float], max_iter: int = 10_000) -> Tally:
    """Compare `values`, ours, with POT's.

    Differences are relative to ``max(|objective|, 1e-4 mean C)``: between near-identical
    sentences the objective is close to 0 and a plain ratio means nothing.
    """
    excess = []
    started = time.process_time()
    for problem, value in zip(problems, values, strict=True):
        other = pot_value(problem, max_iter)
        excess.append((value - other) / max(abs(other), 1e-4 * problem.cost.mean()))
    seconds = time.process_time() - started
    over = np.array(excess)
    return Tally(
        problems=len(over),
        worse=int((over > TOLERANCE).sum()),
        better=int((over < -TOLERANCE).sum()),
        worst=float(over.max()),
        seconds=seconds,
    )
