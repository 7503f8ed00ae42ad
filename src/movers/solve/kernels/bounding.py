"""Lower bounds of many transport problems that share their source.

The costs of all targets stand side by side in one matrix, ``cost[i, start + j]``. Single
precision is enough for a bound; `movers.solve.bounds` allows for its rounding.
"""

from typing import Any

import numpy as np

from movers.compiling import Floats, Ints, entry, inlined, kernel

HIGH = np.float32(np.inf)


@entry
def words_range(
    low: int,
    high: int,
    cost: Any,
    starts: Ints,
    u: Any,
    v: Any,
    cell: Any,
    lowest: Any,
    out: Floats,
) -> None:
    """Bound ``min <C, P>`` for the targets ``low .. high-1``."""
    n = len(u)
    for p in range(low, high):
        start, m = starts[p], starts[p + 1] - starts[p]
        for i in range(n):
            for j in range(m):
                cell[i, j] = cost[i, start + j]
        out[p] = dual_value(cell, u, v, start, n, m, lowest)


@entry
def profiles_range(
    low: int,
    high: int,
    cost: Any,
    starts: Ints,
    u: Any,
    v: Any,
    source: Any,
    profiles: Any,
    profile_start: Ints,
    factors: Any,
    share: Any,
    cell: Any,
    lowest: Any,
    out: Floats,
) -> None:
    """Bound ``min share <C, P> + factor E(P)`` for the targets ``low .. high-1`` and every head.

    A profile holds for every head: centred row means (n), centred column means (n), the mean,
    eigenvalues of the symmetric part (n, descending) and singular values of the antisymmetric
    part (n // 2, descending, each standing for two) of what is left.
    """
    n = len(u)
    width = profile_size(n)
    for p in range(low, high):
        start, m = starts[p], starts[p + 1] - starts[p]
        size = profile_size(m)
        for h in range(factors.shape[1]):
            factor = factors[p, h]
            a, b = h * width, profile_start[p] + h * size
            for i in range(n):
                row, column = source[a + i], source[a + n + i]
                for j in range(m):
                    x = row - profiles[b + j]
                    y = column - profiles[b + m + j]
                    cell[i, j] = share * cost[i, start + j] + factor * (x * x + y * y)
            apart = source[a + 2 * n] - profiles[b + 2 * m]
            rest = spectral_gap(source, a + 2 * n + 1, n, profiles, b + 2 * m + 1, m)
            out[p, h] = dual_value(cell, u, v, start, n, m, lowest) + factor * (
                apart * apart + rest
            )


@inlined
def profile_size(words: int) -> int:
    """Numbers in the profile of a sentence under one head."""
    return 3 * words + 1 + words // 2


@kernel
def dual_value(cell: Any, u: Any, v: Any, start: int, n: int, m: int, lowest: Any) -> Any:
    """The better of two dual points: minima of rows, then columns of the rest; or vice versa."""
    by_rows = np.float32(0.0)
    for j in range(m):
        lowest[j] = HIGH
    for i in range(n):
        least = HIGH
        for j in range(m):
            least = min(least, cell[i, j])
        by_rows += u[i] * least
        for j in range(m):
            lowest[j] = min(lowest[j], cell[i, j] - least)
    for j in range(m):
        by_rows += v[start + j] * lowest[j]
        lowest[j] = HIGH
    for i in range(n):
        for j in range(m):
            lowest[j] = min(lowest[j], cell[i, j])
    by_columns = np.float32(0.0)
    for j in range(m):
        by_columns += v[start + j] * lowest[j]
    for i in range(n):
        least = HIGH
        for j in range(m):
            least = min(least, cell[i, j] - lowest[j])
        by_columns += u[i] * least
    return max(by_rows, by_columns)


@kernel
def spectral_gap(x: Any, a: int, n: int, y: Any, b: int, m: int) -> Any:
    """Sum of squared differences of two spectra, positive and negative values apart.

    ``x[a:]`` holds n eigenvalues, then n // 2 singular values; the shorter side gets zeros.
    """
    zero = np.float32(0.0)
    total = zero
    for t in range(max(n, m)):
        above = max(x[a + t], zero) if t < n else zero
        above -= max(y[b + t], zero) if t < m else zero
        below = max(-x[a + n - 1 - t], zero) if t < n else zero
        below -= max(-y[b + m - 1 - t], zero) if t < m else zero
        total += above * above + below * below
    for t in range(max(n // 2, m // 2)):
        turn = x[a + n + t] if t < n // 2 else zero
        turn -= y[b + m + t] if t < m // 2 else zero
        total += np.float32(2.0) * turn * turn
    return total
