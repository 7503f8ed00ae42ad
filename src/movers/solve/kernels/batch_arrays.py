"""What kernels take: the arrays of a batch by name, and where the results go."""

from typing import NamedTuple

import numpy as np
from numpy import int32
from numpy.typing import NDArray

from movers.arrays import Bools, Floats, Ints, Singles
from movers.runtime.compiling import kernel

LARGEST = 1e75
"""Entries up to it can be squared and multiplied without overflow."""
HEAVIEST = 1e36
"""Masses up to it can be squared and multiplied by what entries come to, without overflow."""


class Batch(NamedTuple):
    """Shapes, costs and weights of problems, as in `movers.solve.problems.Problems`."""

    shapes: Ints
    cost: Floats
    cost_start: Ints
    u: Floats
    u_start: Ints
    v: Floats
    v_start: Ints


class Structures(NamedTuple):
    """Their structures, in `double` or, if that is empty, in `single`, and their scales."""

    single: Singles
    double: Floats
    a_start: Ints
    b_start: Ints
    scale: Floats


class Outputs(NamedTuple):
    """Results, ``(pairs, heads)``; plans, or an empty array where they are not wanted.

    Whole plans leave nothing at `home`. Where a problem has weights, costs or structures that it
    cannot have, `linear` is NaN.
    """

    linear: Floats
    structural: Floats
    plans: Floats
    iterations: NDArray[int32]
    gap: Floats
    converged: Bools
    home: Floats


@kernel
def refuse(out: Outputs, p: int) -> None:
    """Say that pair p is no problem that can be solved."""
    for h in range(out.linear.shape[1]):
        out.linear[p, h] = np.nan
        out.converged[p, h] = False
