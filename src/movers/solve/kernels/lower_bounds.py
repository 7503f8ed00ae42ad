"""Lower bounds of many transport problems that share their source.

The costs of all targets stand side by side in one matrix, ``cost[i, start + j]``. Single
precision is enough for a bound; `movers.solve.bounds` allows for its rounding.
"""

from typing import Any

import numpy as np

from movers.arrays import Floats, Ints, Singles
from movers.runtime.compiling import entry, kernel

HIGH = np.float32(np.inf)


@entry
def words_range(
    low: int,
    high: int,
    cost: Singles,
    starts: Ints,
    u: Singles,
    v: Singles,
    room: Singles,
    out: Floats,
) -> None:
    """Bound ``min <C, P>`` for the targets ``low .. high-1``, in room for one of them and a row."""
    n = len(u)
    for p in range(low, high):
        start, m = starts[p], starts[p + 1] - starts[p]
        for i in range(n):
            for j in range(m):
                room[i, j] = cost[i, start + j]
        out[p] = dual_value(room, u, v, start, n, m)


@kernel
def dual_value(room: Singles, u: Singles, v: Singles, start: int, n: int, m: int) -> Any:
    """The better of two dual points: minima of rows, then columns of the rest; or vice versa.

    The row behind the n of the costs is room for the lowest of every column.
    """
    lowest = room[n]
    by_rows = np.float32(0.0)
    for j in range(m):
        lowest[j] = HIGH
    for i in range(n):
        least = HIGH
        for j in range(m):
            least = min(least, room[i, j])
        by_rows += u[i] * least
        for j in range(m):
            lowest[j] = min(lowest[j], room[i, j] - least)
    for j in range(m):
        by_rows += v[start + j] * lowest[j]
        lowest[j] = HIGH
    for i in range(n):
        for j in range(m):
            lowest[j] = min(lowest[j], room[i, j])
    by_columns = np.float32(0.0)
    for j in range(m):
        by_columns += v[start + j] * lowest[j]
    for i in range(n):
        least = HIGH
        for j in range(m):
            least = min(least, room[i, j] - lowest[j])
        by_columns += u[i] * least
    return max(by_rows, by_columns)
