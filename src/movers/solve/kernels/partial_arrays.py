"""What the kernels of partial transport take and give, as arrays."""

from typing import Any, NamedTuple

from movers.runtime.compiling import Floats, Ints


class Pairs(NamedTuple):
    """The problems: flat arrays as in `movers.solve.batch`, and the price of every head."""

    shapes: Ints
    cost: Floats
    cost_start: Ints
    u: Floats
    u_start: Ints
    v: Floats
    v_start: Ints
    null: Floats


class Heads(NamedTuple):
    """Structures in `double` or, if that is empty, in `single`; and their part in the value.

    Searches that are `thorough` look for the best of several local minima.
    """

    single: Any
    double: Floats
    a_start: Ints
    b_start: Ints
    scale: Floats
    mix: float
    thorough: bool


class Found(NamedTuple):
    """Results of shape (pairs, heads); `home` is the mass that stays, `plans` may be empty."""

    linear: Floats
    structural: Floats
    home: Floats
    iterations: Any
    gap: Floats
    converged: Any
    plans: Floats
