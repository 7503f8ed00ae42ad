"""Lower bounds of quadratic transport: what else has to move, once one word has moved.

If word i goes to word k, every other word j goes to some l, and bending the relation of i and j
into that of k and l has its price. The least of these prices, weighed over the longer sentence,
are added to the cost of moving i to k; what remains is a linear problem (Gilmore, 1962; Lawler,
1963). Eight heads are bounded at once, see `movers.solve.kernels.vectors`.

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
from movers.solve.kernels.batches import Batch, Structures
from movers.solve.kernels.vectors import (
    least,
    load,
    logarithm,
    minus,
    over,
    plus,
    power,
    put,
    root,
    spread,
    times,
)

ZERO, HALF, ONE = np.float32(0.0), np.float32(0.5), np.float32(1.0)
HIGH = np.float32(1e30)
LENT = np.float32(0.7)
"""Share of the cost of a move that others may count as theirs; 0.5 and 0.9 bound a little less."""
HEAT, STEPS = np.float32(0.03), 2
"""Temperature of soft minima as a share of the mean cost, and how often they are taken."""
ROUNDING = np.float32(rounding.SINGLE)
TINY = np.float32(1e-12)
"""Added to mean squares, so that roots can be divided by."""


@inlined
def matrix(n: int, i: int, j: int) -> int:
    """Where the matrix of a side has its entry (i, j)."""
    return (i * n + j) * LANES


@inlined
def squares(n: int, i: int, j: int) -> int:
    """Where the squared entries (i, j) over twice the root of row i are."""
    return (n * n + i * n + j) * LANES


@inlined
def turned(n: int, i: int, j: int) -> int:
    """Where the squared entries (j, i) over twice the root of column i are."""
    return (2 * n * n + i * n + j) * LANES


@inlined
def fact(n: int, which: int, i: int) -> int:
    """Where a fact about word i is, one of the six below."""
    return (3 * n * n + which * n + i) * LANES


ROW, COLUMN, ROOT, TURNED_ROOT, REST, TURNED_REST = range(6)


@inlined
def mean(n: int) -> int:
    """Where the mean of a side is."""
    return (3 * n * n + 6 * n) * LANES


@inlined
def mean_square(n: int) -> int:
    """Where its mean square is, before anything was taken out."""
    return (3 * n * n + 6 * n + 1) * LANES


class Space(NamedTuple):
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


class Eight(NamedTuple):
    """Eight heads; their scales and bounds are flat, eight numbers per pair."""

    heads: Ints
    scale: Singles
    out: Singles


def make_space(shapes: Ints) -> Space:
    """Make room for pairs of the given shapes."""
    n, m = shapes.max(axis=0, initial=1).tolist()
    most, least_words = max(n, m), min(n, m)
    sizes = [3 * size * size + 6 * size + 2 for size in (n, m)]
    sizes += [n, m, n * m, n * m, n * m, most, least_words * n * m, most, most]
    return Space(*(np.empty(size * LANES, np.float32) for size in sizes))


@kernel
def fill_side(
    structures: Structures,
    start: int,
    heads: Ints,
    weights: Floats,
    first: int,
    n: int,
    w: Any,
    out: Any,
) -> None:
    """Write a side: the structures of eight heads with row means, column means and mean taken out.

    ``weights[first:]`` holds the weights of its n words, which come to ``w``, summing to one.
    """
    whole = 0.0
    for i in range(n):
        whole += weights[first + i]
    for i in range(n):
        w[i] = np.float32(weights[first + i] / whole)
    for i in range(n):
        for j in range(n):
            at = matrix(n, i, j)
            for h in range(LANES):
                place = start + (heads[h] * n + i) * n + j
                if structures.double.size:
                    out[at + h] = structures.double[place]
                else:
                    out[at + h] = structures.single[place]
    middle, size = spread(ZERO), spread(ZERO)
    for i in range(n):
        row = column = square = spread(ZERO)
        for j in range(n):
            x, y, weight = load(out, matrix(n, i, j)), load(out, matrix(n, j, i)), spread(w[j])
            row, column = plus(row, times(weight, x)), plus(column, times(weight, y))
            square = plus(square, times(weight, times(x, x)))
        put(out, fact(n, ROW, i), row)
        put(out, fact(n, COLUMN, i), column)
        middle = plus(middle, times(spread(w[i]), row))
        size = plus(size, times(spread(w[i]), square))
    put(out, mean(n), middle)
    put(out, mean_square(n), size)
    for i in range(n):
        put(out, fact(n, ROW, i), minus(load(out, fact(n, ROW, i)), middle))
        put(out, fact(n, COLUMN, i), minus(load(out, fact(n, COLUMN, i)), middle))
    for i in range(n):
        row = plus(load(out, fact(n, ROW, i)), middle)
        for j in range(n):
            rest = minus(load(out, matrix(n, i, j)), row)
            put(out, matrix(n, i, j), minus(rest, load(out, fact(n, COLUMN, j))))
    for i in range(n):
        _fill_squares(w, n, i, out)


@inlined
def _fill_squares(weights: Any, n: int, i: int, out: Any) -> None:
    """Roots of the mean squares of row and column i, and its tables of squares."""
    row = column = spread(ZERO)
    for j in range(n):
        w, x, y = spread(weights[j]), load(out, matrix(n, i, j)), load(out, matrix(n, j, i))
        row, column = plus(row, times(w, times(x, x))), plus(column, times(w, times(y, y)))
    by_row, by_column = root(plus(row, spread(TINY))), root(plus(column, spread(TINY)))
    half = spread(HALF)
    a, b = over(half, by_row), over(half, by_column)
    put(out, fact(n, ROOT, i), by_row)
    put(out, fact(n, TURNED_ROOT, i), by_column)
    put(out, fact(n, REST, i), times(row, a))
    put(out, fact(n, TURNED_REST, i), times(column, b))
    for j in range(n):
        x, y = load(out, matrix(n, i, j)), load(out, matrix(n, j, i))
        put(out, squares(n, i, j), times(times(x, x), a))
        put(out, turned(n, i, j), times(times(y, y), b))


@inlined
def price(few: Any, q: int, n: int, many: Any, p: int, m: int) -> Any:
    """What moving a word of one side to a word of the other costs in structure, at least.

    Differences of row and column means, and of root mean squares of what is left.
    """
    rows = minus(load(few, fact(n, ROW, q)), load(many, fact(m, ROW, p)))
    columns = minus(load(few, fact(n, COLUMN, q)), load(many, fact(m, COLUMN, p)))
    return plus(plus(times(rows, rows), times(columns, columns)), spare(few, q, n, many, p, m))


@inlined
def spare(few: Any, q: int, n: int, many: Any, p: int, m: int) -> Any:
    """Mean of the squared differences of roots, which `forced` must not count again.

    ``(x**2 + y**2) / 2 - x y`` for rows and for columns, where ``x y`` is written so that it
    holds for roots that were raised by a trifle.
    """
    a, b = load(few, fact(n, ROOT, q)), load(many, fact(m, ROOT, p))
    c, d = load(few, fact(n, TURNED_ROOT, q)), load(many, fact(m, TURNED_ROOT, p))
    e, f = load(few, fact(n, REST, q)), load(many, fact(m, REST, p))
    g, h = load(few, fact(n, TURNED_REST, q)), load(many, fact(m, TURNED_REST, p))
    rows = plus(times(e, minus(a, b)), times(f, minus(b, a)))
    return plus(rows, plus(times(g, minus(c, d)), times(h, minus(d, c))))


@inlined
def own_terms(few: Any, q: int, n: int, many: Any, p: int, m: int, own: Any) -> None:
    """What the words of the few bring along if q goes to p: see `forced`."""
    a, b = load(many, fact(m, ROOT, p)), load(many, fact(m, TURNED_ROOT, p))
    for j in range(n):
        term = times(a, load(few, squares(n, q, j)))
        put(own, j * LANES, plus(term, times(b, load(few, turned(n, q, j)))))


@inlined
def own_mean(few: Any, q: int, n: int, many: Any, p: int, m: int) -> Any:
    """The weighted mean of `own_terms`."""
    rest = times(load(few, fact(n, REST, q)), load(many, fact(m, ROOT, p)))
    turn = times(load(few, fact(n, TURNED_REST, q)), load(many, fact(m, TURNED_ROOT, p)))
    return plus(rest, turn)


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
            c, s, t = load(own, j * LANES), load(few, matrix(n, q, j)), load(few, matrix(n, j, q))
            a, b = load(lent, (h * n + j) * LANES), load(lent, (g * n + j) * LANES)
            low = least(low, minus(minus(plus(a, c), times(x, s)), times(y, t)))
            other = least(other, minus(minus(plus(b, c), times(z, s)), times(w, t)))
        put(out, start + h * stride, low)
        put(out, start + g * stride, other)
        total = plus(total, times(spread(v[h]), low))
        if g > h:
            total = plus(total, times(spread(v[g]), other))
    return total


@inlined
def subtract_least(cell: Any, at: int, step: int, count: int) -> Any:
    """Subtract the least of a row or column of ``cell`` from it, and return that."""
    low = spread(HIGH)
    for j in range(count):
        low = least(low, load(cell, at + j * step))
    for j in range(count):
        put(cell, at + j * step, minus(load(cell, at + j * step), low))
    return low


@kernel
def take_duals(cell: Any, few: Any, n: int, many: Any, m: int) -> Any:
    """Subtract the least of every column, then of every row; return their weighted sum.

    ``cell`` has m rows of n vectors; ``few`` and ``many`` are the weights.
    """
    total = spread(ZERO)
    for q in range(n):
        low = subtract_least(cell, q * LANES, n * LANES, m)
        total = plus(total, times(spread(few[q]), low))
    for p in range(m):
        low = subtract_least(cell, p * n * LANES, LANES, n)
        total = plus(total, times(spread(many[p]), low))
    return total


@inlined
def soft_least(
    cell: Any, at: int, step: int, count: int, other: Any, weights: Any, heat: Any, cold: Any
) -> Any:
    """The soft minimum of a row or column of ``cell`` minus ``other``, which smooths duals."""
    low = spread(HIGH)
    for j in range(count):
        low = least(low, minus(load(cell, at + j * step), load(other, j * LANES)))
    total = spread(ZERO)
    for j in range(count):
        below = minus(plus(low, load(other, j * LANES)), load(cell, at + j * step))
        total = plus(total, times(spread(weights[j]), power(times(below, cold))))
    return minus(low, times(heat, logarithm(total)))


@kernel
def soften(cell: Any, few: Any, n: int, many: Any, m: int, rows: Any, columns: Any) -> Any:
    """Subtract the duals that some steps of Sinkhorn's algorithm find; return their weighted sum.

    Exact minima only rarely shift a cost between rows and columns as far as they should. What
    is left may be negative, and `take_duals` mends that.
    """
    mean_cost = spread(ZERO)
    for q in range(n):
        put(columns, q * LANES, spread(ZERO))
        for p in range(m):
            weight = times(spread(few[q]), spread(many[p]))
            mean_cost = plus(mean_cost, times(weight, load(cell, (p * n + q) * LANES)))
    heat = plus(times(spread(HEAT), mean_cost), spread(TINY))
    cold = over(spread(ONE), heat)
    for _ in range(STEPS):
        for p in range(m):
            low = soft_least(cell, p * n * LANES, LANES, n, columns, few, heat, cold)
            put(rows, p * LANES, low)
        for q in range(n):
            low = soft_least(cell, q * LANES, n * LANES, m, rows, many, heat, cold)
            put(columns, q * LANES, low)
    total = spread(ZERO)
    for p in range(m):
        row = load(rows, p * LANES)
        total = plus(total, times(spread(many[p]), row))
        for q in range(n):
            at = (p * n + q) * LANES
            put(cell, at, minus(minus(load(cell, at), row), load(columns, q * LANES)))
    for q in range(n):
        total = plus(total, times(spread(few[q]), load(columns, q * LANES)))
    return total


@kernel
def few_choose(space: Space, few: Any, u: Any, n: int, many: Any, m: int) -> None:
    """Add to every move what it costs the few, and keep what every one of them found."""
    share, kept, half = spread(LENT), spread(ONE - LENT), spread(HALF)
    cell, lows, layer = space.cell, space.lows, n * m * LANES
    for p in range(m):
        for q in range(n):
            put(space.lent, (q * m + p) * LANES, times(share, load(cell, (p * n + q) * LANES)))
    for p in range(m):
        for q in range(n):
            at = (p * n + q) * LANES
            own_terms(many, p, m, few, q, n, space.own)
            least_ones = forced(space.lent, space.own, many, p, m, few, q, n, u, lows, at, layer)
            old = load(cell, at)
            found = plus(own_mean(few, q, n, many, p, m), least_ones)
            put(cell, at, plus(times(kept, old), found))
            for j in range(n):
                place = at + j * layer
                put(lows, place, times(half, minus(times(share, old), load(lows, place))))


@kernel
def many_choose(space: Space, few: Any, n: int, many: Any, v: Any, m: int) -> None:
    """Add to every move what it costs the many, given what the few left."""
    share, kept = spread(LENT), spread(ONE - LENT)
    cell, lows, layer = space.cell, space.lows, n * m * LANES
    for q in range(n):
        for at in range(0, layer, LANES):
            left = load(lows, q * layer + at)
            put(space.lent, at, plus(times(share, load(cell, at)), left))
        for p in range(m):
            at = (p * n + q) * LANES
            for j in range(n):
                put(space.own, j * LANES, load(lows, at + j * layer))
            least_ones = forced(
                space.lent, space.own, few, q, n, many, p, m, v, space.rows, 0, LANES
            )
            found = plus(own_mean(many, p, m, few, q, n), least_ones)
            put(space.fresh, at, plus(times(kept, load(cell, at)), found))


@kernel
def bound_pair(space: Space, few: Any, u: Any, n: int, many: Any, v: Any, m: int) -> Any:
    """Bound ``min <C, P> + E(P)`` for eight heads, given C as m rows of n vectors in the cells."""
    cell = space.cell
    moving = spread(ZERO)
    for p in range(m):
        row = spread(ZERO)
        for q in range(n):
            at = (p * n + q) * LANES
            row = plus(row, times(spread(u[q]), load(cell, at)))
            put(cell, at, plus(load(cell, at), price(few, q, n, many, p, m)))
        moving = plus(moving, times(spread(v[p]), row))
    total = take_duals(cell, u, n, v, m)
    few_choose(space, few, u, n, many, m)
    many_choose(space, few, n, many, v, m)
    total = plus(total, soften(space.fresh, u, n, v, m, space.rows, space.columns))
    total = plus(total, take_duals(space.fresh, u, n, v, m))
    apart = minus(load(few, mean(n)), load(many, mean(m)))
    terms = plus(moving, plus(load(few, mean_square(n)), load(many, mean_square(m))))
    return minus(plus(total, times(apart, apart)), times(spread(ROUNDING), terms))


@entry
def pairings_range(
    low: int, high: int, batch: Batch, structures: Structures, eight: Eight, mix: Any, space: Space
) -> None:
    """Bound ``min (1 - mix) <C, P> + mix scale E(P)`` for the pairs ``low .. high-1``."""
    source, target, few, many = space.source, space.target, space.u, space.v
    u_start, a_start, b_start = batch.u_start, structures.a_start, structures.b_start
    last = -1
    for t in range(low, high):
        n, m = batch.shapes[t, 0], batch.shapes[t, 1]
        if a_start[t] != last or u_start[t] != u_start[t - 1]:
            fill_side(structures, a_start[t], eight.heads, batch.u, u_start[t], n, few, source)
            last = a_start[t]
        fill_side(structures, b_start[t], eight.heads, batch.v, batch.v_start[t], m, many, target)
        factor = times(spread(mix), load(eight.scale, t * LANES))
        unit = over(spread(ONE - mix), factor)
        for i in range(n):
            for k in range(m):
                at = k * n + i if n <= m else i * m + k
                moving = np.float32(batch.cost[batch.cost_start[t] + i * m + k])
                put(space.cell, at * LANES, times(unit, spread(moving)))
        if n <= m:
            bound = bound_pair(space, source, few, n, target, many, m)
        else:
            bound = bound_pair(space, target, many, m, source, few, n)
        put(eight.out, t * LANES, times(factor, bound))
