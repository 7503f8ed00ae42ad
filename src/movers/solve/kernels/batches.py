"""What kernels take: the arrays of a batch by name, and where the results go."""

from typing import NamedTuple

from numpy import int32
from numpy.typing import NDArray

from movers.arrays import Bools, Floats, Ints, Singles


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


class Terms(NamedTuple):
    """On which terms mass may stay at home: its price under every head, and the share of structure.

    Searches that are `thorough` look for the best of several local minima.
    """

    null: Floats
    mix: float
    thorough: bool


class Found(NamedTuple):
    """Results, ``(pairs, heads)``; plans, or an empty array where they are not wanted.

    Whole plans leave nothing at `home`.
    """

    linear: Floats
    structural: Floats
    plans: Floats
    iterations: NDArray[int32]
    gap: Floats
    converged: Bools
    home: Floats
