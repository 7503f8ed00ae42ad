"""Problems where mass may stay at home, as transport with one more row and one more column.

The row and column behind the words are homes: what a word sends there, or gets from there, is not
moved. They hold as much as the other side weighs, so every partial plan of n x m words is a plan
of (n + 1) x (m + 1), and what nobody uses of the homes goes from one to the other for nothing.
"""

from typing import NamedTuple

import numpy as np

from movers.arrays import Floats, Ints
from movers.runtime.compiling import kernel
from movers.solve.kernels.gradient import FORBIDDEN, load_squares, load_structures, padded
from movers.solve.kernels.pair_setup import (
    LIGHT,
    WHOLE,
    is_uniform,
    keep_heavy,
    load_cost,
    total_of,
)
from movers.solve.kernels.workspace import HEAVIEST, Batch, Margins, Structures, Workspace

SAME = 2.0**-50


class Masses(NamedTuple):
    """Kept words of a pair, and the units of mass.

    `unit` is what one whole mass stands for, 0 where plans need their real shares; all masses in
    the kernels are fractions of `total`, a power of two.
    """

    n: int
    m: int
    unit: float
    total: float


@kernel
def power_above(number: float) -> float:
    """The least power of two above a number; 1 for what is not positive and finite."""
    power = 1.0
    if number < 1.0:
        while 0.0 < number < 0.5 * power:
            power *= 0.5
    else:
        while power <= number < np.inf:
            power *= 2.0
    return power


@kernel
def load_masses(w: Workspace, batch: Batch, p: int) -> Masses:
    """Set the masses of the pair and of its homes; sizes of -1 where masses are none."""
    u, v, u_start, v_start = batch.u, batch.v, batch.u_start[p], batch.v_start[p]
    rows, columns = batch.shapes[p, 0], batch.shapes[p, 1]
    sum_u, sum_v = total_of(u, u_start, rows), total_of(v, v_start, columns)
    total = power_above(sum_u + sum_v)
    n = keep_heavy(u, u_start, rows, total, w.keep_rows)
    m = keep_heavy(v, v_start, columns, total, w.keep_columns)
    if not sum_u + sum_v <= HEAVIEST or min(n, m) < 0:
        return Masses(-1, -1, 0.0, total)
    if n == 0 or m == 0:
        return Masses(n, m, 0.0, total)
    unit, light = _uniform_masses(w, u, v, u_start, v_start, n, m) / total, False
    if unit == 0.0:
        unit = 1.0 / WHOLE
        light_u = _whole_masses(u, u_start, w.keep_rows, n, total, w.supply)
        light_v = _whole_masses(v, v_start, w.keep_columns, m, total, w.demand)
        light = light_u or light_v
    for i in range(n):
        w.u[i] = u[u_start + w.keep_rows[i]] / total if light else w.supply[i] * unit
    for j in range(m):
        w.v[j] = v[v_start + w.keep_columns[j]] / total if light else w.demand[j] * unit
    w.supply[n], w.demand[m] = total_of(w.demand, 0, m), total_of(w.supply, 0, n)
    w.u[n], w.v[m] = total_of(w.v, 0, m), total_of(w.u, 0, n)
    return Masses(n, m, 0.0 if light else unit, total)


@kernel
def _uniform_masses(
    w: Workspace, u: Floats, v: Floats, u_start: int, v_start: int, n: int, m: int
) -> float:
    """Set small whole masses where both sides are uniform, and return their unit; 0 elsewhere.

    There are some if both sides weigh the same, or all words do.
    """
    if not is_uniform(u, u_start, w.keep_rows, n) or not is_uniform(v, v_start, w.keep_columns, m):
        return 0.0
    one, other = u[u_start + w.keep_rows[0]], v[v_start + w.keep_columns[0]]
    unit = 0.0
    if one == other:
        unit = one
        w.supply[:n] = 1.0
        w.demand[:m] = 1.0
    elif abs(n * one - m * other) <= SAME * n * one:
        unit = one / m
        w.supply[:n] = m
        w.demand[:m] = n
    return unit


@kernel
def _whole_masses(
    store: Floats, start: int, keep: Ints, kept: int, total: float, out: Floats
) -> bool:
    """Round the weights to multiples of 2**-52, and say whether that leaves some few digits."""
    light = False
    for i in range(kept):
        x = store[start + keep[i]] / total
        out[i] = np.floor(x * WHOLE + 0.5)
        light |= x < LIGHT
    return light


@kernel
def load_home_cost(
    w: Workspace, batch: Batch, p: int, n: int, m: int, share: float
) -> tuple[float, float, float]:
    """Copy the kept cost, and `share` times it as linear part; homes cost nothing yet.

    Returns the mean absolute, the lowest and the highest linear part; NaN first where a cost is
    above `LARGEST` or not a number.
    """
    mean, typical, lowest, highest = load_cost(w, batch, p, n, m, share)
    for i in range(n + 1):
        w.cost[i, m] = 0.0
        for j in range(m + 1, padded(m + 1)):
            w.linear[i, j] = FORBIDDEN
    for j in range(m + 1):
        w.cost[n, j] = w.linear[n, j] = 0.0
    if np.isnan(mean):
        typical = np.nan
    return typical / (w.u[n] * w.v[m]), lowest, highest


@kernel
def load_head(
    w: Workspace, g: Margins, batch: Batch, structures: Structures, p: int, h: int, mass: Masses
) -> None:
    """Copy both structures of a head, and their squares; homes have no structure."""
    n, m = mass.n, mass.m
    load_structures(w, batch, structures, p, h, n, m)
    load_squares(w.a, n, g.squares_a)
    load_squares(w.b, m, g.squares_b)
    for i in range(n + 1):
        w.a[i, n] = w.a[n, i] = 0.0
    for j in range(m + 1):
        for k in range(0 if j == m else m, padded(m + 1)):
            w.b[j, k] = w.b_transposed[j, k] = 0.0
