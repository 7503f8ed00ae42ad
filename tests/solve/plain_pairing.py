"""The pairing bound of one problem under one head, word by word: the twin of the kernel."""

from itertools import product

import numpy as np

LENT, HEAT, STEPS = 0.7, 0.03, 2


def plain_pairing(cost, a, b, u, v, share, factor):
    """Bound ``min share <C, P> + factor E(P)`` over the plans between u and v."""
    if len(u) > len(v):
        cost, a, b, u, v = cost.T, b, a, v, u
    (a, a_rows, a_columns, a_mean), (b, b_rows, b_columns, b_mean) = centred(a, u), centred(b, v)
    cell = share / factor * cost
    cell = cell + (a_rows[:, None] - b_rows) ** 2 + (a_columns[:, None] - b_columns) ** 2
    cell = cell + spare(a, b, u, v) + spare(a.T, b.T, u, v)
    total = taken(cell, u, v)
    words, others = range(len(u)), range(len(v))
    by_few = brought(a, b, u, v) + brought(a.T, b.T, u, v)
    by_many = (brought(b, a, v, u) + brought(b.T, a.T, v, u)).transpose(1, 0, 2)

    def bent(i, k, j, h):
        """What is not in the squares of moving i to k and j to h."""
        return a[i, j] * b[k, h] + a[j, i] * b[h, k]

    # the few choose: for every move (i, k), word j takes the cheapest h
    lows = np.zeros((*cell.shape, len(u)))
    for i, k, j in product(words, others, words):
        lows[i, k, j] = min(LENT * cell[j, h] + by_many[i, k, h] - bent(i, k, j, h) for h in others)
    left = (LENT * cell[:, :, None] - lows) / 2
    cell = (1 - LENT) * cell + (lows + by_few) @ u

    # then the many, who share with the move (j, h) what it left for i
    lows = np.zeros((*cell.shape, len(v)))
    for i, k, h in product(words, others, others):
        lows[i, k, h] = min(
            LENT * cell[j, h] + left[j, h, i] + left[i, k, j] - bent(i, k, j, h) for j in words
        )
    cell = (1 - LENT) * cell + (lows + by_many) @ v
    total += softened(cell, u, v) + taken(cell, u, v)
    return factor * (total + (a_mean - b_mean) ** 2)


def centred(matrix, weights):
    rows, columns = matrix @ weights, matrix.T @ weights
    mean = rows @ weights
    rest = matrix - rows[:, None] - columns + mean
    return rest, rows - mean, columns - mean, mean


def root(matrix, weights):
    return np.sqrt(matrix**2 @ weights + 1e-12)


def spare(a, b, u, v):
    """Half of the squared difference of the roots of rows."""
    return (root(a, u)[:, None] - root(b, v)) ** 2 / 2


def brought(a, b, u, v):
    """Squares of row i, as if its root were the geometric mean with that of k: (i, k, j)."""
    return a[:, None, :] ** 2 * root(b, v)[None, :, None] / root(a, u)[:, None, None] / 2


def taken(cell, u, v):
    rows = cell.min(axis=1)
    cell -= rows[:, None]
    columns = cell.min(axis=0)
    cell -= columns
    return rows @ u + columns @ v


def softened(cell, u, v):
    heat = HEAT * (u @ cell @ v) + 1e-12
    rows, columns = np.zeros(len(u)), np.zeros(len(v))

    def soft(values, weights):
        low = values.min(axis=1)
        return low - heat * np.log2(np.exp2((low[:, None] - values) / heat) @ weights)

    for _ in range(STEPS):
        columns = soft((cell - rows[:, None]).T, u)
        rows = soft(cell - columns, v)
    cell -= rows[:, None] + columns
    return rows @ u + columns @ v
