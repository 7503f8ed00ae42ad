"""Lower bounds of many transport problems that share their source.

The costs of all targets stand side by side in one matrix, ``cost[i, start + j]``. Single
precision is enough for a bound; `movers.solve.bounds` allows for its rounding.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy import int16
from numpy.typing import NDArray

from movers.arrays import Floats, Ints, Singles
from movers.runtime.compiling import entry, inlined, kernel
from movers.solve import rounding

HIGH, ZERO = np.float32(np.inf), np.float32(0.0)
HALF = np.float32(rounding.HALF)


class WordCosts(NamedTuple):
    """Costs, where the words of each target start, and the weights of both sides."""

    cost: Singles
    starts: Ints
    u: Singles
    v: Singles


class Profiled(NamedTuple):
    """Profiles of the source and of all targets, in steps; the factors of energies and of costs."""

    source: NDArray[int16]
    source_steps: Singles
    profiles: NDArray[int16]
    steps: Singles
    starts: Ints
    factors: Singles
    share: Any


@entry
def words_range(low: int, high: int, words: WordCosts, room: Singles, out: Floats) -> None:
    """Bound ``min <C, P>`` for the targets ``low .. high-1``, in room for one of them and a row."""
    n = len(words.u)
    for p in range(low, high):
        start, m = words.starts[p], words.starts[p + 1] - words.starts[p]
        for i in range(n):
            for j in range(m):
                room[i, j] = words.cost[i, start + j]
        out[p] = dual_value(room, words, start, n, m)


@entry
def profiles_range(
    low: int,
    high: int,
    words: WordCosts,
    profiled: Profiled,
    both: Singles,
    room: Singles,
    out: Floats,
) -> None:
    """Bound ``min share <C, P> + factor E(P)`` for the targets ``low .. high-1`` and every head.

    A profile holds for every head: centred row means (n), centred column means (n), the mean,
    eigenvalues of the symmetric part (n, descending) and singular values of the antisymmetric
    part (n // 2, descending, each standing for two) of what is left; all of them in steps. What
    rounding to steps may have added to a difference is taken off.
    """
    cost, steps, factors, share = words.cost, profiled.steps, profiled.factors, profiled.share
    n = len(words.u)
    width = profile_size(n)
    x, y = both
    for p in range(low, high):
        start, m = words.starts[p], words.starts[p + 1] - words.starts[p]
        size = profile_size(m)
        for h in range(factors.shape[1]):
            factor = factors[p, h]
            step, own = steps[p, h], profiled.source_steps[0, h]
            slack = HALF * (own + step)
            for k in range(width):
                x[k] = own * np.float32(profiled.source[h * width + k])
            for k in range(size):
                y[k] = step * np.float32(profiled.profiles[profiled.starts[p] + h * size + k])
            for i in range(n):
                row, column = x[i], x[n + i]
                for j in range(m):
                    a = max(abs(row - y[j]) - slack, ZERO)
                    b = max(abs(column - y[m + j]) - slack, ZERO)
                    room[i, j] = share * cost[i, start + j] + factor * (a * a + b * b)
            apart = max(abs(x[2 * n] - y[2 * m]) - slack, ZERO)
            rest = spectral_gap(x, 2 * n + 1, n, y, 2 * m + 1, m, slack)
            out[p, h] = dual_value(room, words, start, n, m) + factor * (apart * apart + rest)


@inlined
def profile_size(words: int) -> int:
    """Numbers in the profile of a sentence under one head."""
    return 3 * words + 1 + words // 2


@kernel
def dual_value(room: Singles, words: WordCosts, start: int, n: int, m: int) -> Any:
    """The better of two dual points: minima of rows, then columns of the rest; or vice versa.

    The row behind the n of the costs is room for the lowest of every column.
    """
    u, v, lowest = words.u, words.v, room[n]
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


@kernel
def spectral_gap(x: Any, a: int, n: int, y: Any, b: int, m: int, slack: Any) -> Any:
    """Sum of squared differences of two spectra, positive and negative values apart.

    ``x[a:]`` holds n eigenvalues, then n // 2 singular values; the shorter side gets zeros.
    Every difference counts less ``slack``.
    """
    total = ZERO
    for t in range(max(n, m)):
        above = max(x[a + t], ZERO) if t < n else ZERO
        above -= max(y[b + t], ZERO) if t < m else ZERO
        below = max(-x[a + n - 1 - t], ZERO) if t < n else ZERO
        below -= max(-y[b + m - 1 - t], ZERO) if t < m else ZERO
        above, below = max(abs(above) - slack, ZERO), max(abs(below) - slack, ZERO)
        total += above * above + below * below
    for t in range(max(n // 2, m // 2)):
        turn = x[a + n + t] if t < n // 2 else ZERO
        turn -= y[b + m + t] if t < m // 2 else ZERO
        turn = max(abs(turn) - slack, ZERO)
        total += np.float32(2.0) * turn * turn
    return total
