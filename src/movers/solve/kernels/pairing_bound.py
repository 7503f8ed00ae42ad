"""Lower bounds of quadratic transport: what else has to move, once one word has moved.

If word i goes to word k, every other word j goes to some l, and bending the relation of i and j
into that of k and l has its price. The least of these prices, weighed over the longer sentence,
are added to the cost of moving i to k; what remains is a linear problem (Gilmore, 1962; Lawler,
1963). Eight heads are bounded at once, see `movers.solve.kernels.simd_vectors`.

A side of a problem is a flat array of vectors. For n words it holds a matrix (n, n), two tables
of squares (n, n), and rows of n: centred row means, centred column means, root mean squares of
rows and of columns, and half of what these roots stand for; then the mean, and the mean square.
"""

from typing import Any, NamedTuple

import numpy as np

from movers.arrays import Floats, Ints, Singles
from movers.runtime.compiling import entry, inlined, kernel
from movers.solve import rounding
from movers.solve.kernels import LANES
from movers.solve.kernels.batch_arrays import Batch, Structures
from movers.solve.kernels.instructions import least, load, logarithm, power, put, root, spread

ZERO, HALF, ONE = np.float32(0.0), np.float32(0.5), np.float32(1.0)
HIGH = np.float32(1e30)
LENT, KEPT = np.float32(0.7), np.float32(1.0) - np.float32(0.7)
"""Share of the cost of a move that others may count as theirs; 0.5 and 0.9 bound a little less."""
HEAT, STEPS = np.float32(0.03), 2
"""Temperature of soft minima as a share of the mean cost, and how often they are taken."""
ROUNDING = np.float32(rounding.SINGLE)
TINY = np.float32(1e-12)
"""Added to mean squares, so that roots can be divided by."""


ROW, COLUMN, ROOT, TURNED_ROOT, REST, TURNED_REST = range(6)


@inlined
def matrix(n: int, i: int, j: int) -> int:
    """Where the matrix of a side has its entry (i, j)."""
    return i * n + j


@inlined
def squares(n: int, i: int, j: int) -> int:
    """Where the squared entries (i, j) over twice the root of row i are."""
    return (n + i) * n + j


@inlined
def turned(n: int, i: int, j: int) -> int:
    """Where the squared entries (j, i) over twice the root of column i are."""
    return (2 * n + i) * n + j


@inlined
def fact(n: int, which: int, i: int) -> int:
    """Where a fact about word i is, one of the six above."""
    return (3 * n + which) * n + i


@inlined
def mean(n: int) -> int:
    """Where the mean of a side is; its mean square, before anything was taken out, is next."""
    return (3 * n + 6) * n


class PairingWorkspace(NamedTuple):
    """Room for the work on one pair.

    Two sides and their weights; cells before and after a choice, what is lent to them, own
    terms, what the few found for every move, and duals of rows and columns.
    """

    source: Any
    target: Any
    u: Any
    v: Any
    cell: Any
    fresh: Any
    lent: Any
    own: Any
    lows: Any
    rows: Any
    columns: Any


class HeadGroup(NamedTuple):
    """Eight heads; their scales and bounds are flat, eight numbers per pair."""

    heads: Ints
    scale: Singles
    out: Singles


def make_pairing_workspace(shapes: Ints) -> PairingWorkspace:
    """Make room for pairs of the given shapes."""
    n, m = shapes.max(axis=0, initial=1).tolist()
    most, least_words = max(n, m), min(n, m)
    sizes = [3 * size * size + 6 * size + 2 for size in (n, m)]
    sizes += [n, m, n * m, n * m, n * m, most, least_words * n * m, most, most]
    return PairingWorkspace(*(np.empty(size * LANES, np.float32) for size in sizes))


@kernel
def fill_side(
    store: Structures, start: int, heads: Ints, shares: Floats, first: int, n: int, w: Any, out: Any
) -> None:
    """Write a side: the structures of eight heads with row means, column means and mean taken out.

    ``shares[first:]`` holds the weights of its n words, which come to ``w``, summing to one.
    """
    whole = 0.0
    for i in range(n):
        whole += shares[first + i]
    for i in range(n):
        w[i] = np.float32(shares[first + i] / whole)
    for h in range(LANES):
        for i in range(n * n):
            place = start + heads[h] * n * n + i
            if store.double.size:
                out[i * LANES + h] = store.double[place]
            else:
                out[i * LANES + h] = store.single[place]
    middle = size = spread(ZERO)
    for i in range(n):
        row = column = square = spread(ZERO)
        for j in range(n):
            x, y = load(out, matrix(n, i, j)), load(out, matrix(n, j, i))
            row, column, square = row + w[j] * x, column + w[j] * y, square + w[j] * (x * x)
        put(out, fact(n, ROW, i), row)
        put(out, fact(n, COLUMN, i), column)
        middle, size = middle + w[i] * row, size + w[i] * square
    put(out, mean(n), middle)
    put(out, mean(n) + 1, size)
    for i in range(n):
        put(out, fact(n, ROW, i), load(out, fact(n, ROW, i)) - middle)
        put(out, fact(n, COLUMN, i), load(out, fact(n, COLUMN, i)) - middle)
    for i in range(n):
        row = load(out, fact(n, ROW, i)) + middle
        for j in range(n):
            at = matrix(n, i, j)
            put(out, at, load(out, at) - row - load(out, fact(n, COLUMN, j)))
    for i in range(n):
        _fill_squares(w, n, i, out)


@inlined
def _fill_squares(w: Any, n: int, i: int, out: Any) -> None:
    """Roots of the mean squares of row and column i, and its tables of squares."""
    row = column = spread(ZERO)
    for j in range(n):
        x, y = load(out, matrix(n, i, j)), load(out, matrix(n, j, i))
        row, column = row + w[j] * (x * x), column + w[j] * (y * y)
    by_row, by_column = root(row + TINY), root(column + TINY)
    a, b = HALF / by_row, HALF / by_column
    put(out, fact(n, ROOT, i), by_row)
    put(out, fact(n, TURNED_ROOT, i), by_column)
    put(out, fact(n, REST, i), row * a)
    put(out, fact(n, TURNED_REST, i), column * b)
    for j in range(n):
        x, y = load(out, matrix(n, i, j)), load(out, matrix(n, j, i))
        put(out, squares(n, i, j), x * x * a)
        put(out, turned(n, i, j), y * y * b)


@inlined
def price(few: Any, q: int, n: int, many: Any, p: int, m: int) -> Any:
    """What moving a word of one side to a word of the other costs in structure, at least.

    Differences of row and column means, and the mean of the squared differences of root mean
    squares of what is left, which `forced` must not count again: ``(x**2 + y**2) / 2 - x y`` for
    rows and for columns, where ``x y`` is written so that it holds for roots that were raised by a
    trifle.
    """
    rows = load(few, fact(n, ROW, q)) - load(many, fact(m, ROW, p))
    columns = load(few, fact(n, COLUMN, q)) - load(many, fact(m, COLUMN, p))
    a, b = load(few, fact(n, ROOT, q)), load(many, fact(m, ROOT, p))
    c, d = load(few, fact(n, TURNED_ROOT, q)), load(many, fact(m, TURNED_ROOT, p))
    e, f = load(few, fact(n, REST, q)), load(many, fact(m, REST, p))
    g, h = load(few, fact(n, TURNED_REST, q)), load(many, fact(m, TURNED_REST, p))
    spare = (e * (a - b) + f * (b - a)) + (g * (c - d) + h * (d - c))
    return rows * rows + columns * columns + spare


@inlined
def own_terms(few: Any, q: int, n: int, many: Any, p: int, m: int, own: Any) -> None:
    """What the words of the few bring along if q goes to p: see `forced`."""
    a, b = load(many, fact(m, ROOT, p)), load(many, fact(m, TURNED_ROOT, p))
    for j in range(n):
        put(own, j, a * load(few, squares(n, q, j)) + b * load(few, turned(n, q, j)))


@inlined
def own_mean(few: Any, q: int, n: int, many: Any, p: int, m: int) -> Any:
    """The weighted mean of `own_terms`."""
    rest = load(few, fact(n, REST, q)) * load(many, fact(m, ROOT, p))
    return rest + load(few, fact(n, TURNED_REST, q)) * load(many, fact(m, TURNED_ROOT, p))


@kernel
def forced(
    lent: Any,
    own: Any,
    few: Any,
    q: int,
    n: int,
    many: Any,
    p: int,
    m: int,
    v: Any,
    out: Any,
    start: int,
    stride: int,
) -> Any:
    """What the many cost at least if word q of the few goes to word p of the many.

    Every word h of the many chooses the word j of the few for which ``lent[h, j] + own[j]``
    minus the products of the matrices is least. The least values go to ``out``, their weighted
    sum is returned.
    """
    total = spread(ZERO)
    for h in range(0, m, 2):  # two at a time, which saves half of the loading
        g = min(h + 1, m - 1)
        x, y = load(many, matrix(m, p, h)), load(many, matrix(m, h, p))
        z, w = load(many, matrix(m, p, g)), load(many, matrix(m, g, p))
        low = other = spread(HIGH)
        for j in range(n):
            c, s, t = load(own, j), load(few, matrix(n, q, j)), load(few, matrix(n, j, q))
            low = least(low, load(lent, h * n + j) + c - x * s - y * t)
            other = least(other, load(lent, g * n + j) + c - z * s - w * t)
        put(out, start + h * stride, low)
        put(out, start + g * stride, other)
        total = total + v[h] * low
        if g > h:
            total = total + v[g] * other
    return total


@inlined
def subtract_least(cell: Any, at: int, step: int, count: int) -> Any:
    """Subtract the least of a row or column of ``cell`` from it, and return that."""
    low = spread(HIGH)
    for j in range(count):
        low = least(low, load(cell, at + j * step))
    for j in range(count):
        put(cell, at + j * step, load(cell, at + j * step) - low)
    return low


@kernel
def take_duals(cell: Any, few: Any, n: int, many: Any, m: int) -> Any:
    """Subtract the least of every column, then of every row; return their weighted sum.

    ``cell`` has m rows of n vectors; ``few`` and ``many`` are the weights.
    """
    total = spread(ZERO)
    for q in range(n):
        total = total + few[q] * subtract_least(cell, q, n, m)
    for p in range(m):
        total = total + many[p] * subtract_least(cell, p * n, 1, n)
    return total


@inlined
def soft_least(
    cell: Any, at: int, step: int, count: int, other: Any, weights: Any, heat: Any, cold: Any
) -> Any:
    """The soft minimum of a row or column of ``cell`` minus ``other``, which smooths duals."""
    low = spread(HIGH)
    for j in range(count):
        low = least(low, load(cell, at + j * step) - load(other, j))
    total = spread(ZERO)
    for j in range(count):
        below = low + load(other, j) - load(cell, at + j * step)
        total = total + weights[j] * power(below * cold)
    return low - heat * logarithm(total)


@kernel
def soften(cell: Any, few: Any, n: int, many: Any, m: int, rows: Any, columns: Any) -> Any:
    """Subtract the duals that some steps of Sinkhorn's algorithm find; return their weighted sum.

    Exact minima only rarely shift a cost between rows and columns as far as they should. What
    is left may be negative, and `take_duals` mends that.
    """
    mean_cost = spread(ZERO)
    for q in range(n):
        put(columns, q, spread(ZERO))
        for p in range(m):
            mean_cost = mean_cost + few[q] * many[p] * load(cell, p * n + q)
    heat = HEAT * mean_cost + TINY
    cold = ONE / heat
    for _ in range(STEPS):
        for p in range(m):
            put(rows, p, soft_least(cell, p * n, 1, n, columns, few, heat, cold))
        for q in range(n):
            put(columns, q, soft_least(cell, q, n, m, rows, many, heat, cold))
    total = spread(ZERO)
    for p in range(m):
        row = load(rows, p)
        total = total + many[p] * row
        for q in range(n):
            put(cell, p * n + q, load(cell, p * n + q) - row - load(columns, q))
    for q in range(n):
        total = total + few[q] * load(columns, q)
    return total


@kernel
def few_choose(space: PairingWorkspace, few: Any, u: Any, n: int, many: Any, m: int) -> None:
    """Add to every move what it costs the few, and keep what every one of them found."""
    cell, lent, own, lows = space.cell, space.lent, space.own, space.lows
    for p in range(m):
        for q in range(n):
            put(lent, q * m + p, LENT * load(cell, p * n + q))
    for p in range(m):
        for q in range(n):
            at = p * n + q
            own_terms(many, p, m, few, q, n, own)
            least_ones = forced(lent, own, many, p, m, few, q, n, u, lows, at, n * m)
            old = load(cell, at)
            put(cell, at, KEPT * old + (own_mean(few, q, n, many, p, m) + least_ones))
            for j in range(n):
                place = at + j * n * m
                put(lows, place, HALF * (LENT * old - load(lows, place)))


@kernel
def many_choose(space: PairingWorkspace, few: Any, n: int, many: Any, v: Any, m: int) -> None:
    """Add to every move what it costs the many, given what the few left."""
    cell, lent, own, lows = space.cell, space.lent, space.own, space.lows
    for q in range(n):
        for at in range(n * m):
            put(lent, at, LENT * load(cell, at) + load(lows, q * n * m + at))
        for p in range(m):
            at = p * n + q
            for j in range(n):
                put(own, j, load(lows, at + j * n * m))
            least_ones = forced(lent, own, few, q, n, many, p, m, v, space.rows, 0, 1)
            found = own_mean(many, p, m, few, q, n) + least_ones
            put(space.fresh, at, KEPT * load(cell, at) + found)


@kernel
def bound_pair(space: PairingWorkspace, few: Any, u: Any, n: int, many: Any, v: Any, m: int) -> Any:
    """Bound ``min <C, P> + E(P)`` for eight heads, given C as m rows of n vectors in the cells."""
    cell = space.cell
    moving = spread(ZERO)
    for p in range(m):
        row = spread(ZERO)
        for q in range(n):
            old = load(cell, p * n + q)
            row = row + u[q] * old
            put(cell, p * n + q, old + price(few, q, n, many, p, m))
        moving = moving + v[p] * row
    total = take_duals(cell, u, n, v, m)
    few_choose(space, few, u, n, many, m)
    many_choose(space, few, n, many, v, m)
    total = total + soften(space.fresh, u, n, v, m, space.rows, space.columns)
    total = total + take_duals(space.fresh, u, n, v, m)
    apart = load(few, mean(n)) - load(many, mean(m))
    terms = moving + (load(few, mean(n) + 1) + load(many, mean(m) + 1))
    return total + apart * apart - ROUNDING * terms


@entry
def pairings_range(
    low: int,
    high: int,
    batch: Batch,
    structures: Structures,
    group: HeadGroup,
    mix: Any,
    space: PairingWorkspace,
) -> None:
    """Bound ``min (1 - mix) <C, P> + mix scale E(P)`` for the pairs ``low .. high-1``."""
    source, target, few, many = space.source, space.target, space.u, space.v
    u_start, a_start, b_start = batch.u_start, structures.a_start, structures.b_start
    last = -1
    for t in range(low, high):
        n, m = batch.shapes[t, 0], batch.shapes[t, 1]
        if a_start[t] != last or u_start[t] != u_start[t - 1]:
            fill_side(structures, a_start[t], group.heads, batch.u, u_start[t], n, few, source)
            last = a_start[t]
        fill_side(structures, b_start[t], group.heads, batch.v, batch.v_start[t], m, many, target)
        factor = mix * load(group.scale, t)
        unit = (ONE - mix) / factor
        for i in range(n):
            for k in range(m):
                at = k * n + i if n <= m else i * m + k
                moving = np.float32(batch.cost[batch.cost_start[t] + i * m + k])
                put(space.cell, at, unit * moving)
        if n <= m:
            bound = bound_pair(space, source, few, n, target, many, m)
        else:
            bound = bound_pair(space, target, many, m, source, few, n)
        put(group.out, t, factor * bound)
