"""Lower bounds of transport distances: what lies above a threshold need not be solved.

Every bound lies below the global minimum of its problem, hence below whatever local minimum
the solver reports. All of them look at one source and many targets at once.
"""

from __future__ import annotations

import numpy as np

from movers.arrays import Floats, Ints, Singles
from movers.errors import InputError
from movers.runtime.threads import share_out
from movers.solve.kernels.lower_bounds import words_range


def word_bounds(
    cost: Singles, starts: Ints, u: Singles, v: Singles, *, threads: int | None = None
) -> Floats:
    """Bound ``min <C, P>`` from below by a dual point.

    At least the relaxed word mover's distance of both directions (Kusner et al., 2015): what
    is left of the columns after every row got its minimum counts as well.

    Parameters
    ----------
    cost : (n, words)
        Cost to the words of all targets, one after another.
    starts
        Where those of each target begin, and all end.
    u, v
        Weights of the source and of all targets, which sum to one in each sentence.
    threads
        Most threads to use.
    """
    if (
        cost.shape != (len(u), len(v))
        or (np.diff(starts) < 0).any()
        or not 0 <= starts[0] <= starts[-1] <= len(v)
    ):
        raise InputError(
            f"cost.shape == {cost.shape} while there are {len(u)} and {len(v)} weights, and "
            f"targets from {starts[0]} to {starts[-1]}; give every word its weight, in order"
        )
    out = np.zeros(len(starts) - 1)
    most = int(np.diff(starts).max(initial=1))

    def solve(low: int, high: int) -> None:
        room = np.empty((len(u) + 1, most), np.float32)
        words_range(low, high, cost, starts, u, v, room, out)

    share_out(solve, np.diff(starts) * len(u), threads)
    return out
